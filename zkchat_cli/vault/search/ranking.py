"""How well a chunk answers a query. Pure: texts in, an order out; which chunks are worth a look is decided elsewhere.

BM25 over weighted fields with one saturation (BM25F: Robertson, Zaragoza and Taylor 2004), plus two things that plain BM25 cannot see:
words that stand beside each other as they do in the query, and the links of a hit that stands out. What each of them, and each field,
contributes is measured by `tests/bench/ablation.py`.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from zkchat_cli.text import words
from zkchat_cli.vault.search.query import SearchQuery, is_part

COMMON = 0.3
"""The rarity of a stopword, for pairs of neighbours only: "sort by" tells more than "sort"."""
NAME_TERMS = 3
CLOSER_LOOK = 40
"""Chunks whose neighbouring words are compared; further down, nothing would come up far enough."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Weights of the fields and of everything else that can be turned off, chosen by measurement on an English and a Chinese vault.

    Between 3 and 10 for the names little changes. `anchors` are the texts of links that point to a note: more weight would only flatter
    queries that were made from those links.
    """

    title: float = 8.0
    aliases: float = 6.0
    headings: float = 5.0
    tags: float = 2.0
    anchors: float = 2.0
    body: float = 1.0
    saturation: float = 1.2
    length: float = 0.75
    note_length: float = 0.1
    """How much of a chunk's length is that of its note: of two notes that say the same, the shorter one is more about it."""
    name_length: float = 0.5
    """How much a name counts less for being longer than `NAME_TERMS`: of two titles with the word asked for, the one that is just that."""
    adjacency: float = 0.3
    link: float = 0.3
    standing_out: int = 5
    """A hit lends its linked notes only what it has over the hit in this place (from 0): no hit that stands out, no loan."""


RANKING = Ranking()


