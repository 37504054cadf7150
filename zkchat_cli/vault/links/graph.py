"""The notes as a graph: neighbours, shortest paths, orphans, hubs, and notes related by links.

A vertex is a note, an edge at least one link between two notes, in any form (a link, an embed, a front matter property). Broken links and
links of a note to itself are no edges. Attachments are only ends of paths, or one logo would connect all notes that show it.

The graph is never loaded as a whole: a search asks the index for one ring of notes at a time, so its cost does not grow with the vault.
Answers depend on the notes alone, never on the order in which they were indexed.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from zkchat_cli.vault.index.database import IndexDatabase, LinkRow

Direction = Literal["out", "in", "both"]
"""Along links, against them, or both."""

MOST_LINKS_OF_A_COMMON_NOTE = 100
"""A note with more links than this, such as a list of all notes, says nothing about any two of them."""
MOST_NEIGHBOURS_COMPARED = 200


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note and its distance in links."""

    path: str
    distance: int


@dataclass(frozen=True, slots=True)
class LinkPath:
    """The notes of a path with both ends, and the links between them in order, one less.

    A step against a link's direction has that link: its `target` is the note where the step begins.
    """

    notes: tuple[str, ...]
    links: tuple[LinkRow, ...]


@dataclass(frozen=True, slots=True)
class Hub:
    """A note, the number of notes that link to it, and the number it links to."""

    path: str
    linked_from: int
    links_to: int


@dataclass(frozen=True, slots=True)
class LinkKinship:
    """A note related to another: linked from it, linking to it, or with `common` neighbours, the most specific first."""

    path: str
    score: float
    linked_from: bool
    links_here: bool
    common: tuple[str, ...]


def neighbours(index: IndexDatabase, path: str, depth: int, direction: Direction, limit: int) -> list[Neighbour]:
    """The notes at most `depth` links away from `path`, nearest first and then by path."""
    search = _BreadthFirstSearch(path, direction)
    found: list[Neighbour] = []
    for distance in range(1, depth + 1):
        if not search.advance(index):
            break
        found += [Neighbour(near, distance) for near in search.frontier]
        if len(found) >= limit:
            break
    return found[: max(limit, 0)]


def shortest_path(index: IndexDatabase, source: str, target: str, *, directed: bool) -> LinkPath | None:
    """A shortest path from `source` to `target`, always the same one; None if there is none.

    The search goes from both ends, the smaller ring first: of 100 000 notes it sees a thousand.
    """
    ends = (source, target)
    here = _BreadthFirstSearch(source, "out" if directed else "both", ends)
    there = _BreadthFirstSearch(target, "in" if directed else "both", ends)
    met = here.parents.keys() & there.parents.keys()
    while not met:
        smaller, other = (here, there) if len(here.frontier) <= len(there.frontier) else (there, here)
        if not smaller.advance(index):
            return None
        met = other.parents.keys() & smaller.frontier  # rings are complete: all notes in both are equally far
    middle = min(met)
    notes = (*reversed(here.trace(middle)), *there.trace(middle)[1:])
    return LinkPath(notes, tuple(_link_between(index, a, b, directed=directed) for a, b in pairwise(notes)))


def orphans(index: IndexDatabase, *, linking: bool) -> list[str]:
    """The notes without links to or from other notes, by path; with `linking`, all that no other note links to."""
    rows = index.rows(
        """SELECT path FROM notes
           WHERE NOT EXISTS (SELECT 1 FROM links WHERE links.target = notes.path AND links.note_id != notes.id)
             AND (? OR NOT EXISTS (SELECT 1 FROM links JOIN notes AS other ON other.path = links.target
                                   WHERE links.note_id = notes.id AND other.id != notes.id))
           ORDER BY path""",
        linking,
    )
    return [str(path) for (path,) in rows]


def hubs(index: IndexDatabase, limit: int) -> list[Hub]:
    """The notes that most other notes link to; equal ones by path."""
    rows = index.rows(
        """SELECT hub.path, hub.linked_from, (SELECT COUNT(DISTINCT other.id) FROM links JOIN notes AS other ON other.path = links.target
                                              WHERE links.note_id = hub.id AND other.id != hub.id)
           FROM (SELECT notes.id, notes.path, COUNT(DISTINCT links.note_id) AS linked_from
                 FROM links JOIN notes ON notes.path = links.target WHERE links.note_id != notes.id
                 GROUP BY notes.id ORDER BY linked_from DESC, notes.path LIMIT ?) AS hub
           ORDER BY hub.linked_from DESC, hub.path""",
        max(limit, 0),
    )
    return [Hub(*row) for row in rows]


