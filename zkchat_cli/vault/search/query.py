"""The query language: words of which any may occur, "phrases" that must, -words that must not,
tag:x, path:y, -tag:x, -path:y, and dates of notes: after:2024-05, before:yesterday, on:"last week",
or simply "last week"; how well a chunk answers a query; and the lines of a chunk that show why it
was found. Pure.

Every word is quoted for FTS5, so that no text is an operator there: `AND`, `*`, `NEAR(` are words
or nothing.

Scores are BM25 over weighted fields with one saturation (`text/bm25.py`), plus two signals that
plain BM25 lacks: words next to each other as in the query, and links
from an outstanding hit. The weights were chosen by measurement on natural questions about an
English and a Chinese vault; those of names may be between 3 and 10 without much difference.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from zkchat_cli.errors import UsageError
from zkchat_cli.text import words
from zkchat_cli.text.bm25 import Bm25, rarity
from zkchat_cli.text.dates import Period, find_period, is_all_stopwords, parse_period
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.word_lists import FUNCTION_CHARACTERS
from zkchat_cli.vault.index.values import IndexSizes, NoteFilter, RankingCandidate
from zkchat_cli.vault.index.word_match import is_cjk, is_part
from zkchat_cli.vault.search.word_forms import WordForms

# Words of a query that are searched; more words of a pasted page would only be slower
MOST_WORDS = 48
_MOST_FILTERS = 16
_LONGEST = 20_000
_OPERATOR = lazy_pattern(
    r"""(?<!\S)(?:(-?(?:tag|path)|after|before|on):|-(?="|[^\W\d_]{2}))(?:"([^"]*)"|(\S+))|"([^"]+)\"""",
    re.IGNORECASE,
)


class SearchQuery(NamedTuple):
    """`order` has the terms of words and phrases as they follow each other in the text."""

    words: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    without: tuple[tuple[str, ...], ...] = ()
    # Operators (tag, path, -tag, -path) with their folded values
    filters: tuple[tuple[str, str], ...] = ()
    order: tuple[str, ...] = ()
    text: str = ""  # the query without operators
    period: Period | None = None
    """The dates that notes must have; `undated` is the query to search if the period is only a
    guess and no note has such a date.
    """
    undated: "SearchQuery | None" = None

    @property
    def is_filtered(self) -> bool:
        return bool(self.filters or self.period)

    @property
    def note_filter(self) -> NoteFilter | None:
        """Which notes may be found; None for all."""
        if not self.is_filtered:
            return None
        return NoteFilter(
            tags=self._values_of("tag"),
            without_tags=self._values_of("-tag"),
            path_parts=self._values_of("path"),
            without_path_parts=self._values_of("-path"),
            period=self.period,
            # A guess: copied notes are of no day
            also_copies=self.undated is None,
        )

    def _values_of(self, operator: str) -> tuple[str, ...]:
        return tuple(value for name, value in self.filters if name == operator)

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys([*self.words, *(term for phrase in self.phrases for term in phrase)])
        )

    @property
    def characters(self) -> tuple[str, ...]:
        """The CJK characters of its words that mean something by themselves."""
        return tuple(
            dict.fromkeys(
                c
                for word in self.words
                if is_cjk(word)
                for c in word
                if c not in FUNCTION_CHARACTERS
            )
        )

    @property
    def is_empty(self) -> bool:
        return not (
            self.words
            or self.phrases
            or self.period
            or any(not name.startswith("-") for name, _ in self.filters)
        )


def as_words(text: str) -> str:
    """A text that is no query, such as the name of a note, as a query without operators."""
    return " ".join(word.lstrip("-") for word in text.replace('"', " ").replace(":", " ").split())


def parse_query(text: str, today: date | None = None) -> SearchQuery:
    """Parse any text; a query that only excludes finds nothing. Raises UsageError if `after:`,
    `before:` or `on:` is followed by no date. With `today`, dates in words ("last week") become the
    period, too.
    """
    query = _parse(text, today or date.today())
    if today is None or query.period or query.phrases or not (dated := find_period(text, today)):
        return query
    period, _, rest = dated
    found = _parse(rest, today)._replace(period=period, undated=query)
    if not is_all_stopwords(rest):
        return found
    # "what did I do yesterday" is about nothing else
    undated = None if words.terms(rest) else query
    return found._replace(words=(), order=(), undated=undated)


def _parse(text: str, today: date) -> SearchQuery:
    text = text[:_LONGEST]
    period: Period | None = None
    found: dict[str, list[Any]] = defaultdict(list)
    for operator in _OPERATOR.finditer(text):
        name, quoted, bare, phrase = operator.groups()
        name = (name or "").lower()
        value = bare if quoted is None else quoted
        if phrase is not None:
            found["phrases"].append(tuple(words.terms(phrase))[:MOST_WORDS])
        elif not name:
            found["without"].append(tuple(words.terms(value))[:MOST_WORDS])
        elif name.endswith(("tag", "path")):
            if folded := words.fold(value.strip(' "').lstrip("#/").rstrip("/")):
                found["filters"].append((name, folded))
        else:
            days = read_date(name, value, today)
            with suppress(OverflowError):  # after the last possible day
                if name == "after":
                    days = Period(first=days.last + timedelta(days=1))
                elif name == "before":
                    days = Period(last=days.first - timedelta(days=1))
            period = (period or Period()).intersect(days)
    # The words in quotation marks are the fourth group
    with_phrases = _OPERATOR.sub(lambda operator: f" {operator[4] or ''} ", text)
    order = tuple(words.terms(with_phrases))[: 4 * MOST_WORDS]
    stripped = _OPERATOR.sub(" ", text)
    searched = (
        ()
        if period and is_all_stopwords(stripped)
        else tuple(dict.fromkeys(words.content_terms(stripped)))[:MOST_WORDS]
    )
    operators: dict[str, Any] = {
        field: tuple(dict.fromkeys(filter(None, values)))[:_MOST_FILTERS]
        for field, values in found.items()
    }
    return SearchQuery(
        words=searched, order=order, text=" ".join(stripped.split()), period=period, **operators
    )


def read_date(name: str, value: str, today: date) -> Period:
    """The days that a date in words or figures means. Raises UsageError if it is none; `name` says
    which date is wrong.
    """
    if (days := parse_period(value, today)) is None:
        raise UsageError(
            f"{name}: {truncate(value, 40)} is no date",
            'Give one as 2024-05-01, 2024-05, yesterday or "last week".',
        )
    return days


# The rarity of a stopword in a pair of neighbours: "sort by" says more than "sort"
STOPWORD_RARITY = 0.3
NAME_TERMS = 3
# Chunks whose word pairs are compared; later ones would not rise far enough
MOST_COMPARED_PAIRWISE = 40

TITLE = 8.0
ALIASES = 6.0
HEADINGS = 2.0
TAGS = 2.0
# Of the aliases of links to the note. More would only overfit queries made from those links.
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


# A weight and the terms of a text
_Field = tuple[float, list[str]]


class ChunkRanking:
    """Scores chunks of an index with these `sizes` for a query. `known` are its terms that have
    other forms; `frequency` is the number of chunks with each of its terms and characters.
    """

    def __init__(
        self,
        query: SearchQuery,
        known: Mapping[str, WordForms],
        frequency: Mapping[str, int],
        sizes: IndexSizes,
    ) -> None:
        chunks = max(sizes.chunks, 1)

        def rarity_of(frequency: int) -> float:
            return rarity(min(frequency, chunks), chunks)

        self.query = query
        self.chunk_size = max(sizes.tokens / chunks, 1)
        self.chunks_per_note = sizes.chunks / max(sizes.notes, 1)
        self.rarity = {term: rarity_of(frequency[term]) for term in query.terms}
        self.exact_rarity = {
            term: rarity_of(known[term].exact if term in known else frequency[term])
            for term in query.terms
        }
        self.characters = {
            character: rarity_of(frequency[character]) for character in query.characters
        }
        self.words_by_form = {term: term for term in query.terms}
        self.words_by_form |= {form: word for word, forms in known.items() for form in forms.forms}
        self.shares: dict[int, float] = {}
        """The share of the query's words that each scored chunk has, weighted by rarity."""

    def score(self, candidates: Sequence[RankingCandidate]) -> dict[int, float]:
        """The scores by id, best first, of the candidates that the query allows and that have a
        word of it.
        """
        query = self.query
        rarities = self.rarity
        words_by_form = self.words_by_form
        written = {*query.terms, *query.order}
        names: dict[int, list[_Field]] = {}
        texts: dict[int, list[_Field]] = {}
        found: dict[int, float] = {}
        for c in candidates:
            if c.note_id not in names:
                names[c.note_id] = _name_fields(c)
            fields = [*names[c.note_id], (HEADINGS, _terms(c.headings)), (1.0, _terms(c.body))]
            if not all(_occurs(phrase, fields) for phrase in query.phrases) or any(
                _occurs(phrase, fields) for phrase in query.without
            ):
                continue
            # 1 for a chunk of average length in a note of average length
            size = (1 - NOTE_LENGTH) * c.size + NOTE_LENGTH * c.note_size / self.chunks_per_note
            norm = BM25.norm(size, self.chunk_size)
            # The weighted frequency of each term, in any form
            counted = dict.fromkeys(words_by_form.values(), 0.0)
            exact = dict(counted)  # and as written
            for weight, terms in fields:
                for form in words_by_form.keys() & terms:
                    weighted = weight * terms.count(form)
                    counted[words_by_form[form]] += weighted
                    if form in written:
                        exact[words_by_form[form]] += weighted
            score = (1 - EXACT) * BM25.score(counted, self.rarity, norm)
            score += EXACT * BM25.score(exact, self.exact_rarity, norm)
            if self.characters:
                # in names they count half: names are short
                texts_of = (
                    (TITLE / 2, c.title),
                    (ALIASES / 2, c.aliases),
                    (HEADINGS, c.headings),
                    (1.0, c.body),
                )
                occurring = {
                    character: sum(weight * text.count(character) for weight, text in texts_of)
                    for character in self.characters
                }
                score += CHARACTER * BM25.score(occurring, self.characters, norm)
            if score:
                found[c.id], texts[c.id] = score, fields
                self.shares[c.id] = sum(rarities[term] for term, n in counted.items() if n) / (
                    sum(rarities.values()) or 1.0
                )
        ordered = dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
        # word pairs of the query that a chunk has raise its score, by the share `ADJACENCY` if it
        # has all
        pairs = {
            pair: max(rarities.get(term, STOPWORD_RARITY) for term in pair)
            for pair in pairwise(query.order)
        }
        whole = sum(pairs.values())
        for id_ in list(ordered)[:MOST_COMPARED_PAIRWISE] if pairs else ():
            present = {pair for _, terms in texts[id_] for pair in pairwise(terms) if pair in pairs}
            ordered[id_] *= 1 + ADJACENCY * sum(pairs[pair] for pair in sorted(present)) / whole
        return dict(sorted(ordered.items(), key=lambda item: (-item[1], item[0])))


def _terms(text: str) -> list[str]:
    """The terms of a text, and after them the words in "note's" and "l'index"."""
    terms = words.terms(text)
    return (
        terms + [max(term.split("'"), key=len) for term in terms if "'" in term]
        if "'" in text or "’" in text
        else terms
    )


def _name_fields(c: RankingCandidate) -> list[_Field]:
    """The fields of the note. Each alias and anchor is a field of its own: no phrase runs across
    two of them.
    """
    lines = (
        (weight, line)
        for weight, text in ((TITLE, c.title), (ALIASES, c.aliases), (ANCHORS, c.anchors))
        for line in text.split("\n")
    )
    named = ((weight, _terms(line)) for weight, line in lines)
    names = [
        (weight / (1 - NAME_LENGTH + NAME_LENGTH * len(terms) / NAME_TERMS), terms)
        for weight, terms in named
        if terms
    ]
    return [*names, *((TAGS, words.terms(line)) for line in c.tags.split("\n"))]


def _occurs(phrase: tuple[str, ...], fields: list[_Field]) -> bool:
    first = phrase[0]
    size = len(phrase)
    if size == 1 and is_part(first):
        return any(first in term for _, terms in fields for term in terms)
    wanted = list(phrase)
    return any(
        term == first and terms[at : at + size] == wanted
        for _, terms in fields
        for at, term in enumerate(terms)
    )
