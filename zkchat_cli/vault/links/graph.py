"""The notes as a graph: shortest paths, and notes related by links and words. Their scores cannot
be compared, so the ranks are fused.

An edge is at least one link between two notes, in any form. Attachments are left out, or one logo
would connect all notes that show it. The graph is never loaded as a whole: a search asks the index
for one ring of notes at a time, so its cost does not grow with the vault.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text import words
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.index.values import LinkRow

if TYPE_CHECKING:
    from zkchat_cli.vault.note_parser import ParsedNote

# A note with more links than this, such as a list of all notes, says nothing about any two of them
MOST_LINKS_OF_A_COMMON_NOTE = 100
MOST_NEIGHBOURS_COMPARED = 200
# Words of a note to search for; more would add frequent words, and a slower search
MOST_KEYWORDS = 16
NAME_WEIGHT = 4
MOST_REASONS = 4
# Of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): these rankings have a few notes,
# not hundreds
RANK_CONSTANT = 10

# CROSS JOIN keeps SQLite from reordering: it does not know the length of a JSON list.
_OUT = """SELECT here.path, links.target FROM json_each(:frontier) AS frontier CROSS JOIN notes AS here ON here.path = frontier.value
          CROSS JOIN links ON links.note_id = here.id CROSS JOIN notes AS there ON there.path = links.target
          WHERE links.target != here.path"""
_IN = """SELECT links.target, there.path FROM json_each(:frontier) AS frontier CROSS JOIN links ON links.target = frontier.value
         CROSS JOIN notes AS there ON there.id = links.note_id WHERE there.path != links.target"""
_EDGES = {"out": _OUT, "in": _IN, "both": f"{_OUT} UNION {_IN}"}


class LinkRelation(NamedTuple):
    """How much a note is related to another, and the reasons as short phrases."""

    score: float
    why: tuple[str, ...]


def shortest_path(
    index: IndexDatabase, source: str, target: str
) -> tuple[list[str], list[LinkRow]] | None:
    """The notes of a shortest path over links in either direction, always the same one, and the
    links between them, one less. The `target` of a link that is followed backwards is the note
    where the step begins. None if there is no path.
    """
    reached_from = {source: source}
    ring = {source: source}
    while ring and target not in reached_from:
        # Of several notes that a note is reached from, the first is left
        edges = sorted(_edges(index, ring, "both"), reverse=True)
        ring = {there: here for here, there in edges if there not in reached_from}
        reached_from |= ring
    if target not in reached_from:
        return None
    notes = [target]
    while notes[0] != source:
        notes.insert(0, reached_from[notes[0]])
    between = "notes.path = ? AND links.target = ?"
    links = [
        (index.link_rows(between, a, b) or index.link_rows(between, b, a))[0]
        for a, b in pairwise(notes)
    ]
    return notes, links


def related_by_links(index: IndexDatabase, path: str, limit: int) -> dict[str, LinkRelation]:
    """The notes linked with `path` in either direction, and those that share neighbours with it,
    most related first. A common neighbour counts less the more links it has (Adamic and Adar 2003),
    a direct link as much as the rarest neighbour.
    """
    linked_from, links_here = (
        {there for _, there in _edges(index, [path], direction)} for direction in ("out", "in")
    )
    near = sorted(linked_from | links_here)[:MOST_NEIGHBOURS_COMPARED]
    edges = sorted(_edges(index, near, "both"))
    degrees = Counter(between for between, _ in edges)
    weights = {
        note: 1 / math.log2(1 + degree)
        for note, degree in degrees.items()
        if degree <= MOST_LINKS_OF_A_COMMON_NOTE
    }
    common: dict[str, list[str]] = {note: [] for note in near}
    for between, note in edges:
        if note != path and between in weights:
            common.setdefault(note, []).append(between)
    relations: dict[str, LinkRelation] = {}
    for note, between_them in common.items():
        shared = sorted(between_them, key=lambda between: (-weights[between], between))
        why = ["it links here"] * (note in links_here) + ["linked from here"] * (
            note in linked_from
        )
        score = len(why) + sum(weights[between] for between in shared)
        why += [f"both linked with {', '.join(shared[:MOST_REASONS])}"] if shared else []
        relations[note] = LinkRelation(score, tuple(why))
    ranked = sorted(relations, key=lambda note: (-relations[note].score, note))
    return {note: relations[note] for note in ranked[:limit]}


def _edges(
    index: IndexDatabase, frontier: Iterable[str], direction: Literal["out", "in", "both"]
) -> set[tuple[str, str]]:
    """Pairs of a note of `frontier` and one that it links to (`out`), that links to it (`in`), or
    either.
    """
    return {
        (here, there)
        for here, there in index.rows(_EDGES[direction], frontier=json.dumps(list(frontier)))
    }


class RelatedNote(NamedTuple):
    """A related note by its best chunk, and the reasons as short phrases."""

    chunk: ContentChunk
    why: tuple[str, ...]


def extract_keywords(note: "ParsedNote") -> list[str]:
    """The most characteristic words of a note, best first. Its names (title, aliases, tags,
    headings) count several times. Search ranks by rarity in the vault; here a long word counts a
    little more, because short ones are seldom rare.
    """
    counted = Counter(words.content_terms(note.body))
    for name in (
        note.title,
        *note.aliases,
        *note.tags,
        *(heading.text for heading in note.markup.headings),
    ):
        counted.update(dict.fromkeys(words.content_terms(name), NAME_WEIGHT))
    weights = {
        term: (1 + math.log(count)) * math.log(1 + len(term))
        for term, count in counted.items()
        if not term.isdigit()
    }
    return sorted(weights, key=lambda term: (-weights[term], term))[:MOST_KEYWORDS]


def related_notes(
    keywords: Sequence[str],
    by_links: Mapping[str, LinkRelation],
    by_words: Iterable[ContentChunk],
    first_chunk: Callable[[str], ContentChunk | None],
) -> Iterator[RelatedNote]:
    """The notes of both rankings, best first, each with its best chunk by words, or else its first;
    a deleted note is left out.
    """
    chunks: dict[str, ContentChunk] = {}
    for chunk in by_words:
        chunks.setdefault(chunk.relative_path, chunk)
    scores: Counter[str] = Counter()
    for ranking in (by_links, chunks):
        scores.update({path: 1 / (RANK_CONSTANT + rank) for rank, path in enumerate(ranking, 1)})
    for path, _ in scores.most_common():
        why = [*by_links[path].why] if path in by_links else []
        if best := chunks.get(path):
            present = set(words.terms(f"{best.title}\n{best.heading or ''}\n{best.text}"))
            if shared := [word for word in keywords if word in present]:
                why.append(
                    f"shares the word{'' if len(shared) == 1 else 's'} "
                    f"{', '.join(shared[:MOST_REASONS])}"
                )
        if found := best or first_chunk(path):
            yield RelatedNote(found, tuple(why or ["means something similar"]))
