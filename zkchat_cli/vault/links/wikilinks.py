"""Links: reading and writing them, and what they point to by the rules observed in Obsidian. Pure.

A file is looked up by its *key*: the last segment of its path without `.md`, lower case and in one
Unicode form. Of several files the best wins, in the order of `_REASONS`. An alias from front matter
never beats a file name, a title from there beats neither, and the id of a note comes last.
"""

import posixpath
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import quote, unquote

from zkchat_cli.markdown import inline
from zkchat_cli.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from zkchat_cli.models.notes import ReferenceStatus

NOTE_SUFFIXES = (".md", ".markdown")

LinkKind = Literal["wikilink", "markdown"]
NameKind = Literal["note", "file", "alias", "title", "id"]
OtherName = Literal["alias", "title", "id"]
OTHER_NAMES: tuple[OtherName, ...] = ("alias", "title", "id")
"""The kinds of names that are not the name of a file, in the order in which they count."""


class WrittenLink(NamedTuple):
    """A link as the text has it. `text` is its trimmed target: `a` for `[[a#h|b]]`; empty for a
    link to the note itself.
    """

    raw: str
    kind: LinkKind
    text: str
    heading: str | None = None
    alias: str | None = None
    embed: bool = False
    line: int = 1
    # The position after the link
    end: int = 0
    # Start and end of a Markdown link's destination, or of what is in the brackets of a wikilink
    place: tuple[int, int] = (0, 0)


_NOT_IN_A_LINK = lazy_pattern(r"[\[\]#|^\x00-\x1f\x7f]|%%")
_ID = lazy_pattern(
    r"\d{8}(?:[T-]?\d{2,6})?(?!\d)|\d{4}-\d\d-\d\d(?:[T-]?\d{4,6})?(?!\d)"
    r"|\d{1,5}(?:[a-z]\d{1,4})+[a-z]?(?=[ _-])"
)
"""The id at the beginning of a note's name: `202401051530 Tap`, `2024-01-05 Tap`, `21a3 Tap`."""
_NOT_IN_A_HEADING = lazy_pattern(r"(?:[\[\]#|^\s]|%%)+")


def parse_wikilink(text: str, position: int, end: int, line: int) -> WrittenLink | None:
    """The wikilink with its `[[` at `position`; None if there is none."""
    link = inline.match_wikilink(text, position, end)
    return note_link(text, link, line) if link else None


def note_link(
    text: str, link: inline.Wikilink | inline.MarkdownLink, line: int
) -> WrittenLink | None:
    """A link of inline Markdown as a link to a note or file; None for a web address."""
    embed = inline.is_embed(text, link.start)
    raw = text[link.start - embed : link.end]
    if isinstance(link, inline.Wikilink):
        place = link.start + 2, link.end - 2
        return WrittenLink(
            raw, "wikilink", link.target, link.heading, link.alias, embed, line, link.end, place
        )
    if link.is_web_address:
        return None
    target, _, heading = (unquote(part).strip() for part in link.destination.partition("#"))
    return WrittenLink(
        raw,
        "markdown",
        target,
        heading or None,
        link.label.strip() or None,
        embed,
        line,
        link.end,
        link.destination_span,
    )


def fold_name(name: str) -> str:
    """`name` in lower case and one Unicode form (NFC), because file systems and people mix them;
    diacritics count.
    """
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def note_name(path: str) -> str:
    """What a link calls the file at `path`: its name, without the suffix if it is a note."""
    return strip_suffix(path.rpartition("/")[2])


def note_id(name: str) -> str | None:
    """The id at the beginning of a note's name, if more follows."""
    found = _ID.match(name)
    return found[0] if found and found.end() < len(name) else None


def link_key(target: str) -> str:
    """What a link's target is looked up by; empty for a folder (`Folder/`) and for the note
    itself.
    """
    return fold_name(note_name(target))


def strip_suffix(path: str) -> str:
    """The path without the suffix of a note; another path as it is."""
    stem, _, suffix = path.rpartition(".")
    if stem and f".{suffix}".lower() in NOTE_SUFFIXES:
        return stem
    return path


def possible_names(path: str) -> Iterator[str]:
    """What a link may call the file at `path`, the shortest first: its name, then with its folders
    one by one, then with its suffix.
    """
    folders = strip_suffix(path).split("/")
    yield from ("/".join(folders[start:]) for start in range(len(folders) - 1, -1, -1))
    yield path


def write_link(path: str, name: str = "", heading: str | None = None) -> str:
    """A wikilink to the file at `path` under this `name` (default: its path), and to a heading; a
    Markdown link if wikilinks cannot have the name's characters; only the name of a file outside
    the vault.
    """
    if path.startswith("../"):
        return path.rpartition("/")[2]
    target = name or strip_suffix(path)
    if _NOT_IN_A_LINK.search(target):
        label = " ".join(_NOT_IN_A_LINK.sub(" ", note_name(path)).split())
        return f"[{label}]({quote(path, errors='replace')})"
    section = _NOT_IN_A_HEADING.sub(" ", heading or "").strip()
    return f"[[{target}#{section}]]" if section and section != note_name(path) else f"[[{target}]]"


class LinkName(NamedTuple):
    """A name that a link may use for the file at `path`; `spelled` as the file system or the front
    matter spells it.
    """

    path: str
    kind: NameKind
    spelled: str


Lookup = Callable[[str], Sequence[LinkName]]