def related_by_links(index: IndexDatabase, path: str, limit: int) -> list[LinkKinship]:
    """The notes linked with `path` in either direction, and those that share neighbours with it, most related first.

    A common neighbour counts less the more links it has (Adamic and Adar 2003), a direct link as much as the rarest neighbour.
    """
    linked_from, links_here = (_adjacent(index, [path], direction).keys() - {path} for direction in ("out", "in"))
    near = sorted(linked_from | links_here)[:MOST_NEIGHBOURS_COMPARED]
    weights = {note: 1 / math.log2(1 + degree) for note, degree in _degrees(index, near).items() if degree <= MOST_LINKS_OF_A_COMMON_NOTE}
    common: dict[str, list[str]] = {note: [] for note in near}
    for between, note in sorted(_edges(index, weights, "both")):
        if note != path:
            common.setdefault(note, []).append(between)

    def kinship(note: str) -> LinkKinship:
        shared = sorted(common[note], key=lambda between: (-weights[between], between))
        score = (note in linked_from) + (note in links_here) + sum(weights[between] for between in shared)
        return LinkKinship(note, score, note in linked_from, note in links_here, tuple(shared))

    return sorted(map(kinship, common), key=lambda k: (-k.score, k.path))[: max(limit, 0)]


@dataclass(slots=True)
class _BreadthFirstSearch:
    """The newest ring of notes, and every note seen with the one it was reached from; attachments are seen only as `ends`."""

    start: str
    direction: Direction
    ends: tuple[str, ...] = ()
    parents: dict[str, str | None] = field(init=False)
    frontier: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.parents, self.frontier = {self.start: None}, [self.start]

    def advance(self, index: IndexDatabase) -> bool:
        """One ring further; False when there are no more notes."""
        reached = _adjacent(index, self.frontier, self.direction, self.ends)
        self.frontier = sorted(reached.keys() - self.parents.keys())
        self.parents.update((note, reached[note]) for note in self.frontier)
        return bool(self.frontier)

    def trace(self, note: str) -> list[str]:
        """The path from `note` back to the start."""
        back: list[str] = []
        at: str | None = note
        while at is not None:
            back.append(at)
            at = self.parents[at]
        return back


def _adjacent(index: IndexDatabase, frontier: Iterable[str], direction: Direction, ends: tuple[str, ...] = ()) -> dict[str, str]:
    """The notes one link away from those of `frontier`, each with the first of them that it is linked with."""
    reached: dict[str, str] = {}
    for here, there in sorted(_edges(index, frontier, direction, ends)):
        reached.setdefault(there, here)
    return reached


def _edges(index: IndexDatabase, frontier: Iterable[str], direction: Direction, ends: tuple[str, ...] = ()) -> set[tuple[str, str]]:
    """Pairs of a note of `frontier` and a linked note; an attachment only if it is one of `ends`.

    CROSS JOIN keeps SQLite from reordering: it does not know the length of a JSON list.
    """
    starts = json.dumps(list(frontier))
    pairs: set[tuple[str, str]] = set()
    if direction != "in":
        pairs.update(
            index.rows(
                """SELECT DISTINCT here.path, links.target
                   FROM json_each(?) AS frontier CROSS JOIN notes AS here ON here.path = frontier.value
                   CROSS JOIN links ON links.note_id = here.id
                   WHERE links.target != here.path
                     AND (links.target IN (SELECT value FROM json_each(?))
                          OR EXISTS (SELECT 1 FROM notes WHERE notes.path = links.target))""",
                starts,
                json.dumps(ends),
            )
        )
    if direction != "out":
        pairs.update(
            index.rows(
                """SELECT DISTINCT links.target, there.path
                   FROM json_each(?) AS frontier CROSS JOIN links ON links.target = frontier.value
                   CROSS JOIN notes AS there ON there.id = links.note_id
                   WHERE there.path != links.target""",
                starts,
            )
        )
    return pairs


def _degrees(index: IndexDatabase, notes: list[str]) -> dict[str, int]:
    """The number of links of each note, in and out. Counted by SQLite, so that a hub costs no more than another note."""
    rows = index.rows(
        """SELECT notes.path, (SELECT COUNT(*) FROM links WHERE target = notes.path) + (SELECT COUNT(*) FROM links WHERE note_id = notes.id)
           FROM json_each(?) AS wanted CROSS JOIN notes ON notes.path = wanted.value""",
        json.dumps(notes),
    )
    return {str(path): max(1, degree) for path, degree in rows}


def _link_between(index: IndexDatabase, here: str, there: str, *, directed: bool) -> LinkRow:
    """The first link from `here` to `there`, or (unless `directed`) from `there` to `here`."""
    between = "notes.path = ? AND links.target = ?"
    rows = index.link_rows(between, here, there)
    return (rows if rows or directed else index.link_rows(between, there, here))[0]
