"""Broken links, with suggestions.

A vault of 100 000 broken links must not take minutes: names are suggested once per different name and for the first `MOST_SUGGESTED` names,
and each note is read once to check its headings.
"""

import difflib
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from zkchat_cli.errors import VaultError
from zkchat_cli.text import words
from zkchat_cli.vault import sections
from zkchat_cli.vault.index.database import IndexDatabase, LinkRow
from zkchat_cli.vault.links.resolver import MOST_SUGGESTED
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, stem
from zkchat_cli.vault.note_parser import ParsedNote

CERTAIN_SIMILARITY, CERTAIN_LEAD = 0.85, 0.08
"""How similar a name must be to mean a note for certain, and by how much more than the next one."""
MOST_COMPARED = 200
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A link to a missing note with the paths it may mean, or to a missing heading of a note with each `path#heading` it may mean."""

    row: LinkRow
    candidates: tuple[str, ...] = ()
    text: str = ""
    """The target as written."""


@dataclass(frozen=True, slots=True)
class BrokenLinks:
    """All broken links by source and line, the number of different names in them, and of those that were looked up."""

    links: tuple[BrokenLink, ...]
    names: int
    looked_up: int


def find_broken_notes(index: IndexDatabase, suggest: Callable[[str], tuple[str, ...]]) -> BrokenLinks:
    """Links to notes and files that do not exist; `suggest` gives the paths that a name may mean."""
    rows = index.broken()
    texts: dict[str, str] = dict(index.rows("SELECT DISTINCT raw, text FROM links WHERE status = 'broken'"))
    names = list(dict.fromkeys(texts[row.raw] for row in rows))
    near = {name: suggest(name) for name in names[:MOST_SUGGESTED]}
    links = tuple(BrokenLink(row, near.get(texts[row.raw], ()), texts[row.raw]) for row in rows)
    return BrokenLinks(links, len(names), len(near))


def certain_target(text: str, candidates: Sequence[str]) -> str | None:
    """The candidate that a broken target certainly means, if any.

    Its name is the same except for case, accents, punctuation and folders, or very similar and far more so than the next one. Its digits
    are the same: the notes of two days differ only in them.
    """
    wanted = _normalize(text)
    if not wanted or (PurePosixPath(text).suffix.lower() not in ("", *NOTE_SUFFIXES) and _EXTENSION.search(text)):
        return None  # a picture and the like
    same = [path for path in candidates if _normalize(path) == wanted]
    if same:
        return same[0] if len(same) == 1 else None
    names = ((difflib.SequenceMatcher(None, wanted, _normalize(path), autojunk=False), path) for path in candidates)
    ranked = sorted(((name.ratio(), path) for name, path in names), reverse=True)
    first, second = (*ranked, (0.0, ""), (0.0, ""))[:2]
    near = first[0] >= CERTAIN_SIMILARITY and first[0] - second[0] >= CERTAIN_LEAD
    return first[1] if near and _digits(wanted) == _digits(_normalize(first[1])) else None


def _normalize(name: str) -> str:
    return "".join(c for c in words.fold(stem(name)) if c.isalnum())[:MOST_COMPARED]


def _digits(name: str) -> str:
    return "".join(c for c in name if c.isdigit())


def find_broken_headings(index: IndexDatabase, parse: Callable[[str], ParsedNote]) -> list[BrokenLink]:
    """Links to missing headings and blocks of existing notes, by source and line; `parse` reads a note."""
    rows = index.link_rows("links.heading IS NOT NULL AND links.target IN (SELECT path FROM notes)")
    wanted: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        wanted[str(row.target)].add(str(row.heading))
    missing = {target: _missing_headings(parse, target, names) for target, names in wanted.items()}
    return [BrokenLink(row, near) for row in rows if (near := missing[str(row.target)].get(str(row.heading))) is not None]


def _missing_headings(parse: Callable[[str], ParsedNote], target: str, names: set[str]) -> dict[str, tuple[str, ...]]:
    """The headings that the note does not have, with the nearest it has; none if the note was deleted or locked meanwhile."""
    try:
        note = parse(target)
    except VaultError:
        return {}
    return {
        heading: tuple(f"{target}#{near}" for near in sections.similar_headings(heading, note.markup))
        for heading in names
        if sections.find_section(heading, note.text, note.markup) is None
    }
