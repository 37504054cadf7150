"""A link's syntax and what it points to, by the rules observed in Obsidian. Pure: text and a table of names in, values out.

A name is looked up by its *key*: the last segment of a path, without `.md`, in one case and one Unicode form. Whoever resolves gives a
`lookup` from key to the files that have it, so one link costs one look-up, whether the table is a dictionary or an SQL index.
Of several files the best wins, in this order: the exact vault path, the source note's own folder, the name spelled exactly so, the
shortest path string, the lexicographically first. A front matter alias resolves last and never beats a file name.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple
from urllib.parse import unquote

from zkchat_cli.models import ReferenceStatus

NOTE_SUFFIXES = (".md", ".markdown")

LinkKind = Literal["wikilink", "markdown"]
NameKind = Literal["note", "file", "alias"]


class WrittenLink(NamedTuple):
    """A link as it stands in a text. `text` is its target, trimmed: `a` for `[[a#h|b]]`; empty for a link into the note itself."""

    raw: str
    kind: LinkKind
    text: str
    heading: str | None
    alias: str | None
    embed: bool
    line: int = 1


class Name(NamedTuple):
    """A name that a link may use for the file at `path`; `spelled` is that name as the file system or the alias spells it."""

    path: str
    kind: NameKind
    spelled: str


class Resolved(NamedTuple):
    """`status` is None for a Markdown link that means no note at all, as `[manual](manual.html)`."""

    target: str | None
    status: ReferenceStatus | None
    losers: tuple[str, ...] = ()
    via: Literal["alias"] | None = None


Lookup = Callable[[str], Sequence[Name]]

# Possessive repetitions (`++`, `*+`) never back up, and each scan stops at the next opening: that keeps one note one linear pass.
_WIKILINK = re.compile(r"\[\[((?:[^\[\]\n]++|\[(?!\[)|\](?!\]))*+)\]\]")
_LABEL = r"(?:[^\[\]\n\\]++|\\.|!?\[(?:[^\[\]\n\\]++|\\.)*+\](?:\([^()\n]*+\))?)*+"
_DESTINATION = r"(?:<([^<>\n]*+)>|((?:[^\s()<\\]++|\\.|\((?:[^\s()\\]++|\\.)*+\))*+))"
_TITLE = r"""(?:[ \t]++(?:"[^"\n]*+"|'[^'\n]*+'|\([^()\n]*+\)))?"""
_MARKDOWN_LINK = re.compile(rf"\[({_LABEL})\]\([ \t]*+{_DESTINATION}{_TITLE}[ \t]*+\)")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def wikilink_at(text: str, position: int, end: int, line: int) -> tuple[WrittenLink | None, int]:
    """The wikilink whose `[[` stands at `position`, and where it ends; `(None, position)` when there is none."""
    match = _WIKILINK.match(text, position, end)
    if not match:
        return None, position
    target, heading, alias = split_target(match[1])
    if not target and not heading:
        return None, position
    embed = position > 0 and text[position - 1] == "!" and not _is_escaped(text, position - 1)
    raw = "!" + match[0] if embed else match[0]
    return WrittenLink(raw, "wikilink", target, heading, alias, embed, line), match.end()


def markdown_link_at(text: str, position: int, end: int, line: int) -> tuple[WrittenLink | None, int]:
    """The Markdown link whose `[` stands at `position`. Web addresses are not links to notes: they give `(None, position)`."""
    match = _MARKDOWN_LINK.match(text, position, end)
    if not match:
        return None, position
    label, destination, unquoted = match.groups()
    if unquoted is not None:
        destination = _ESCAPED.sub(r"\1", unquoted) if "\\" in unquoted else unquoted
    if not destination or _ADDRESS.match(destination):
        return None, position
    target, _, heading = destination.partition("#")
    if "%" in destination:
        target, heading = unquote(target), unquote(heading)
    embed = position > 0 and text[position - 1] == "!" and not _is_escaped(text, position - 1)
    raw = "!" + match[0] if embed else match[0]
    return WrittenLink(raw, "markdown", target.strip(), heading.strip() or None, label.strip() or None, embed, line), match.end()


def split_target(inner: str) -> tuple[str, str | None, str | None]:
    """`a#b#c|d` as `("a", "b#c", "d")`; in a table the bar is escaped, and that escape belongs to the bar."""
    target, bar, alias = inner.partition("|")
    if bar and target.endswith("\\"):
        target = target[:-1]
    name, _, heading = target.partition("#")
    return name.strip(), heading.strip() or None, alias.strip() or None


def _is_escaped(text: str, position: int) -> bool:
    before = position
    while before > 0 and text[before - 1] == "\\":
        before -= 1
    return (position - before) % 2 == 1


def fold_name(name: str) -> str:
    """`name` in one case and one Unicode form (NFC), as file systems and people mix them; diacritics count."""
    return name.lower() if name.isascii() else unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def stem(path: str) -> str:
    """What a link calls the file at `path`: its name, without the suffix if it is a note."""
    name = path.rpartition("/")[2]
    return _without_suffix(name)


def key(target: str) -> str:
    """What a link's target is looked up by. A folder (`Folder/`) and the note itself (empty) have the empty key."""
    return fold_name(stem(target))


def _without_suffix(path: str) -> str:
    for suffix in NOTE_SUFFIXES:
        if len(path) > len(suffix) and path[-len(suffix) :].lower() == suffix:
            return path[: -len(suffix)]
    return path


def resolve(link: WrittenLink, source: str | None, lookup: Lookup) -> Resolved:
    """What `link` points to when it stands in the note `source` (None: in no note, as in a chat message)."""
    if not link.text:
        return Resolved(source, "found") if source else Resolved(None, "broken" if link.kind == "wikilink" else None)
    names = lookup(key(link.text))
    folder = source.rpartition("/")[0] if source else ""
    files = _matching(link.text, folder, [n for n in names if n.kind != "alias"])
    if link.kind == "markdown":
        files = [n for n in files if n.kind == "note"]
    if files:
        losers = tuple(n.path for n in files[1:])
        return Resolved(files[0].path, "ambiguous" if losers and not _is_exact(link.text, files[0]) else "found", losers)
    if link.kind == "markdown":
        return Resolved(None, "broken" if link.text.lower().endswith(NOTE_SUFFIXES) else None)
    folded = fold_name(link.text)
    paths = sorted({n.path for n in names if n.kind == "alias" and fold_name(n.spelled) == folded}, key=lambda p: (len(p), p))
    if paths:
        return Resolved(paths[0], "ambiguous" if len(paths) > 1 else "found", tuple(paths[1:]), "alias")
    return Resolved(None, "broken")


def _is_exact(target: str, winner: Name) -> bool:
    """Whether the target says the whole path: then nothing is ambiguous about it. A bare name never says so."""
    return "/" in target.strip("/") and fold_name(_without_suffix(target.lstrip("/"))) == fold_name(_without_suffix(winner.path))


def _matching(target: str, folder: str, files: Sequence[Name]) -> list[Name]:
    """The files that `target` may mean, the best first."""
    if target.startswith(("./", "../")):
        joined = _joined(folder, target)
        return [] if joined is None else _whole_path(joined, files)
    if target.startswith("/"):
        return _whole_path(target[1:], files)
    wanted, beside = fold_name(target), fold_name(f"{folder}/{target}" if folder else target)

    def merit(name: Name) -> tuple[bool, bool, bool, int, str]:
        path = fold_name(name.path)
        exact, own = _says(wanted, path), _says(beside, path)
        return not exact, not own, _without_suffix(target).rpartition("/")[2] != stem(name.path), len(name.path), name.path

    return sorted((n for n in files if _says(wanted, fold_name(n.path), partly=True)), key=merit)


def _whole_path(wanted: str, files: Sequence[Name]) -> list[Name]:
    found = [n for n in files if _says(fold_name(wanted), fold_name(n.path))]
    return sorted(found, key=lambda n: (_without_suffix(n.path) != _without_suffix(wanted), n.path))[:1]


def _says(wanted: str, path: str, *, partly: bool = False) -> bool:
    """Whether the folded target `wanted` names the folded `path`, as a whole or (`partly`) from some folder on, `.md` or not."""
    return any(path == name or (partly and path.endswith("/" + name)) for name in (wanted, *(wanted + s for s in NOTE_SUFFIXES)))


def _joined(folder: str, relative: str) -> str | None:
    """`relative` seen from `folder`, or None where it climbs out of the vault."""
    parts = folder.split("/") if folder else []
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
