"""A link's syntax and what it points to, by the rules observed in Obsidian. Pure: text and a table of names in, values out.

A name is looked up by its *key*: the last segment of a path, without `.md`, in one case and one Unicode form. Whoever resolves gives a
`lookup` from key to the files that have it, so one link costs one look-up, whether the table is a dictionary or an SQL index.
Of several files the best wins, in the order of `_CRITERIA`. A front matter alias resolves last and never beats a file name.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
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
    end: int = 0
    """Where the text goes on behind a wikilink."""
    place: tuple[int, int] = (0, 0)
    """Where in the text a Markdown link's destination stands, as it is written; in its definition where it is named elsewhere."""


class Name(NamedTuple):
    """A name that a link may use for the file at `path`; `spelled` is that name as the file system or the alias spells it."""

    path: str
    kind: NameKind
    spelled: str


class Resolved(NamedTuple):
    """`status` is None for a Markdown link that means no note at all, as `[manual](manual.html)`.

    `reason` says what the target of an ambiguous link has over the best of the `losers`.
    """

    target: str | None
    status: ReferenceStatus | None
    losers: tuple[str, ...] = ()
    via: Literal["alias"] | None = None
    reason: str | None = None


class _Candidate(NamedTuple):
    """A file that a link may mean, with what decides between several."""

    name: Name
    exact: bool
    beside: bool
    spelled: bool


_CRITERIA: tuple[tuple[str, Callable[[_Candidate], bool | int | str]], ...] = (
    ("its path in the vault is just so", lambda c: not c.exact),
    ("in the note's own folder", lambda c: not c.beside),
    ("spelled exactly so", lambda c: not c.spelled),
    ("the shortest path", lambda c: len(c.name.path)),
    ("first in order", lambda c: c.name.path),
)
"""What makes one candidate better than another: the first of these in which they differ, the smaller value. Paths differ always."""

Lookup = Callable[[str], Sequence[Name]]

# Possessive repetitions (`++`, `*+`) never back up, and each scan stops at the next opening: that keeps one note one linear pass.
_WIKILINK = re.compile(r"\[\[((?:[^\[\]\n]++|\[(?!\[)|\](?!\]))*+)\]\]")
_LABEL = r"(?:[^\[\]\n\\]++|\\.|!?\[(?:[^\[\]\n\\]++|\\.)*+\](?:\([^()\n]*+\))?)*+"
_DESTINATION = r"(?:<([^<>\n]*+)>|((?:[^\s()<\\]++|\\.|\((?:[^\s()\\]++|\\.)*+\))*+))"
_TITLE = r"""(?:[ \t]++(?:"[^"\n]*+"|'[^'\n]*+'|\([^()\n]*+\)))?"""
_MARKDOWN_LINK = re.compile(rf"\[({_LABEL})\]\([ \t]*+{_DESTINATION}{_TITLE}[ \t]*+\)")
_NAME = r"(?:[^\[\]\n\\]++|\\.)++"
_REFERENCE = re.compile(rf"\[({_NAME})\](?:\[({_NAME})?\])?(?!\()")
_DEFINITION = re.compile(rf"\[(?!\^)({_NAME})\]:[ \t]*+{_DESTINATION}{_TITLE}[ \t]*+$", re.MULTILINE)
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
    return WrittenLink(raw, "wikilink", target, heading, alias, embed, line, match.end()), match.end()


def markdown_link_at(text: str, position: int, end: int, line: int) -> tuple[WrittenLink | None, int]:
    """The Markdown link whose `[` stands at `position`. Web addresses are not links to notes: they give `(None, position)`."""
    match = _MARKDOWN_LINK.match(text, position, end)
    place = _place(match[2], match[3]) if match else None
    if not match or not place:
        return None, position
    return _markdown_link(text, match.span(), match[1], place, line, _written(match)), match.end()


def _written(match: "re.Match[str]") -> tuple[int, int]:
    """Where the destination of a link or a definition stands, without its angle brackets."""
    return match.span(2) if match[2] is not None else match.span(3)


def _place(quoted: str | None, bare: str) -> tuple[str, str | None] | None:
    """The target and the heading that a destination means, `<quoted>` or bare; None for a web address."""
    destination = quoted if quoted is not None else _ESCAPED.sub(r"\1", bare) if "\\" in bare else bare
    if not destination or _ADDRESS.match(destination):
        return None
    target, _, heading = destination.partition("#")
    if "%" in destination:
        target, heading = unquote(target), unquote(heading)
    return target.strip(), heading.strip() or None


def _markdown_link(
    text: str, span: tuple[int, int], label: str, place: tuple[str, str | None], line: int, written: tuple[int, int]
) -> WrittenLink:
    begin, end = span
    embed = begin > 0 and text[begin - 1] == "!" and not _is_escaped(text, begin - 1)
    return WrittenLink(text[begin - embed : end], "markdown", *place, label.strip() or None, embed, line, place=written)


class _Reference(NamedTuple):
    span: tuple[int, int]
    label: str
    name: str
    line: int
    links_before: int