class RankingCandidate(NamedTuple):
    """A chunk as the index holds it. `size` and `note_size` in the same unit, whatever it is, as `Corpus.chunk_size`."""

    id: int
    note_id: int
    title: str
    aliases: str
    tags: str
    anchors: str
    headings: str
    body: str
    size: float
    note_size: float


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is known of all chunks: how many, how large on average, how many of them to a note, and in how many a term stands."""

    chunks: int
    chunk_size: float
    chunks_a_note: float
    frequency: Mapping[str, int] = field(default_factory=dict)

    def rarity(self, term: str) -> float:
        """The inverse document frequency, never negative."""
        frequency = min(self.frequency.get(term, 0), self.chunks)
        return math.log(1 + (self.chunks - frequency + 0.5) / (frequency + 0.5))


class _Field(NamedTuple):
    weight: float
    terms: list[str]


def scores(query: SearchQuery, candidates: Sequence[RankingCandidate], corpus: Corpus, ranking: Ranking = RANKING) -> dict[int, float]:
    """The score of each candidate that the query allows, by its id, best first. Candidates without a word of the query are left out."""
    rarity = {term: corpus.rarity(term) for term in query.terms}
    names: dict[int, list[_Field]] = {}
    texts: dict[int, list[_Field]] = {}
    found: dict[int, float] = {}
    for c in candidates:
        if c.note_id not in names:
            names[c.note_id] = _names(c, ranking)
        own = [_Field(ranking.headings, words.terms(c.headings)), _Field(ranking.body, words.terms(c.body))]
        fields = [*names[c.note_id], *own]
        if _refused(query, fields):
            continue
        score = _bm25f(_weighted(fields, rarity), rarity, _length(c, corpus, ranking), ranking.saturation)
        if score or not query.terms:
            found[c.id], texts[c.id] = score, fields
    ordered = dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
    if ranking.adjacency:
        _raise_neighbours(ordered, texts, query.order, rarity, ranking.adjacency)
    return dict(sorted(ordered.items(), key=lambda item: (-item[1], item[0])))


def neighbour_boost(best: Sequence[tuple[int, float]], links: Mapping[int, Iterable[int]], ranking: Ranking = RANKING) -> dict[int, float]:
    """What notes gain by being linked from the best hits: `best` are (note, score), best first, `links` the notes their chunks link to."""
    if not best or not ranking.link:
        return {}
    common = best[min(ranking.standing_out, len(best) - 1)][1] if ranking.standing_out else 0.0
    gained: dict[int, float] = defaultdict(float)
    for note, score in best:
        for target in links.get(note, ()):
            if target != note and score > common:
                gained[target] = max(gained[target], ranking.link * (score - common))
    return dict(gained)


def _names(c: RankingCandidate, ranking: Ranking) -> list[_Field]:
    """What all chunks of a note have in common. Aliases and anchors are names each: no phrase runs from one into the next."""
    lines = [(ranking.title, c.title), *((ranking.aliases, line) for line in c.aliases.split("\n"))]
    lines += [(ranking.anchors, line) for line in c.anchors.split("\n")]
    named = ((weight, words.terms(line)) for weight, line in lines if weight)
    long = ranking.name_length
    names = [_Field(weight / (1 - long + long * len(terms) / NAME_TERMS), terms) for weight, terms in named if terms]
    return [*names, *(_Field(ranking.tags, words.terms(line)) for line in c.tags.split("\n"))]


def _refused(query: SearchQuery, fields: list[_Field]) -> bool:
    """Whether a phrase that must occur does not, or one that must not does."""
    return any(not _occurs(phrase, fields) for phrase in query.phrases) or any(_occurs(phrase, fields) for phrase in query.without)


def _occurs(phrase: tuple[str, ...], fields: list[_Field]) -> bool:
    first, size = phrase[0], len(phrase)
    if size == 1 and is_part(first):
        return any(first in term for _, terms in fields for term in terms)
    wanted = list(phrase)
    return any(term == first and terms[at : at + size] == wanted for _, terms in fields for at, term in enumerate(terms))


def _weighted(fields: list[_Field], rarity: Mapping[str, float]) -> dict[str, float]:
    """How often each word of the query stands in these fields, by their weights."""
    counted = dict.fromkeys(rarity, 0.0)
    for weight, terms in fields:
        for term in terms:
            if term in counted:
                counted[term] += weight
    for part in filter(is_part, rarity):
        counted[part] = sum(weight for weight, terms in fields for at, term in enumerate(terms) if _has(part, terms, at))
    return counted


def _has(part: str, terms: list[str], at: int) -> bool:
    """Whether the term at `at` has that character, and no other does for the same place in the text: it begins with it, or ends a run."""
    term = terms[at]
    return term[0] == part or (term[-1] == part and (at + 1 == len(terms) or terms[at + 1][0] != part))


def _bm25f(counted: Mapping[str, float], rarity: Mapping[str, float], length: float, saturation: float) -> float:
    return sum(rarity[term] * n * (saturation + 1) / (n + saturation * length) for term, n in counted.items() if n)


def _length(c: RankingCandidate, corpus: Corpus, ranking: Ranking) -> float:
    """1 for a chunk of average length in a note of average length."""
    share = ranking.note_length
    size = (1 - share) * c.size + share * c.note_size / corpus.chunks_a_note
    return 1 - ranking.length + ranking.length * size / corpus.chunk_size


def _raise_neighbours(
    ordered: dict[int, float], texts: Mapping[int, list[_Field]], order: Sequence[str], rarity: Mapping[str, float], most: float
) -> None:
    """Words that are neighbours in the query and in a chunk raise its score, by `most` (a share of it) when all of them are."""
    pairs = {pair: max(rarity.get(term, COMMON) for term in pair) for pair in pairwise(order)}
    whole = sum(pairs.values())
    for id_ in list(ordered)[:CLOSER_LOOK] if pairs else ():
        present = {pair for _, terms in texts[id_] for pair in pairwise(terms) if pair in pairs}
        ordered[id_] *= 1 + most * sum(pairs[pair] for pair in sorted(present)) / whole
