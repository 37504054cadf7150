"""The notes as a graph: shortest paths, and notes related by links and words. Their scores cannot
be compared, so the ranks are fused.

An edge is at least one link between two notes, in any form. Attachments are left out, or one logo
would connect all notes that show it. The graph is never loaded as a whole: a search asks the index
for one ring of notes at a time, so its cost does not grow with the vault.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text import words
from zkchat_cli.text.literals import is_literal
from zkchat_cli.vault.index.values import LinkEdge, LinkRow

if TYPE_CHECKING:
    from zkchat_cli.vault.index.port import NoteIndex
    from zkchat_cli.vault.note_parser import ParsedNote

# A note with more links than this, such as a list of all notes, says nothing about any two of them
MOST_LINKS_OF_A_COMMON_NOTE = 100
MOST_NEIGHBOURS_COMPARED = 200
# Words of a note to search for; more would add frequent words, and a slower search
MOST_KEYWORDS = 16
NAME_WEIGHT = 4
MOST_REASONS = 4
# The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): these rankings have a
# few notes, not hundreds
RANK_CONSTANT = 10


class LinkRelation(NamedTuple):
    """How much a note is related to another, and the reasons as short phrases."""

    score: float
    why: tuple[str, ...]


class LinkPath(NamedTuple):
    """The notes of a path over links, and the links between them, one less. The `target` of a link
    that is followed backwards is the note where the step begins.
    """

    notes: list[str]
    links: list[LinkRow]


def shortest_path(index: "NoteIndex", source: str, target: str) -> LinkPath | None:
    """A shortest path over links in either direction, always the same one; None without one."""
    reached_from = {source: source}
    ring = {source: source}
    while ring and target not in reached_from:
        # If a note is reached from several notes, the first is kept
        edges = sorted(index.links.edges(list(ring), "both"), reverse=True)
        ring = {there: here for here, there in edges if there not in reached_from}
        reached_from |= ring
    if target not in reached_from:
        return None
    notes = [target]
    while notes[0] != source:
        notes.insert(0, reached_from[notes[0]])
    links = [
        (index.links.links_between(a, b) or index.links.links_between(b, a))[0]
        for a, b in pairwise(notes)
    ]
    return LinkPath(notes, links)


def related_by_links(index: "NoteIndex", path: str, limit: int) -> dict[str, LinkRelation]:
    """The notes linked with `path` in either direction, and those that share neighbours with it,
    most related first. A common neighbour counts less the more links it has (Adamic and Adar 2003),
    a direct link as much as the rarest neighbour.
    """
    linked_from = {edge.there for edge in index.links.edges([path], "out")}
    links_here = {edge.there for edge in index.links.edges([path], "in")}
    near = sorted(linked_from | links_here)[:MOST_NEIGHBOURS_COMPARED]
    edges = sorted(index.links.edges(near, "both"))
    weights = _neighbour_weights(edges)
    # The notes between each of these and the note; none for those that are only linked directly
    common: dict[str, list[str]] = {note: [] for note in near}
    for between, note in edges:
        if between in weights:
            common.setdefault(note, []).append(between)
    common.pop(path, None)
    relations: dict[str, LinkRelation] = {}
    for note, between_them in common.items():
        direct = ["it links here"] if note in links_here else []
        direct += ["linked from here"] if note in linked_from else []
        relations[note] = _relation(direct, between_them, weights)
    ranked = sorted(relations, key=lambda note: (-relations[note].score, note))
    return {note: relations[note] for note in ranked[:limit]}


def _relation(
    direct: list[str], between: Iterable[str], weights: Mapping[str, float]
) -> LinkRelation:
    """The relation of a note that is linked directly for these reasons, and with the notes
    `between` it and the other one.
    """
    shared = sorted(between, key=lambda note: (-weights[note], note))
    score = len(direct) + sum(weights[note] for note in shared)
    if not shared:
        return LinkRelation(score, tuple(direct))
    common = f"both linked with {', '.join(shared[:MOST_REASONS])}"
    return LinkRelation(score, (*direct, common))


def _neighbour_weights(edges: Iterable[LinkEdge]) -> dict[str, float]:
    """How much each neighbour says about two notes that are linked with it."""
    degrees = Counter(edge.here for edge in edges)
    weights: dict[str, float] = {}
    for note, degree in degrees.items():
        if degree <= MOST_LINKS_OF_A_COMMON_NOTE:
            weights[note] = 1 / math.log2(1 + degree)
    return weights


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
    headings = [heading.text for heading in note.markup.headings]
    for name in (note.title, *note.aliases, *note.tags, *headings):
        counted.update(dict.fromkeys(words.content_terms(name), NAME_WEIGHT))
    weights: dict[str, float] = {}
    for term, count in counted.items():
        if not (term.isdigit() or is_literal(term)):
            weights[term] = (1 + math.log(count)) * math.log(1 + len(term))
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
        why = list(by_links[path].why) if path in by_links else []
        best = chunks.get(path)
        if best:
            why += _shared_words(keywords, best)
        shown = best or first_chunk(path)
        if shown:
            yield RelatedNote(shown, tuple(why or ["means something similar"]))


def _shared_words(keywords: Sequence[str], chunk: ContentChunk) -> list[str]:
    """The reason that a chunk has some of the keywords, if it has any."""
    present = set(words.terms(f"{chunk.title}\n{chunk.heading or ''}\n{chunk.text}"))
    shared = [word for word in keywords if word in present]
    if not shared:
        return []
    noun = "word" if len(shared) == 1 else "words"
    return [f"shares the {noun} {', '.join(shared[:MOST_REASONS])}"]