class References:
    """Links of one text whose destinations stand elsewhere in it: `[label][name]`, `[name][]` and `[name]`, with `[name]: Note.md`.

    What is a link shows only at the end of the text, where all names are known; until then everything in brackets is kept.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[_Reference] = []
        self._places: dict[str, tuple[tuple[str, str | None] | None, tuple[int, int]]] = {}

    def read(self, position: int, end: int, line: int, links_before: int, *, may_define: bool) -> int:
        """Note what the `[` at `position` begins, a definition only where it `may_define`; where reading goes on."""
        if may_define and (match := _DEFINITION.match(self._text, position, end)):
            self._places.setdefault(_fold_label(match[1]), (_place(match[2], match[3]), _written(match)))
            return match.end()
        if match := _REFERENCE.match(self._text, position, end):
            self._found.append(_Reference(match.span(), match[1], _fold_label(match[2] or match[1]), line, links_before))
        return position + 1

    def merged(self, links: list[WrittenLink]) -> list[WrittenLink]:
        """The other `links` of the text and these, in its order."""
        merged: list[WrittenLink] = []
        taken = closed = 0
        for reference in self._found:
            place, written = self._places.get(reference.name, (None, (0, 0)))
            if place and reference.span[0] >= closed:
                merged += links[taken : reference.links_before]
                taken, closed = reference.links_before, reference.span[1]
                merged.append(_markdown_link(self._text, reference.span, reference.label, place, reference.line, written))
        return merged + links[taken:]


def _fold_label(label: str) -> str:
    return " ".join(label.split()).casefold()


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
    if path[-9:].lower().endswith(NOTE_SUFFIXES):
        name = path[: path.rindex(".")]
        return name or path
    return path


def resolve(link: WrittenLink, source: str | None, lookup: Lookup) -> Resolved:
    """What `link` points to when it stands in the note `source` (None: in no note, as in a chat message)."""
    if not link.text:
        return Resolved(source, "found") if source else Resolved(None, "broken" if link.kind == "wikilink" else None)
    names = lookup(key(link.text))
    folder = source.rpartition("/")[0] if source else ""
    wanted = ("note",) if link.kind == "markdown" else ("note", "file")
    files = _matching(link.text, folder, [n for n in names if n.kind in wanted])
    if files:
        return _decided(files, surely=_is_exact(link.text, files[0].name))
    if link.kind == "markdown":
        return Resolved(None, "broken" if link.text.lower().endswith(NOTE_SUFFIXES) else None)
    folded = fold_name(link.text)
    aliased = {n.path: n for n in names if n.kind == "alias" and fold_name(n.spelled) == folded}
    if aliased:
        return _decided(_ranked(_Candidate(n, False, False, False) for n in aliased.values()))._replace(via="alias")
    return Resolved(None, "broken")


def _ranked(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    return sorted(candidates, key=lambda candidate: tuple(value(candidate) for _, value in _CRITERIA))


def _decided(ranked: Sequence[_Candidate], *, surely: bool = False) -> Resolved:
    """The first of `ranked`; ambiguous if there are others and it is not `surely` the one that is meant."""
    winner, *losers = ranked
    paths = tuple(loser.name.path for loser in losers)
    if surely or not losers:
        return Resolved(winner.name.path, "found", paths)
    reason = next(reason for reason, value in _CRITERIA if value(winner) != value(losers[0]))
    return Resolved(winner.name.path, "ambiguous", paths, reason=reason)


def _is_exact(target: str, winner: Name) -> bool:
    """Whether the target says the whole path: then nothing is ambiguous about it. A bare name never says so."""
    return "/" in target.strip("/") and fold_name(_without_suffix(target.lstrip("/"))) == fold_name(_without_suffix(winner.path))


def _matching(target: str, folder: str, files: Sequence[Name]) -> list[_Candidate]:
    """The files that `target` may mean, the best first; one at most where it says its whole path."""
    if target.startswith(("./", "../")):
        joined = _joined(folder, target)
        return [] if joined is None else _whole_path(joined, files)
    if target.startswith("/"):
        return _whole_path(target[1:], files)
    wanted = fold_name(target)
    if len(files) == 1:  # as in most vaults most are: nothing to compare
        return [_Candidate(files[0], False, False, False)] if _says(wanted, fold_name(files[0].path), partly=True) else []
    beside = fold_name(f"{folder}/{target}" if folder else target)
    spelled = _without_suffix(target).rpartition("/")[2]
    folded = ((n, fold_name(n.path)) for n in files)
    return _ranked(
        _Candidate(n, _says(wanted, path), _says(beside, path), spelled == stem(n.path))
        for n, path in folded
        if _says(wanted, path, partly=True)
    )


def _whole_path(wanted: str, files: Sequence[Name]) -> list[_Candidate]:
    found = (n for n in files if _says(fold_name(wanted), fold_name(n.path)))
    return _ranked(_Candidate(n, True, True, _without_suffix(n.path) == _without_suffix(wanted)) for n in found)[:1]


def _says(wanted: str, path: str, *, partly: bool = False) -> bool:
    """Whether the folded target `wanted` names the folded `path`, as a whole or (`partly`) from some folder on, `.md` or not."""
    for name in (wanted, *(wanted + suffix for suffix in NOTE_SUFFIXES)) if wanted in path else ():
        if path == name or (partly and path.endswith("/" + name)):
            return True
    return False


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
