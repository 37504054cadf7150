"""How far a note says that it can be trusted, in the Open Knowledge Format 0.2: `sources`,
`generated`, `verified`, `status` and `stale_after` in its front matter.

https://github.com/GoogleCloudPlatform/knowledge-catalog/blob/main/okf/SPEC.md, in the revision of
August 2026: times are ISO 8601 with an offset. Dates alone, as before it, are read as midnight UTC.

A stamp is zkchat's entry in `verified`. Next to the format's `by` and `at` it has what tells later
whether it still holds: how many quotations were verified, and digests of the note's own text and of
each source.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from zkchat_cli.vault.filesystem import short_path
from zkchat_cli.vault.front_matter import read_front_matter
from zkchat_cli.vault.yaml_tree import YamlNode, parse_yaml

VERSION = "0.2"
# The actor of stamps, in the format's convention for automated processes
STAMP_ACTOR = "process:zkchat"
DEPRECATED = "deprecated"
# Hexadecimal digits of a digest: enough to notice each change that happens by itself
DIGEST_LENGTH = 16
# Sources of a note that are compared with its stamp
MAX_SOURCES = 100

ReadNote = Callable[[str], str | None]
"""The text of a note by its path; None if it is not there."""
Now = Callable[[], datetime]


class KnowledgeSource(NamedTuple):
    """An entry of `sources`: the label of its footnotes, and the path in the vault, or an
    address.
    """

    id: str | None
    resource: str


class StampedSource(NamedTuple):
    """A source as it was when a note was stamped."""

    path: str
    digest: str


class Stamp(NamedTuple):
    """The entry that zkchat writes under `verified`. `at` is ISO 8601 with an offset."""

    at: str
    quotations: int
    text_digest: str
    sources: tuple[StampedSource, ...]

    @property
    def day(self) -> str:
        """The day on which it was written, `2026-11-30`."""
        return self.at.partition("T")[0]


class TrustFields(NamedTuple):
    """What front matter says about trust; what is missing or no such value is None."""

    status: str | None = None
    stale_after: datetime | None = None
    generated_at: datetime | None = None
    # The latest of all verifications
    verified_at: datetime | None = None
    stamp: Stamp | None = None
    sources: tuple[KnowledgeSource, ...] = ()


def read_trust_fields(text: str) -> TrustFields:
    """The trust fields of a note; none if its front matter has none or is no YAML."""
    lines = read_front_matter(text).lines
    if not lines:
        return TrustFields()
    source = "\n".join(text.split("\n", lines)[1 : lines - 1])
    if not any(name in source for name in ("verified", "stale_after", "status", "sources")):
        return TrustFields()
    try:
        root = parse_yaml(source)
    except ValueError:
        return TrustFields()
    if root is None or root.fields is None:
        return TrustFields()
    entries = verification_entries(root)
    generated = root.field("generated")
    times = [read_time(entry.text("at")) for entry in entries]
    return TrustFields(
        root.text("status"),
        read_time(root.text("stale_after")),
        read_time(generated.text("at")) if generated is not None else None,
        max(filter(None, times), default=None),
        next(filter(None, map(_read_stamp, entries)), None),
        tuple(_read_sources(root)),
    )


def verification_entries(root: YamlNode) -> tuple[YamlNode, ...]:
    """The entries of `verified`; a mapping there is the only one."""
    verified = root.field("verified")
    if verified is None:
        return ()
    return (verified,) if verified.fields is not None else verified.items or ()


def _read_stamp(entry: YamlNode) -> Stamp | None:
    at = entry.text("at")
    text_digest = entry.text("text")
    if entry.text("by") != STAMP_ACTOR or at is None or text_digest is None:
        return None
    count = entry.text("quotations") or ""
    sources: list[StampedSource] = []
    listed = entry.field("sources")
    for source in (listed.items if listed is not None else None) or ():
        resource = source.text("resource")
        digest = source.text("sha256")
        if resource and digest:
            sources.append(StampedSource(_path_in_vault(resource), digest))
    quotations = int(count) if count.isdecimal() and len(count) < DIGEST_LENGTH else 0
    return Stamp(at, quotations, text_digest, tuple(sources[:MAX_SOURCES]))


def _read_sources(root: YamlNode) -> Iterator[KnowledgeSource]:
    listed = root.field("sources")
    for entry in (listed.items if listed is not None else None) or ():
        resource = entry.text("resource")
        if resource:
            yield KnowledgeSource(entry.text("id"), _path_in_vault(resource))


def _path_in_vault(resource: str) -> str:
    """The path of a resource that begins in the vault's root; others as they are."""
    return resource.removeprefix("/")


def read_time(written: str | None) -> datetime | None:
    """A time in ISO 8601, without an offset in UTC; a date is its midnight. None for others."""
    try:
        time = datetime.fromisoformat(written or "")
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def text_digest(text: str) -> str:
    """The digest of a note's text without its front matter, so a stamp does not change it."""
    body = text.split("\n", read_front_matter(text).lines)[-1]
    return hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()[:DIGEST_LENGTH]


def describe_outdated(text: str, read_note: ReadNote, now: Now) -> str | None:
    """Why a note should be trusted less than it seems, in a few words: it is stale or deprecated,
    or it or one of its sources changed since it was verified. None if nothing says so.
    """
    trust = read_trust_fields(text)
    reasons: list[str] = []
    if trust.stale_after is not None and now() >= trust.stale_after:
        reasons.append(f"stale since {trust.stale_after.date()}")
    if trust.status == DEPRECATED:
        reasons.append(DEPRECATED)
    reasons += _changes_since(trust, text, read_note)
    return ", ".join(reasons) or None


def find_outdated(
    paths: Iterable[str | None], read_note: ReadNote, now: Now
) -> dict[str | None, str]:
    """Of the notes at these paths those that should be trusted less, with the reason."""
    found: dict[str | None, str] = {}
    for path in dict.fromkeys(paths):
        text = read_note(path) if path is not None else None
        reason = describe_outdated(text, read_note, now) if text is not None else None
        if reason is not None:
            found[path] = reason
    return found


def _changes_since(trust: TrustFields, text: str, read_note: ReadNote) -> Iterator[str]:
    """What changed since a note was verified: its own text, then its sources."""
    stamp = trust.stamp
    if stamp is None:
        generated = trust.generated_at
        verified = trust.verified_at
        if generated is not None and verified is not None and generated > verified:
            yield f"changed since it was verified on {verified.date()}"
        return
    if text_digest(text) != stamp.text_digest:
        yield f"changed since it was verified on {_day(stamp.at)}"
    changed = [source.path for source in stamp.sources if source_change(source, read_note)]
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        name = short_path(changed[0])
        yield f"its source {name}{more} changed since it was verified on {_day(stamp.at)}"


def source_change(source: StampedSource, read_note: ReadNote) -> str | None:
    """What happened to a source since a note was stamped: `changed`, `gone`, or None."""
    text = read_note(source.path)
    if text is None:
        return "gone"
    return "changed" if text_digest(text) != source.digest else None


def _day(time: str) -> str:
    return time[: len("2026-11-30")]