class ResolvedTarget(NamedTuple):
    """`status` is None for a Markdown link that means no note. `reason`: why the target is better
    than the other `candidates`.
    """

    target: str | None
    status: "ReferenceStatus | None"
    candidates: tuple[str, ...] = ()
    via: OtherName | None = None
    reason: str | None = None


class _Rank(NamedTuple):
    """How well a file fits a target; smaller is better."""

    is_no_path: bool
    is_elsewhere: bool
    is_spelled_otherwise: bool
    length: int
    path: str


_REASONS = (
    "the exact path in the vault",
    "in the note's own folder",
    "the exact spelling",
    "the shortest path",
    "the first in order",
)
"""What makes one file better than another, in the order of a `_Rank`, in which smaller is better.
The last is the path.
"""


def resolve(link: WrittenLink, source: str | None, lookup: Lookup) -> ResolvedTarget:
    """What `link` points to in the note `source` (None: outside of notes, such as in a chat
    message).
    """
    target = link.text
    is_wikilink = link.kind == "wikilink"
    if not target:
        return _resolve_own_note(source, link)
    names = lookup(link_key(target))
    folder = source.rpartition("/")[0] if source else ""
    kinds = ("note", "file") if is_wikilink else ("note",)
    ranked = _rank_files(target, folder, [name.path for name in names if name.kind in kinds])
    if ranked:
        # Not ambiguous if the target is the whole path, folders included; a bare name never is
        is_whole_path = "/" in target.strip("/") and not ranked[0].is_no_path
        return _choose(ranked, is_certain=is_whole_path)
    if not is_wikilink:
        return ResolvedTarget(None, "broken" if target.lower().endswith(NOTE_SUFFIXES) else None)
    return _resolve_other_name(target, names)


def _resolve_own_note(source: str | None, link: WrittenLink) -> ResolvedTarget:
    """What a link without a name points to: its own note."""
    if source:
        return ResolvedTarget(source, "found")
    return ResolvedTarget(None, "broken" if link.kind == "wikilink" else None)


def _resolve_other_name(target: str, names: Sequence[LinkName]) -> ResolvedTarget:
    """The note with this alias, else with this title, else the only one with this id."""
    wanted = fold_name(target)
    for kind in OTHER_NAMES:
        paths = {
            name.path for name in names if name.kind == kind and fold_name(name.spelled) == wanted
        }
        if kind == "id" and len(paths) > 1:
            break
        if paths:
            ranked = sorted(_Rank(False, False, False, len(path), path) for path in paths)
            return _choose(ranked)._replace(via=kind)
    return ResolvedTarget(None, "broken")


def _choose(ranked: Sequence[_Rank], *, is_certain: bool = False) -> ResolvedTarget:
    """The first of `ranked`; ambiguous if there are others, unless it `is_certain`."""
    winner, *losers = ranked
    paths = tuple(loser.path for loser in losers)
    if is_certain or not losers:
        return ResolvedTarget(winner.path, "found", paths)
    return ResolvedTarget(winner.path, "ambiguous", paths, reason=_reason(winner, losers[0]))


def _reason(winner: _Rank, second: _Rank) -> str | None:
    """The first thing in which the best file is better than the next one."""
    for reason, won, lost in zip(_REASONS, winner, second, strict=True):
        if won != lost:
            return reason
    return None


def _rank_files(target: str, folder: str, paths: Sequence[str]) -> list[_Rank]:
    """The files that `target` may mean, best first; at most one for a relative or absolute path."""
    if target.startswith(("./", "../", "/")):
        return _rank_whole_path(target, folder, paths)
    exact = _folded_paths(target)
    in_folder = _folded_paths(posixpath.join(folder, target))
    endings = tuple(f"/{path}" for path in exact)
    name = note_name(target)
    ranked: list[_Rank] = []
    for path in paths:
        folded = fold_name(path)
        if f"/{folded}".endswith(endings):
            is_spelled_otherwise = note_name(path) != name
            ranked.append(
                _Rank(
                    folded not in exact,
                    folded not in in_folder,
                    is_spelled_otherwise,
                    len(path),
                    path,
                )
            )
    return sorted(ranked)


def _rank_whole_path(target: str, folder: str, paths: Sequence[str]) -> list[_Rank]:
    """The file at a relative or absolute path, spelled as the target if there are two."""
    whole = target[1:]
    if not target.startswith("/"):
        whole = posixpath.normpath(posixpath.join(folder, target))
    named = _folded_paths(whole)
    spelled = strip_suffix(whole)
    ranked = [
        _Rank(False, False, strip_suffix(path) != spelled, len(path), path)
        for path in paths
        if fold_name(path) in named
    ]
    return sorted(ranked)[:1]


def _folded_paths(target: str) -> list[str]:
    """The folded paths of files that a target names, with or without `.md`."""
    return [fold_name(target) + suffix for suffix in ("", *NOTE_SUFFIXES)]


Resolver = Callable[[WrittenLink, str], ResolvedTarget]


def bulk_resolver(lookup: Lookup) -> Resolver:
    """`resolve` for many links by one look-up of names; equal links of one folder are resolved
    once.
    """

    @cache
    def resolve_once(kind: LinkKind, text: str, folder: str) -> ResolvedTarget:
        return resolve(WrittenLink("", kind, text), f"{folder}/", lookup)

    def resolve_link(link: WrittenLink, source: str) -> ResolvedTarget:
        if not link.text:
            return resolve(link, source, lookup)
        return resolve_once(link.kind, link.text, source.rpartition("/")[0])

    return resolve_link
