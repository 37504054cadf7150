"""What a link points to, by the rules observed in Obsidian. Pure: links and a table of names in, values out.

A `lookup` from a key to the files with that name is passed in, a dictionary or an SQL index, so that one link costs one look-up. Of several
files the best wins, in the order of `_CRITERIA`. An alias from front matter never beats a file name, and a title from there beats neither.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from zkchat_cli.models import LinkResolution, ReferenceStatus
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, WrittenLink, fold_name, link_key, note_name, strip_suffix


class LinkName(NamedTuple):
    """A name that a link may use for the file at `path`; `spelled` as the file system or the front matter spells it."""

    path: str
    kind: Literal["note", "file", "alias", "title"]
    spelled: str


_FROM_FRONT_MATTER: tuple[Literal["alias", "title"], ...] = ("alias", "title")
Lookup = Callable[[str], Sequence[LinkName]]


class ResolvedTarget(NamedTuple):
    """`status` is None for a Markdown link that means no note, such as `[manual](manual.html)`.

    `reason` says why the target of an ambiguous link was preferred to the best of the other `candidates`.
    """

    target: str | None
    status: ReferenceStatus | None
    candidates: tuple[str, ...] = ()
    via: Literal["alias", "title"] | None = None
    reason: str | None = None


class _LinkCandidate(NamedTuple):
    """A file that a link may mean, with what decides between several."""

    name: LinkName
    is_exact: bool = False
    is_in_own_folder: bool = False
    is_same_spelling: bool = False


_CRITERIA: tuple[tuple[str, Callable[[_LinkCandidate], bool | int | str]], ...] = (
    ("the exact path in the vault", lambda c: not c.is_exact),
    ("in the note's own folder", lambda c: not c.is_in_own_folder),
    ("the exact spelling", lambda c: not c.is_same_spelling),
    ("the shortest path", lambda c: len(c.name.path)),
    ("the first in order", lambda c: c.name.path),
)
"""What makes one candidate better than another: the first criterion that differs, smaller is better. Paths always differ."""


def resolve(link: WrittenLink, source: str | None, lookup: Lookup) -> ResolvedTarget:
    """What `link` points to in the note `source` (None: outside of notes, such as in a chat message)."""
    if not link.text:
        return ResolvedTarget(source, "found") if source else ResolvedTarget(None, "broken" if link.kind == "wikilink" else None)
    names = lookup(link_key(link.text))
    folder = source.rpartition("/")[0] if source else ""
    kinds = ("note",) if link.kind == "markdown" else ("note", "file")
    if files := _matching_files(link.text, folder, [n for n in names if n.kind in kinds]):
        return _choose(files, is_certain=_is_whole_path(link.text, files[0].name))
    if link.kind == "markdown":
        return ResolvedTarget(None, "broken" if link.text.lower().endswith(NOTE_SUFFIXES) else None)
    folded = fold_name(link.text)
    for kind in _FROM_FRONT_MATTER:
        if named := {n.path: n for n in names if n.kind == kind and fold_name(n.spelled) == folded}:
            return _choose(_rank(map(_LinkCandidate, named.values())))._replace(via=kind)
    return ResolvedTarget(None, "broken")


def _rank(candidates: Iterable[_LinkCandidate]) -> list[_LinkCandidate]:
    return sorted(candidates, key=lambda candidate: tuple(value(candidate) for _, value in _CRITERIA))


def _choose(ranked: Sequence[_LinkCandidate], *, is_certain: bool = False) -> ResolvedTarget:
    """The first of `ranked`; ambiguous if there are others, unless it `is_certain`."""
    winner, *losers = ranked
    paths = tuple(loser.name.path for loser in losers)
    if is_certain or not losers:
        return ResolvedTarget(winner.name.path, "found", paths)
    reason = next(reason for reason, value in _CRITERIA if value(winner) != value(losers[0]))
    return ResolvedTarget(winner.name.path, "ambiguous", paths, reason=reason)


def _is_whole_path(target: str, winner: LinkName) -> bool:
    """Whether the target is the whole path, folders included: then it is not ambiguous. A bare name never is."""
    return "/" in target.strip("/") and fold_name(strip_suffix(target.lstrip("/"))) == fold_name(strip_suffix(winner.path))


def _matching_files(target: str, folder: str, files: Sequence[LinkName]) -> list[_LinkCandidate]:
    """The files that `target` may mean, best first; at most one for a relative or absolute path."""
    if target.startswith(("./", "../")):
        joined = _join_path(folder, target)
        return [] if joined is None else _match_whole_path(joined, files)
    if target.startswith("/"):
        return _match_whole_path(target[1:], files)
    wanted = fold_name(target)
    if len(files) == 1:  # the usual case: nothing to compare
        return [_LinkCandidate(files[0])] if _matches(wanted, fold_name(files[0].path), suffix=True) else []
    in_folder = fold_name(f"{folder}/{target}" if folder else target)
    spelled = strip_suffix(target).rpartition("/")[2]
    folded = ((n, fold_name(n.path)) for n in files)
    return _rank(
        _LinkCandidate(n, _matches(wanted, path), _matches(in_folder, path), spelled == note_name(n.path))
        for n, path in folded
        if _matches(wanted, path, suffix=True)
    )


def _match_whole_path(wanted: str, files: Sequence[LinkName]) -> list[_LinkCandidate]:
    found = (n for n in files if _matches(fold_name(wanted), fold_name(n.path)))
    return _rank(_LinkCandidate(n, True, True, strip_suffix(n.path) == strip_suffix(wanted)) for n in found)[:1]


def _matches(wanted: str, path: str, *, suffix: bool = False) -> bool:
    """Whether a folded target names a folded path, with or without `.md`; with `suffix` the last segments of the path suffice."""
    for name in (wanted, *(wanted + ending for ending in NOTE_SUFFIXES)) if wanted in path else ():
        if path == name or (suffix and path.endswith("/" + name)):
            return True
    return False


def _join_path(folder: str, relative: str) -> str | None:
    """`relative` as seen from `folder`, or None if it leads out of the vault."""
    parts = folder.split("/") if folder else []
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def resolve_all(links: Iterable[WrittenLink], source: str | None, lookup: Lookup) -> list[LinkResolution]:
    """Links with their targets, in order, without those that mean no note."""
    found: list[LinkResolution] = []
    for link in links:
        resolved = resolve(link, source, lookup)
        if resolved.status is not None:
            written = link._asdict()
            del written["place"]
            found.append(LinkResolution(**written, **resolved._asdict()))
    return found


class BulkLinkResolver:
    """Resolves many links by one table of names; equal links of one folder are resolved once."""

    def __init__(self, names: Mapping[str, Sequence[LinkName]]) -> None:
        self._names = names
        self._answers: dict[tuple[str, str, str], ResolvedTarget] = {}

    def resolve(self, link: WrittenLink, source: str) -> ResolvedTarget:
        if not link.text:
            return resolve(link, source, lambda _: ())
        question = (link.kind, link.text, source.rpartition("/")[0])
        if question not in self._answers:
            self._answers[question] = resolve(link, source, lambda folded: self._names.get(folded, ()))
        return self._answers[question]
