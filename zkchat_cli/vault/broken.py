"""Links that lead nowhere, with what they may have meant.

A vault of 100 000 broken links must not take minutes. So nearest names are looked for once per different name, in the order of the links,
and not for more than `most` names; and each note whose headings links name is read once.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from zkchat_cli.errors import VaultError
from zkchat_cli.vault import sections
from zkchat_cli.vault.index import Index, LinkRow
from zkchat_cli.vault.markdown import ParsedNote


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A link without a target and the paths it may have meant; or one whose note exists (`target`) but not the heading or block that it
    names, with `path#heading` of what it may have meant."""

    row: LinkRow
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BrokenLinks:
    """All of them, by source and line. `names` counts the different names that lead nowhere, `looked_up` those that got candidates."""

    links: tuple[BrokenLink, ...]
    names: int
    looked_up: int


def notes(index: Index, nearest: Callable[[str], tuple[str, ...]], most: int) -> BrokenLinks:
    """Links to notes and files that do not exist; `nearest` finds the paths a name may have meant."""
    rows = index.broken()
    texts: dict[str, str] = dict(index.rows("SELECT DISTINCT raw, text FROM links WHERE status = 'broken'"))
    names = list(dict.fromkeys(texts[row.raw] for row in rows))
    near = {name: nearest(name) for name in names[:most]}
    links = tuple(BrokenLink(row, near.get(texts[row.raw], ())) for row in rows)
    return BrokenLinks(links, len(names), len(near))


def headings(index: Index, parsed: Callable[[str], ParsedNote]) -> list[BrokenLink]:
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
        heading: tuple(f"{target}#{near}" for near in sections.nearest(heading, note.markup))
        for heading in named
        if sections.lines_of(heading, note.text, note.markup) is None
    }
