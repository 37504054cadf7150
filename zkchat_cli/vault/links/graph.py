"""The notes as a graph: what is near a note, how two notes hang together, which stand alone, which everything leads to.

Its points are notes, its lines the links between two different ones, however often and in whatever form one links to the other (a link,
an embed, a property in the front matter). A broken link joins nothing, nor does a link of a note to itself. An attachment is no point on
a way, or one logo would join all notes that show it; but one may ask what is around an attachment, or for the way to it.

Nothing is loaded as a whole: a search asks the index for one ring of notes at a time, so that what it costs grows with what it sees and
not with the vault. Answers depend on the notes alone, never on the order in which they were indexed.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from zkchat_cli.vault.index.database import IndexDatabase, LinkRow

Direction = Literal["out", "in", "both"]
"""Along links, against them, or either way."""

MOST_LINKS_OF_A_COMMON_NOTE = 100
"""A note that links to, or is linked from, more notes than this says nothing about any two of them (a daily index, a list of all)."""
MOST_NEIGHBOURS_COMPARED = 200


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note, and how many links it is away."""

    path: str
    distance: int


@dataclass(frozen=True, slots=True)
class LinkPath:
    """The notes on a way, both ends included, and for each step the link that makes it: one less, in the same order.

    A step against a link's direction has the link as it stands, so that its `target` is the note the step comes from.
    """

    notes: tuple[str, ...]
    links: tuple[LinkRow, ...]


@dataclass(frozen=True, slots=True)
class Hub:
    """A note with how many other notes link to it, and to how many it links."""

    path: str
    linked_from: int
    links_to: int


@dataclass(frozen=True, slots=True)
class LinkKinship:
    """A note that links relate to another: linked from it, linking to it, or sharing `common` neighbours with it, telling ones first."""

    path: str
    score: float
    linked_from: bool
    links_here: bool
    common: tuple[str, ...]


def neighbours(index: IndexDatabase, path: str, depth: int, direction: Direction, limit: int) -> list[Neighbour]:
    """The notes at most `depth` links away from `path`, each once at its least distance, nearest first and then by path."""
    way = _Path(path, direction)
    found: list[Neighbour] = []
    for distance in range(1, depth + 1):
        if not way.advance(index):
            break
        found += [Neighbour(near, distance) for near in way.frontier]
        if len(found) >= limit:
            break
    return found[: max(limit, 0)]


def shortest_path(index: IndexDatabase, source: str, target: str, *, directed: bool) -> LinkPath | None:
    """A shortest way from `source` to `target`, always the same one; None when there is none.

    The search goes from both ends, the smaller ring first: in a vault of 100 000 notes that is a thousand notes seen instead of all.
    """
    here, there = _Path(source, "out" if directed else "both"), _Path(target, "in" if directed else "both")
    ends = (source, target)
    met = here.parents.keys() & there.parents.keys()
    while not met:
        smaller, other = (here, there) if len(here.frontier) <= len(there.frontier) else (there, here)
        if not smaller.advance(index, ends):
            return None
        met = other.parents.keys() & smaller.frontier  # rings are whole: all notes met are equally far
    middle = min(met)
    notes = (*reversed(here.trace(middle)), *there.trace(middle)[1:])
    return LinkPath(notes, tuple(_link_between(index, a, b, directed=directed) for a, b in pairwise(notes)))


def orphans(index: IndexDatabase, *, linking: bool) -> list[str]:
    """The notes that no other note links to and that link to none, by path; with `linking`, also those that do link to others."""
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
    """The notes that most other notes link to, by path where equal; none that nothing links to."""
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


def kin(index: IndexDatabase, path: str, limit: int) -> list[LinkKinship]:
    """The notes that links make most related to `path`: those linked either way, and those that share neighbours with it.

    A common neighbour counts the less the more links it has (Adamic and Adar 2003), a direct link as much as the rarest common one.
    """
    linked_from, links_here = (_reached(index, [path], direction).keys() - {path} for direction in ("out", "in"))
    near = sorted(linked_from | links_here)[:MOST_NEIGHBOURS_COMPARED]
    weights = {note: 1 / math.log2(1 + degree) for note, degree in _degrees(index, near).items() if degree <= MOST_LINKS_OF_A_COMMON_NOTE}
    common: dict[str, list[str]] = {note: [] for note in near}
    for between, note in sorted(_lines(index, weights, "both")):
        if note != path:
            common.setdefault(note, []).append(between)

    def kin_by(note: str) -> LinkKinship:
        shared = sorted(common[note], key=lambda between: (-weights[between], between))
        score = (note in linked_from) + (note in links_here) + sum(weights[between] for between in shared)
        return LinkKinship(note, score, note in linked_from, note in links_here, tuple(shared))

    return sorted(map(kin_by, common), key=lambda k: (-k.score, k.path))[: max(limit, 0)]


@dataclass(slots=True)
class _Path:
    """A breadth first search: its newest ring, and every note it has seen with the one it came from."""

    start: str
    direction: Direction
    parents: dict[str, str | None] = field(init=False)
    frontier: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.parents, self.frontier = {self.start: None}, [self.start]

    def advance(self, index: IndexDatabase, ends: tuple[str, ...] = ()) -> bool:
        """One ring further; False when there is nothing more to see."""
        reached = _reached(index, self.frontier, self.direction, ends)
        self.frontier = sorted(reached.keys() - self.parents.keys())
        self.parents.update((note, reached[note]) for note in self.frontier)
        return bool(self.frontier)

    def trace(self, note: str) -> list[str]:
        """The way from `note` back to where the search began."""
        back: list[str] = []
        at: str | None = note
        while at is not None:
            back.append(at)
            at = self.parents[at]
        return back


def _reached(index: IndexDatabase, frontier: Iterable[str], direction: Direction, ends: tuple[str, ...] = ()) -> dict[str, str]:
    """What is one link away from the notes of `frontier`, each with the first of them that it is joined with."""
    reached: dict[str, str] = {}
    for here, there in sorted(_lines(index, frontier, direction, ends)):
        reached.setdefault(there, here)
    return reached


def _lines(index: IndexDatabase, frontier: Iterable[str], direction: Direction, ends: tuple[str, ...] = ()) -> set[tuple[str, str]]:
    """Pairs of a note of `frontier` and a note that a link joins it with; an attachment only if it is one of `ends`.

    CROSS JOIN keeps SQLite from reordering: it knows nothing of the length of a JSON list.
    """
    places = json.dumps(list(frontier))
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
                places,
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
                places,
            )
        )
    return pairs


def _degrees(index: IndexDatabase, notes: list[str]) -> dict[str, int]:
    """How many links each note has, in and out, whatever they are; only counted, so that a hub costs no more than another."""
    rows = index.rows(
        """SELECT notes.path, (SELECT COUNT(*) FROM links WHERE target = notes.path) + (SELECT COUNT(*) FROM links WHERE note_id = notes.id)
           FROM json_each(?) AS wanted CROSS JOIN notes ON notes.path = wanted.value""",
        json.dumps(notes),
    )
    return {str(path): max(1, degree) for path, degree in rows}


def _link_between(index: IndexDatabase, here: str, there: str, *, directed: bool) -> LinkRow:
    """The first link from `here` to `there`, else (not `directed`) from `there` to `here`."""
    rows = _links(index, here, there)
    return (rows if rows or directed else _links(index, there, here))[0]


def _links(index: IndexDatabase, source: str, target: str) -> list[LinkRow]:
    return index.link_rows("notes.path = ? AND links.target = ?", source, target)
