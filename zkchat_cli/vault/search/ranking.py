"""How well a chunk answers the words of a query. Pure.

Scores are BM25 over weighted fields with one saturation (`text/bm25.py`), plus two signals that
plain BM25 lacks: words next to each other as in the query, and links from an outstanding hit
(`search/lexical.py`). The weights were chosen by measurement on natural questions about an English
and a Chinese vault; those of names may be between 3 and 10 without much difference.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from zkchat_cli.text import words
from zkchat_cli.text.bm25 import Bm25, rarity
from zkchat_cli.text.literals import is_literal
from zkchat_cli.vault.index.values import IndexSizes, RankingCandidate
from zkchat_cli.vault.index.word_match import is_part
from zkchat_cli.vault.search.query import JoinedWord, SearchQuery, fold_joined
from zkchat_cli.vault.search.word_forms import WordForms

# The rarity of a stopword in a pair of neighbours: "sort by" says more than "sort"
STOPWORD_RARITY = 0.3
NAME_TERMS = 3
# So many chunks are compared by their word pairs; later ones would not rise far enough
MOST_COMPARED_PAIRWISE = 40

TITLE = 8.0
ALIASES = 6.0
HEADINGS = 2.0
TAGS = 2.0
# The weight of the aliases of links to the note: more would only overfit queries made from those
# links
ANCHORS = 2.0
BM25 = Bm25()
# The share of the note's length in a chunk's length: of two notes with the same passage, the
# shorter is more about it
NOTE_LENGTH = 0.1
# How much less a name counts if it is longer than `NAME_TERMS`: a title that is exactly the query
# wins
NAME_LENGTH = 0.5
# The share of words as written in the score; the rest is of words in any form
EXACT = 0.65
# The weight of single CJK characters beside bigrams: words of a question and of a note often share
# only one
CHARACTER = 0.5
ADJACENCY = 0.5
# How much more a chunk is worth that has a whole query such as "state-of-the-art": a title with
# only its words counts twice as much as a text
JOINED = 6.0
# The same for one with these words beside each other: "state of the art"
SEPARATED = 0.2
BODY = 1.0
# The share of a name's weight that single CJK characters have in it: names are short
CHARACTER_IN_NAME = 0.5


class _Field(NamedTuple):
    """A text of a chunk or its note, in terms."""

    weight: float
    terms: list[str]


class _Counts(NamedTuple):
    """The weighted frequency of each word of the query, in any form and as written."""

    any_form: dict[str, float]
    exact: dict[str, float]


class ChunkRanking:
    """Scores chunks of an index with these `sizes` for a query. `known` are its terms that have
    other forms; `frequency` is the number of chunks with each of its terms and characters, `joined`
    the number with each of its joined words.
    """

    def __init__(
        self,
        query: SearchQuery,
        known: Mapping[str, WordForms],
        frequency: Mapping[str, int],
        sizes: IndexSizes,
        *,
        joined: Mapping[JoinedWord, int] = {},
    ) -> None:
        chunks = max(sizes.chunks, 1)

        def rarity_of(frequency: int) -> float:
            return rarity(min(frequency, chunks), chunks)

        self._query = query
        self._chunk_size = max(sizes.tokens / chunks, 1)
        self._chunks_per_note = sizes.chunks / max(sizes.notes, 1)
        self._rarity = {term: rarity_of(frequency[term]) for term in query.terms}
        self._all_rarity = sum(self._rarity.values()) or 1.0
        in_joined = {term for word in joined for term in word.terms}
        others = sum(each for term, each in self._rarity.items() if term not in in_joined)
        weights = {word: rarity_of(count) for word, count in joined.items()}
        whole = others + sum(weights.values()) or 1.0
        # Squared, because the other words of a long question say more
        self._joined = {word: (weight / whole) ** 2 for word, weight in weights.items()}
        self._exact_rarity: dict[str, float] = {}
        for term in query.terms:
            exact = known[term].exact if term in known else frequency[term]
            self._exact_rarity[term] = rarity_of(exact)
        self._characters = {each: rarity_of(frequency[each]) for each in query.characters}
        self._words_by_form = {term: term for term in query.terms}
        for word, forms in known.items():
            self._words_by_form |= dict.fromkeys(forms.forms, word)
        self._written = {*query.terms, *query.order}
        # They take half as long to find as all words
        self._has_literals = any(map(is_literal, query.terms))
        self.shares: dict[int, float] = {}
        """The share of the query's words that each scored chunk has, weighted by rarity."""

    def score(self, candidates: Sequence[RankingCandidate]) -> dict[int, float]:
        """The scores by id, best first, of the candidates that the query allows and that have a
        word of it.
        """
        names: dict[int, list[_Field]] = {}
        fields_of: dict[int, list[_Field]] = {}
        found: dict[int, float] = {}
        for candidate in candidates:
            if candidate.note_id not in names:
                names[candidate.note_id] = _name_fields(candidate)
            fields = [
                *names[candidate.note_id],
                _Field(HEADINGS, _terms(candidate.headings)),
                _Field(BODY, _terms(candidate.body)),
            ]
            if self._has_literals:
                fields += _literal_fields(candidate)
            if self._excludes(fields):
                continue
            score = self._score(candidate, fields) * self._joined_factor(candidate, fields)
            if score:
                found[candidate.id] = score
                fields_of[candidate.id] = fields
        return _best_first(self._raise_neighbours(_best_first(found), fields_of))

    def _joined_factor(self, candidate: RankingCandidate, fields: list[_Field]) -> float:
        """How much better a chunk is with the joined words of the query, by their rarity."""
        present = 0.0
        for word, share in self._joined.items():
            if _occurs(word.terms, fields):
                texts = (candidate.title, candidate.aliases, candidate.headings, candidate.body)
                is_joined = any(word.written in fold_joined(text) for text in texts)
                present += share * (JOINED if is_joined else SEPARATED)
        return 1 + present

    def _excludes(self, fields: list[_Field]) -> bool:
        """Whether a phrase of the query is missing, or one that must not occur is there."""
        for phrase in self._query.phrases:
            if not _occurs(phrase, fields):
                return True
        return any(_occurs(phrase, fields) for phrase in self._query.without)

    def _score(self, candidate: RankingCandidate, fields: list[_Field]) -> float:
        """The score of the chunk by its words, in any order."""
        # The size of a chunk of average length in a note of average length is the average size
        note_size = candidate.note_size / self._chunks_per_note
        size = (1 - NOTE_LENGTH) * candidate.size + NOTE_LENGTH * note_size
        norm = BM25.norm(size, self._chunk_size)
        counts = self._count(fields)
        score = (1 - EXACT) * BM25.score(counts.any_form, self._rarity, norm)
        score += EXACT * BM25.score(counts.exact, self._exact_rarity, norm)
        if self._characters:
            occurring = self._count_characters(candidate)
            score += CHARACTER * BM25.score(occurring, self._characters, norm)
        if score:
            present = sum(self._rarity[term] for term, count in counts.any_form.items() if count)
            self.shares[candidate.id] = present / self._all_rarity
        return score

    def _count(self, fields: list[_Field]) -> _Counts:
        """How often the fields have each word of the query."""
        words_by_form = self._words_by_form
        any_form = dict.fromkeys(words_by_form.values(), 0.0)
        exact = dict(any_form)
        for weight, terms in fields:
            for form in words_by_form.keys() & terms:
                weighted = weight * terms.count(form)
                any_form[words_by_form[form]] += weighted
                if form in self._written:
                    exact[words_by_form[form]] += weighted
        return _Counts(any_form, exact)

    def _count_characters(self, candidate: RankingCandidate) -> dict[str, float]:
        """How often the chunk has each CJK character of the query."""
        texts = (
            (TITLE * CHARACTER_IN_NAME, candidate.title),
            (ALIASES * CHARACTER_IN_NAME, candidate.aliases),
            (HEADINGS, candidate.headings),
            (BODY, candidate.body),
        )
        counts: dict[str, float] = {}
        for character in self._characters:
            counts[character] = sum(weight * text.count(character) for weight, text in texts)
        return counts

    def _raise_neighbours(
        self, scores: dict[int, float], fields_of: Mapping[int, list[_Field]]
    ) -> dict[int, float]:
        """The scores of the best chunks, raised by the word pairs of the query that they have: by
        the share `ADJACENCY` if they have all.
        """
        pairs: dict[tuple[str, str], float] = {}
        for pair in pairwise(self._query.order):
            pairs[pair] = max(self._rarity.get(term, STOPWORD_RARITY) for term in pair)
        if not pairs:
            return scores
        whole = sum(pairs.values())
        raised = dict(scores)
        for id_ in list(scores)[:MOST_COMPARED_PAIRWISE]:
            present: set[tuple[str, str]] = set()
            for field in fields_of[id_]:
                present |= pairs.keys() & pairwise(field.terms)
            share = sum(pairs[pair] for pair in sorted(present)) / whole
            raised[id_] *= 1 + ADJACENCY * share
        return raised


