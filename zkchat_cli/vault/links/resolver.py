"""What a link points to, by the rules observed in Obsidian. Pure: links and a table of names in, values out.

A `lookup` from a key to the files with that name is passed in, a dictionary or an SQL index, so that one link costs one look-up. Of several
files the best wins, in the order of `_REASONS`. An alias from front matter never beats a file name, and a title from there beats neither.
"""

import posixpath
from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal, NamedTuple

from zkchat_cli.models import ReferenceStatus
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, LinkKind, WrittenLink, fold_name, link_key, note_name, strip_suffix


class LinkName(NamedTuple):
    """A name that a link may use for the file at `path`; `spelled` as the file system or the front matter spells it."""

    path: str
    kind: Literal["note", "file", "alias", "title"]
    spelled: str


Lookup = Callable[[str], Sequence[LinkName]]


class ResolvedTarget(NamedTuple):
    """`status` is None for a Markdown link that means no note, such as `[manual](manual.html)`. `reason` says why the target of an
    ambiguous link was preferred to the best of the other `candidates`."""

    target: str | None
    status: ReferenceStatus | None
    candidates: tuple[str, ...] = ()
    via: Literal["alias", "title"] | None = None
    reason: str | None = None


_OTHER_NAMES: tuple[Literal["alias", "title"], ...] = ("alias", "title")
_Rank = tuple[bool, bool, bool, int, str]
_REASONS = ("the exact path in the vault", "in the note's own folder", "the exact spelling", "the shortest path", "the first in order")
"""What makes one file better than another, in the order of a `_Rank`, in which smaller is better. The last is the path."""


def resolve(link: WrittenLink, source: str | None, lookup: Lookup) -> ResolvedTarget:
    """What `link` points to in the note `source` (None: outside of notes, such as in a chat message)."""
    target, is_wikilink = link.text, link.kind == "wikilink"
    if not target:
        return ResolvedTarget(source, "found") if source else ResolvedTarget(None, "broken" if is_wikilink else None)
    names = lookup(link_key(target))
    folder = source.rpartition("/")[0] if source else ""
    if ranked := _rank_files(target, folder, [n.path for n in names if n.kind == "note" or (n.kind == "file" and is_wikilink)]):
        best = ranked[0][-1]
        # not ambiguous if the target is the whole path, folders included; a bare name never is
        is_certain = "/" in target.strip("/") and fold_name(strip_suffix(target.lstrip("/"))) == fold_name(strip_suffix(best))
        return _choose(ranked, is_certain=is_certain)
    if not is_wikilink:
        return ResolvedTarget(None, "broken" if target.lower().endswith(NOTE_SUFFIXES) else None)
    for kind in _OTHER_NAMES:
        if paths := {n.path for n in names if n.kind == kind and fold_name(n.spelled) == fold_name(target)}:
            return _choose(sorted((False, False, False, len(path), path) for path in paths))._replace(via=kind)
    return ResolvedTarget(None, "broken")


def _choose(ranked: Sequence[_Rank], *, is_certain: bool = False) -> ResolvedTarget:
    """The first of `ranked`; ambiguous if there are others, unless it `is_certain`."""
    winner, *losers = ranked
    paths = tuple(loser[-1] for loser in losers)
    if is_certain or not losers:
        return ResolvedTarget(winner[-1], "found", paths)
    reason = next(reason for reason, won, lost in zip(_REASONS, winner, losers[0], strict=True) if won != lost)
    return ResolvedTarget(winner[-1], "ambiguous", paths, reason=reason)


def _rank_files(target: str, folder: str, paths: Sequence[str]) -> list[_Rank]:
    """The files that `target` may mean, best first; at most one for a relative or absolute path."""
    if target.startswith(("./", "../", "/")):
        whole = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
        wanted, spelled = fold_name(whole), strip_suffix(whole)
        found = (path for path in paths if _matches(wanted, fold_name(path)))
        return sorted((False, False, strip_suffix(path) != spelled, len(path), path) for path in found)[:1]
    wanted, in_folder = fold_name(target), fold_name(f"{folder}/{target}" if folder else target)
    spelled = note_name(target)
    return sorted(
        (not _matches(wanted, folded), not _matches(in_folder, folded), note_name(path) != spelled, len(path), path)
        for path, folded in ((path, fold_name(path)) for path in paths)
        if _matches(wanted, folded, suffix=True)
    )


def _matches(wanted: str, path: str, *, suffix: bool = False) -> bool:
    """Whether a folded target names a folded path, with or without `.md`; with `suffix` the last segments of the path suffice."""
    for name in (wanted, *(wanted + ending for ending in NOTE_SUFFIXES)) if wanted in path else ():
        if path == name or (suffix and path.endswith("/" + name)):
            return True
    return False


def bulk_resolver(lookup: Lookup) -> Callable[[WrittenLink, str], ResolvedTarget]:
    """`resolve` for many links by one look-up of names; equal links of one folder are resolved once."""

    @cache
    def resolve_once(kind: LinkKind, text: str, folder: str) -> ResolvedTarget:
        return resolve(WrittenLink("", kind, text), f"{folder}/", lookup)

    def resolve_link(link: WrittenLink, source: str) -> ResolvedTarget:
        return resolve_once(link.kind, link.text, source.rpartition("/")[0]) if link.text else resolve(link, source, lookup)

    return resolve_link
