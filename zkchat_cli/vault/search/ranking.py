"""How well a chunk answers a query. Pure: candidates in, scores out.

BM25 over weighted fields with one saturation (BM25F: Robertson, Zaragoza and Taylor 2004), plus two signals that plain BM25 lacks: words
next to each other as in the query, and links from an outstanding hit. The weights were chosen by measurement on natural questions about an
English and a Chinese vault; those of names may be between 3 and 10 without much difference.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from zkchat_cli.text import words
from zkchat_cli.vault.note_parser import BYTES_PER_TOKEN, estimate_size
from zkchat_cli.vault.search.query import SearchQuery, WordForms, is_part

STOPWORD_RARITY = 0.3  # the rarity of a stopword in a pair of neighbours: "sort by" says more than "sort"
NAME_TERMS = 3
MOST_COMPARED_PAIRWISE = 40  # chunks whose word pairs are compared; later ones would not rise far enough


TITLE = 8.0
ALIASES = 6.0
HEADINGS = 2.0
TAGS = 2.0
ANCHORS = 2.0  # of the aliases of links to the note. More would only overfit queries made from those links.
SATURATION = 1.2
LENGTH = 0.75
NOTE_LENGTH = 0.1
"""The share of the note's length in a chunk's length: of two notes with the same passage, the shorter is more about it."""
NAME_LENGTH = 0.5  # how much less a name counts if it is longer than `NAME_TERMS`: a title that is exactly the query wins
EXACT = 0.65  # the share of words as written in the score; the rest is of words in any form
CHARACTER = 0.5  # the weight of single CJK characters beside bigrams: words of a question and of a note often share only one
ADJACENCY = 0.5


class RankingCandidate(NamedTuple):
    """A chunk of the index, with its place and the size of its note in bytes."""

    id: int
    note_id: int
    title: str
    aliases: str
    tags: str
    anchors: str
    headings: str
    body: str
    note_size: int
    start_line: int
    end_line: int


class Corpus(NamedTuple):
    """Statistics of all chunks: their number, average tokens, number per note, and the document frequency of a query's terms. `known` are
    the terms that have other forms."""

    chunks: int
    chunk_size: float
    chunks_per_note: float
    frequency: Mapping[str, int]
    known: Mapping[str, WordForms]

    def rarity(self, term: str, *, exact: bool = False) -> float:
        """The inverse document frequency, never negative; `exact` is that of the term as written, without its other forms."""
        frequency = self.known[term].exact if exact and term in self.known else self.frequency.get(term, 0)
        frequency = min(frequency, self.chunks)
        return math.log(1 + (self.chunks - frequency + 0.5) / (frequency + 0.5))


_Field = tuple[float, list[str]]  # a weight and the terms of a text


def scores(query: SearchQuery, candidates: Sequence[RankingCandidate], corpus: Corpus) -> tuple[dict[int, float], dict[int, float]]:
    """The scores by id, best first, of the candidates that the query allows and that have a word of it; and the share of the query's words
    that each of them has, weighted by rarity."""
    rarity = {term: corpus.rarity(term) for term in query.terms}
    exact_rarity = {term: corpus.rarity(term, exact=True) for term in query.terms}
    words_by_form = {term: term for term in query.terms}
    words_by_form |= {form: word for word, known in corpus.known.items() for form in known.forms}
    characters = {character: corpus.rarity(character) for character in query.characters}
    written = {*query.terms, *query.order}
    names: dict[int, list[_Field]] = {}
    texts: dict[int, list[_Field]] = {}
    found: dict[int, float] = {}
    shares: dict[int, float] = {}
    for c in candidates:
        if c.note_id not in names:
            names[c.note_id] = _name_fields(c)
        fields = [*names[c.note_id], (HEADINGS, _terms(c.headings)), (1.0, _terms(c.body))]
        if not all(_occurs(phrase, fields) for phrase in query.phrases) or any(_occurs(phrase, fields) for phrase in query.without):
            continue
        # 1 for a chunk of average length in a note of average length
        size = (1 - NOTE_LENGTH) * estimate_size(c.body) + NOTE_LENGTH * c.note_size / BYTES_PER_TOKEN / corpus.chunks_per_note
        length = 1 - LENGTH + LENGTH * size / corpus.chunk_size
        counted, exact = _weighted_counts(fields, words_by_form, written)
        score = (1 - EXACT) * _bm25f(counted, rarity, length)
        score += EXACT * _bm25f(exact, exact_rarity, length)
        if characters:
            # in names they count half: names are short
            texts_of = ((TITLE / 2, c.title), (ALIASES / 2, c.aliases), (HEADINGS, c.headings), (1.0, c.body))
            occurring = {character: sum(weight * text.count(character) for weight, text in texts_of) for character in characters}
            score += CHARACTER * _bm25f(occurring, characters, length)
        if score:
            found[c.id], texts[c.id] = score, fields
            shares[c.id] = sum(rarity[term] for term, n in counted.items() if n) / (sum(rarity.values()) or 1.0)
    ordered = dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
    # word pairs of the query that a chunk has raise its score, by the share `ADJACENCY` if it has all
    pairs = {pair: max(rarity.get(term, STOPWORD_RARITY) for term in pair) for pair in pairwise(query.order)}
    whole = sum(pairs.values())
    for id_ in list(ordered)[:MOST_COMPARED_PAIRWISE] if pairs else ():
        present = {pair for _, terms in texts[id_] for pair in pairwise(terms) if pair in pairs}
        ordered[id_] *= 1 + ADJACENCY * sum(pairs[pair] for pair in sorted(present)) / whole
    return dict(sorted(ordered.items(), key=lambda item: (-item[1], item[0]))), shares


def _terms(text: str) -> list[str]:
    """The terms of a text, and after them the words in "note's" and "l'index"."""
    terms = words.terms(text)
    return terms + [max(term.split("'"), key=len) for term in terms if "'" in term] if "'" in text or "’" in text else terms


def _name_fields(c: RankingCandidate) -> list[_Field]:
    """The fields of the note. Each alias and anchor is a field of its own: no phrase runs across two of them."""
    lines = ((weight, line) for weight, text in ((TITLE, c.title), (ALIASES, c.aliases), (ANCHORS, c.anchors)) for line in text.split("\n"))
    named = ((weight, _terms(line)) for weight, line in lines)
    names = [(weight / (1 - NAME_LENGTH + NAME_LENGTH * len(terms) / NAME_TERMS), terms) for weight, terms in named if terms]
    return [*names, *((TAGS, words.terms(line)) for line in c.tags.split("\n"))]


def _occurs(phrase: tuple[str, ...], fields: list[_Field]) -> bool:
    first, size = phrase[0], len(phrase)
    if size == 1 and is_part(first):
        return any(first in term for _, terms in fields for term in terms)
    wanted = list(phrase)
    return any(term == first and terms[at : at + size] == wanted for _, terms in fields for at, term in enumerate(terms))


def _weighted_counts(
    fields: list[_Field], words_by_form: Mapping[str, str], written: Collection[str]
) -> tuple[dict[str, float], dict[str, float]]:
    """The weighted frequency of each query term in these fields, in any form and as written."""
    counted = dict.fromkeys(words_by_form.values(), 0.0)
    exact = dict(counted)
    for weight, terms in fields:
        for form in words_by_form.keys() & terms:
            weighted = weight * terms.count(form)
            counted[words_by_form[form]] += weighted
            if form in written:
                exact[words_by_form[form]] += weighted
    return counted, exact


def _bm25f(counted: Mapping[str, float], rarity: Mapping[str, float], length: float) -> float:
    return sum(rarity[term] * n * (SATURATION + 1) / (n + SATURATION * length) for term, n in counted.items() if n)