def _best_first(scores: Mapping[int, float]) -> dict[int, float]:
    best_first = sorted(scores, key=lambda id_: (-scores[id_], id_))
    return {id_: scores[id_] for id_ in best_first}


def _terms(text: str) -> list[str]:
    """The terms of a text, and after them the words in "note's" and "l'index"."""
    terms = words.terms(text)
    if "'" in text or "’" in text:
        terms += [max(term.split("'"), key=len) for term in terms if "'" in term]
    return terms


def _name_fields(candidate: RankingCandidate) -> list[_Field]:
    """The fields of the note. Each alias and anchor is a field of its own: no phrase runs across
    two of them.
    """
    named = (
        (TITLE, candidate.title),
        (ALIASES, candidate.aliases),
        (ANCHORS, candidate.anchors),
    )
    fields: list[_Field] = []
    for weight, text in named:
        for line in text.split("\n"):
            terms = _terms(line)
            if terms:
                length = 1 - NAME_LENGTH + NAME_LENGTH * len(terms) / NAME_TERMS
                fields.append(_Field(weight / length, terms))
    fields += [_Field(TAGS, words.terms(line)) for line in candidate.tags.split("\n")]
    return fields


def _literal_fields(candidate: RankingCandidate) -> list[_Field]:
    """The literals of the texts of a chunk."""
    texts = (
        (TITLE, candidate.title),
        (ALIASES, candidate.aliases),
        (HEADINGS, candidate.headings),
        (BODY, candidate.body),
    )
    return [_Field(weight, words.literals(text)) for weight, text in texts]


def _occurs(phrase: tuple[str, ...], fields: list[_Field]) -> bool:
    """Whether a field has the words next to each other, or a single CJK character in a word."""
    first = phrase[0]
    size = len(phrase)
    if size == 1 and is_part(first):
        return any(first in term for field in fields for term in field.terms)
    wanted = list(phrase)
    for _, terms in fields:
        for place, term in enumerate(terms):
            if term == first and terms[place : place + size] == wanted:
                return True
    return False
