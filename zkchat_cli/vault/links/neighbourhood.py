"""The notes near some notes, with the links between all of them, for drawing a part of the vault.

The graph is never loaded as a whole: the index gives one ring of notes at a time, and the links of
the notes that the drawing shows.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from zkchat_cli.vault.index.port import NoteIndex


class NoteLink(NamedTuple):
    """A link from one note to another; `target` of a broken one is what was written."""

    source: str
    target: str


class Neighbourhood(NamedTuple):
    """Notes with their distances from the nearest starting note, nearest first, the links between
    them, each with its number, and the broken links in them. `omitted` counts the neighbours that
    were found and left out because of the limit.
    """

    distances: dict[str, int]
    links: Counter[NoteLink]
    broken: Counter[NoteLink]
    omitted: int


def find_neighbourhood(
    index: "NoteIndex", starts: Iterable[str], depth: int, limit: int
) -> Neighbourhood:
    """The notes that are at most `depth` links, in either direction, from one of `starts`: at most
    `limit`, starts included. Of a ring that does not fit, the notes with most neighbours in the
    ring before come first. A start without a file is left out.
    """
    found = [path for path in dict.fromkeys(starts) if index.names.has_file(path)]
    distances = dict.fromkeys(found[:limit], 0)
    omitted = len(found) - len(distances)
    ring = list(distances)
    for distance in range(1, depth + 1):
        edges = index.links.edges(ring, "both")
        neighbours = Counter(edge.there for edge in edges if edge.there not in distances)
        ranked = sorted(neighbours, key=lambda path: (-neighbours[path], path))
        ring = ranked[: limit - len(distances)]
        omitted += len(ranked) - len(ring)
        distances.update(dict.fromkeys(ring, distance))
        if not ring:
            break
    links, broken = _count_links(index, distances)
    return Neighbourhood(distances, links, broken, omitted)


def _count_links(
    index: "NoteIndex", notes: Collection[str]
) -> tuple[Counter[NoteLink], Counter[NoteLink]]:
    """The links between these notes, and the broken ones in them."""
    links: Counter[NoteLink] = Counter()
    broken: Counter[NoteLink] = Counter()
    for path in notes:
        for row in index.links.links_from(path):
            if row.target is None:
                broken[NoteLink(path, row.raw)] += 1
            elif row.target in notes and row.target != path:
                links[NoteLink(path, row.target)] += 1
    return links, broken
