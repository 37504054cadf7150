"""Links that lead nowhere, with what they may have meant.

A vault of 100 000 broken links must not take minutes. So nearest names are looked for once per different name, in the order of the links,
and not for more than `most` names; and each note whose headings links name is read once.
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
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, stem
from zkchat_cli.vault.note_parser import ParsedNote

LEAST_SURE, LEAST_AHEAD = 0.85, 0.08
"""How like its name a link must be, and by how much more than the next one's, to mean a note without doubt."""
MOST_COMPARED = 200
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A link without a target and the paths it may have meant; or one whose note exists (`target`) but not the heading or block that it
    names, with `path#heading` of what it may have meant."""

    row: LinkRow
    candidates: tuple[str, ...] = ()
    text: str = ""
    """The target as it is written."""


@dataclass(frozen=True, slots=True)
class BrokenLinks:
    """All of them, by source and line. `names` counts the different names that lead nowhere, `looked_up` those that got candidates."""

    links: tuple[BrokenLink, ...]
    names: int
    looked_up: int


def notes(index: IndexDatabase, nearest: Callable[[str], tuple[str, ...]], most: int) -> BrokenLinks:
    """Links to notes and files that do not exist; `nearest` finds the paths a name may have meant."""
    rows = index.broken()
    texts: dict[str, str] = dict(index.rows("SELECT DISTINCT raw, text FROM links WHERE status = 'broken'"))
    names = list(dict.fromkeys(texts[row.raw] for row in rows))
    near = {name: nearest(name) for name in names[:most]}
    links = tuple(BrokenLink(row, near.get(texts[row.raw], ()), texts[row.raw]) for row in rows)
    return BrokenLinks(links, len(names), len(near))


def surely_meant(text: str, candidates: Sequence[str]) -> str | None:
    """The one of the notes nearest to a target that it means beyond reasonable doubt, if there is such a one.

    Its name is the same but for case, accents, punctuation and folders, or nearly so and far nearer than the next one's. Other digits are
    another name: the notes of two days differ by no more.
    """
    wanted = _plain(text)
    if not wanted or (PurePosixPath(text).suffix.lower() not in ("", *NOTE_SUFFIXES) and _EXTENSION.search(text)):
        return None  # a picture and the like
    same = [path for path in candidates if _plain(path) == wanted]
    if same:
        return same[0] if len(same) == 1 else None
    likeness = sorted(((_likeness(wanted, _plain(path)), path) for path in candidates), reverse=True)
    first, second = (*likeness, (0.0, ""), (0.0, ""))[:2]
    near = first[0] >= LEAST_SURE and first[0] - second[0] >= LEAST_AHEAD
    return first[1] if near and _digits(wanted) == _digits(_plain(first[1])) else None


def _plain(name: str) -> str:
    return "".join(c for c in words.fold(stem(name)) if c.isalnum())[:MOST_COMPARED]


def _digits(name: str) -> str:
    return "".join(c for c in name if c.isdigit())


def _likeness(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()


def headings(index: IndexDatabase, parsed: Callable[[str], ParsedNote]) -> list[BrokenLink]:
    """Links to notes that exist, to headings and blocks that do not, by source and line. `parsed` reads a note as it is now."""
    rows = index.link_rows("links.heading IS NOT NULL AND links.target IN (SELECT path FROM notes)")
    wanted: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        wanted[str(row.target)].add(str(row.heading))
    missing = {target: _missing(parsed, target, named) for target, named in wanted.items()}
    return [BrokenLink(row, near) for row in rows if (near := missing[str(row.target)].get(str(row.heading))) is not None]


def _missing(parsed: Callable[[str], ParsedNote], target: str, named: set[str]) -> dict[str, tuple[str, ...]]:
    """Those of the named headings that the note has not, with the nearest it has; none of a note that went or was locked meanwhile."""
    try:
        note = parsed(target)
    except VaultError:
        return {}
    return {
        heading: tuple(f"{target}#{near}" for near in sections.similar_headings(heading, note.markup))
        for heading in named
        if sections.find_section(heading, note.text, note.markup) is None
    }
