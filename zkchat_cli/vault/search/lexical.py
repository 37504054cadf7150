"""Search by words, in a time that does not grow with how common the words are.

An index finds a million matching rows in 30 ms but takes a second to rank them. So it ranks only
the matches of a query's rare words, `MOST_RANKED` rows in all; common words count when the few
candidates are compared (the idea of MaxScore: Turtle and Flood 1995). For a query of common words
the candidates are notes with these names, chunks with all of the words, and the newest chunks.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.text.literals import is_literal
from zkchat_cli.text.words import STOPWORDS, rarest_first
from zkchat_cli.vault.index.values import NoteFilter
from zkchat_cli.vault.index.word_match import Phrase, WordMatch, is_cjk
from zkchat_cli.vault.search import ranking
from zkchat_cli.vault.search.fusion import sort_by_score
from zkchat_cli.vault.search.query import JoinedWord, SearchQuery
from zkchat_cli.vault.search.ranking import ChunkRanking
from zkchat_cli.vault.search.word_forms import find_forms

if TYPE_CHECKING:
    from zkchat_cli.vault.index.port import NoteIndex

# Rows that the index ranks for a query, at 0.8 µs each
MOST_RANKED = 8_000
MOST_NAMES_RANKED = 4_000
# With 80, ten passages have 39 instead of 41 of 60 answers to questions in a user's own words. 160
# has 42, but finds one of 300 other notes less as the first
POOL_SIZE = 120
# Notes with matching names: chunks of the first `WHOLE_NAMED_NOTES` are candidates, and the first
# chunk of the others
NAMED_NOTES = 20
WHOLE_NAMED_NOTES = 8
CHUNKS_OF_NAMED = 8
BOOSTING_NOTES = 10
# A hit boosts the notes it links to by this share of its lead over the hit at `BASELINE_RANK`;
# without a lead, not at all
LINK_BOOST = 0.3
BASELINE_RANK = 5
# The first hits that show how well the words of a query fit
COVERING_HITS = 3
# What the index ranks by to choose candidates
CHUNK_WEIGHTS = (ranking.HEADINGS, 1.0)
NAME_WEIGHTS = (ranking.TITLE, ranking.ALIASES, ranking.TAGS, ranking.ANCHORS)


class WordHits(NamedTuple):
    """What words find."""

    # All chunks that were ranked, best first
    scores: dict[int, float]
    # The share of the query's words, by rarity, in the best of the first three
    coverage: float
    # The notes that were searched; None for all
    allowed: NoteFilter | None


def find_by_words(index: "NoteIndex", query: SearchQuery, limit: int) -> WordHits:
    """The chunks with the words of a query, more than `limit`. Phrases count as single words if
    nothing has them, and a guessed period does not count if no note has such a date.
    """
    in_quotation_marks = {term for phrase in query.phrases for term in phrase}
    for variant in _variants(query):
        attempt = _WordSearch(index, variant, in_quotation_marks, max(POOL_SIZE, 2 * limit))
        scores = attempt.run()
        if scores:
            shares = attempt.ranking.shares
            first = islice(scores, COVERING_HITS)
            coverage = max((shares.get(id_, 0.0) for id_ in first), default=0.0)
            return WordHits(scores, coverage, variant.note_filter)
    return WordHits({}, 0.0, None if query.undated else query.note_filter)


def _variants(query: SearchQuery) -> Iterator[SearchQuery]:
    """The query, and what to search if it finds nothing; each once."""
    without_phrases = query._replace(words=query.terms, phrases=())
    for variant in dict.fromkeys((query, without_phrases, query.undated)):
        if variant is not None and not variant.is_empty:
            yield variant


class _WordSearch:
    """One query. Numbers are of chunks."""

    def __init__(
        self, index: "NoteIndex", query: SearchQuery, exact: Collection[str], pool: int
    ) -> None:
        """`exact` are words that have no other forms; `pool` is the number of candidates."""
        self._index = index
        self._pool = pool
        sizes = index.sizes()
        without_forms = [
            term
            for term in query.words
            if is_cjk(term) or is_literal(term) or term in STOPWORDS or term in exact
        ]
        with_forms = [term for term in query.words if term not in without_forms]
        self._known = find_forms(index.vocabulary, with_forms)
        self._query = query._replace(words=(*self._known, *without_forms))
        self._allowed = query.note_filter
        self._frequency = self._count_chunks(sizes.chunks)
        self._note_of: dict[int, int] = {}
        self._joined: dict[JoinedWord, int] = {}
        for joined in query.joined:
            count = index.words.count_chunks(_match_phrase(joined.terms), MOST_RANKED)
            if count:
                self._joined[joined] = count
        self.ranking = ChunkRanking(
            self._query, self._known, self._frequency, sizes, joined=self._joined
        )

    def run(self) -> dict[int, float]:
        """The scores of all chunks that were ranked, best first."""
        if not self._query.terms:
            return self._newest()
        found = self._scores([*self._text_candidates(), *self._name_candidates()])
        boosts = self._boosts(found)
        known = set(self._note_of.values())
        linked: list[int] = []
        for note in boosts:
            if note not in known:
                linked += self._index.chunks.first_of_note(note, CHUNKS_OF_NAMED)
        found |= self._scores(linked)
        boosted: dict[int, float] = {}
        for id_, score in found.items():
            boosted[id_] = score + boosts.get(self._note_of[id_], 0.0)
        return sort_by_score(boosted)

    def _newest(self) -> dict[int, float]:
        """The newest notes that the filter allows, for a query without words."""
        assert self._allowed
        ids = self._index.words.newest_chunks(
            self._pool,
            without=self._query.without,
            allowed=self._allowed,
            by_date=self._query.period is not None,
        )
        return {id_: 1 / place for place, id_ in enumerate(ids, 1)}

    def _scores(self, ids: Iterable[int]) -> dict[int, float]:
        """The scores of these chunks by words, best first."""
        wanted = list(dict.fromkeys(ids))
        candidates = self._index.chunks.candidates(wanted, self._allowed)
        self._note_of.update((each.id, each.note_id) for each in candidates)
        return self.ranking.score(candidates)

    def _count_chunks(self, all_chunks: int) -> dict[str, int]:
        """How many chunks have each word and each character of the query, in any form."""
        count = self._index.words.count_chunks
        frequency = {term: forms.chunks for term, forms in self._known.items()}
        for term in self._query.terms:
            if term in STOPWORDS:
                frequency.setdefault(term, all_chunks)
            elif term not in self._known:
                frequency[term] = count(_match_word(term))
        for character in self._query.characters:
            frequency[character] = count(_match_word(character), MOST_RANKED + 1)
        return frequency

    def _count_named(self) -> dict[str, int]:
        """How many notes have each word of the query in their names, in any form."""
        count = self._index.words.count_named
        frequency: dict[str, int] = {}
        for term in self._query.terms:
            forms = self._known.get(term)
            frequency[term] = forms.notes if forms else count(_match_word(term))
        return frequency

    def _text_candidates(self) -> list[int]:
        """The chunks that match the query best by their own words."""

        def find(match: WordMatch, weights: Sequence[float] | None) -> list[int]:
            return self._index.words.find_chunks(
                match,
                self._pool,
                without=self._query.without,
                allowed=self._allowed,
                weights=weights,
            )

        count = self._index.words.count_chunks
        return _first_matches(self._text_matches(), self._pool, CHUNK_WEIGHTS, count, find)

    def _text_matches(self) -> Iterator[WordMatch]:
        """What chunks must have, the strictest first."""
        query = self._query
        if self._joined:
            yield WordMatch((tuple(joined.terms for joined in self._joined),))
        rare = self._any_form(rarest_first(query.words, self._frequency, MOST_RANKED))
        if query.phrases:
            phrases = tuple((phrase,) for phrase in query.phrases)
            if rare:
                yield WordMatch((*phrases, rare))
            yield WordMatch(phrases)
            return
        known = [term for term in query.words if self._frequency[term]]
        if rare or not known:
            characters = rarest_first(query.characters, self._frequency, MOST_RANKED)
            groups = [rare, self._any_form(characters)]
            yield from (WordMatch((group,)) for group in groups if group)
            return
        with_any = self._any_form(known)
        yield self._match_all(known)
        yield WordMatch((with_any,), only_headings=True)
        yield WordMatch((with_any,))

    def _name_candidates(self) -> list[int]:
        """The first chunks of the notes with names that match the query best."""

        def find(match: WordMatch, weights: Sequence[float] | None) -> list[int]:
            return self._index.words.find_named(
                match,
                NAMED_NOTES,
                without=self._query.without,
                allowed=self._allowed,
                weights=weights,
            )

        count = self._index.words.count_named
        notes = _first_matches(self._name_matches(), NAMED_NOTES, NAME_WEIGHTS, count, find)
        found: list[int] = []
        for place, note in enumerate(notes):
            limit = CHUNKS_OF_NAMED if place < WHOLE_NAMED_NOTES else 1
            found += self._index.chunks.first_of_note(note, limit)
        return found

    def _name_matches(self) -> list[WordMatch]:
        """What the names of notes must have, the strictest first."""
        frequency = self._count_named()
        terms = self._query.terms
        # Many names may have the words of a phrase, and hardly one in this order
        matches = [WordMatch((self._query.phrases,))] if self._query.phrases else []
        rare = rarest_first(terms, frequency, MOST_NAMES_RANKED)
        named = [term for term in terms if frequency[term]]
        if rare:
            matches.append(WordMatch((self._any_form(rare),)))
        elif named:
            matches += [self._match_all(named), WordMatch((self._any_form(named),))]
        return matches

    def _any_form(self, terms: Iterable[str]) -> tuple[Phrase, ...]:
        """A group of these words in all their forms."""
        phrases: list[Phrase] = []
        for term in terms:
            known = self._known.get(term)
            forms = sorted(known.forms) if known else [term]
            phrases += [(form,) for form in forms]
        return tuple(phrases)

    def _match_all(self, terms: Iterable[str]) -> WordMatch:
        return WordMatch(tuple(self._any_form([term]) for term in terms))

    def _boosts(self, scores: Mapping[int, float]) -> dict[int, float]:
        """The boosts of the notes that the best chunks of the best notes link to, by the lead of
        their hits over a later one.
        """
        chunks: dict[int, int] = {}
        for id_ in scores:
            chunks.setdefault(self._note_of[id_], id_)
        best = list(chunks.values())[:BOOSTING_NOTES]
        baseline = scores[best[min(BASELINE_RANK, len(best) - 1)]] if best else 0.0
        boosts: dict[int, float] = {}
        for id_ in best:
            boost = LINK_BOOST * (scores[id_] - baseline)
            if boost > 0:
                for note in self._index.links.notes_linked_in_chunk(id_):
                    boosts.setdefault(note, boost)
        return boosts


def _first_matches(
    matches: Iterable[WordMatch],
    limit: int,
    weights: Sequence[float],
    count: Callable[[WordMatch, int], int],
    find: Callable[[WordMatch, Sequence[float] | None], list[int]],
) -> list[int]:
    """The rows that match the first, then those that match the following ones, until there are
    enough: of each match the best, or the newest if there are too many to rank.
    """
    found: dict[int, None] = {}
    for match in matches:
        if len(found) >= limit:
            break
        is_ranked = count(match, MOST_RANKED + 1) <= MOST_RANKED
        found |= dict.fromkeys(find(match, weights if is_ranked else None))
    return list(found)


def _match_word(term: str) -> WordMatch:
    return _match_phrase((term,))


def _match_phrase(phrase: Phrase) -> WordMatch:
    return WordMatch(((phrase,),))
