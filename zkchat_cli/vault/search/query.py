"""The query language: words (some of them must occur), "phrases" that must, -words that must not,
tag:x, path:y, -tag:x, -path:y, and dates of notes: after:2024-05, before:yesterday, on:"last week",
or simply "last week". Pure.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, timedelta
from typing import Any, NamedTuple

from zkchat_cli.errors import UsageError
from zkchat_cli.text import words
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.dates import Period, find_period, is_all_stopwords, parse_period
from zkchat_cli.text.literals import is_literal, remove_addresses
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.word_lists import FUNCTION_CHARACTERS
from zkchat_cli.vault.index.values import NoteFilter
from zkchat_cli.vault.index.word_match import is_cjk

# Words of a query that are searched; more words of a pasted page would only be slower
MOST_WORDS = 48
_MOST_FILTERS = 16
_LONGEST = 20_000
# Words that belong together, as in "state-of-the-art", "TCP/IP" and "snake_case"
_JOINED = lazy_pattern(r"(?<![^\W_])[^\W_]++(?:[-\u2010\u2011_/][^\W_]++)+")
_MOST_JOINED = 4
_HYPHENS = {0x2010: "-", 0x2011: "-"}
# The name of an operator, its quoted or bare value, or a phrase
_OPERATOR = lazy_pattern(
    r"""(?<!\S)(?:(-?(?:tag|path)|after|before|on):|-(?="|[^\W\d_]{2}))"""
    r"""(?:"([^"]*)"|(\S+))|"([^"]+)\"""",
    re.IGNORECASE,
)


class JoinedWord(NamedTuple):
    """Words that are written as one, and how: folded, with plain hyphens."""

    terms: tuple[str, ...]
    written: str


class SearchQuery(NamedTuple):
    """`order` has the terms of words and phrases as they follow each other in the text."""

    words: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    without: tuple[tuple[str, ...], ...] = ()
    # Operators (tag, path, -tag, -path) with their folded values
    filters: tuple[tuple[str, str], ...] = ()
    order: tuple[str, ...] = ()
    # Words that are written as one with hyphens, slashes or underscores: who has them so is first
    joined: tuple[JoinedWord, ...] = ()
    # The query without operators
    text: str = ""
    # The dates that notes must have
    period: Period | None = None
    # What to search if that period is only a guess, and no note has such a date
    undated: "SearchQuery | None" = None

    @property
    def is_filtered(self) -> bool:
        """Whether only some notes may be found."""
        return bool(self.filters or self.period)

    @property
    def note_filter(self) -> NoteFilter | None:
        """The notes that may be found; None for all."""
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

    @property
    def has_no_meaning(self) -> bool:
        """Whether only the words as they are written can be searched: "phrases", -words or no words
        but symbols and addresses.
        """
        return bool(self.phrases or self.without) or all(map(is_literal, self.words))

    def _values_of(self, operator: str) -> tuple[str, ...]:
        return tuple(value for name, value in self.filters if name == operator)

    @property
    def terms(self) -> tuple[str, ...]:
        """All words that are searched, those of phrases last."""
        in_phrases = [term for phrase in self.phrases for term in phrase]
        return tuple(dict.fromkeys([*self.words, *in_phrases]))

    @property
    def characters(self) -> tuple[str, ...]:
        """The CJK characters of its words that mean something by themselves."""
        found: dict[str, None] = {}
        for word in self.words:
            if is_cjk(word):
                found |= dict.fromkeys(word)
        return tuple(character for character in found if character not in FUNCTION_CHARACTERS)

    @property
    def is_empty(self) -> bool:
        """Whether it finds nothing: it has no words, and only excludes notes."""
        includes = any(not name.startswith("-") for name, _ in self.filters)
        return not (self.words or self.phrases or self.period or includes)


def as_words(text: str) -> str:
    """A text that is no query, such as the name of a note, as a query without operators."""
    plain = text.replace('"', " ").replace(":", " ")
    return " ".join(word.lstrip("-") for word in plain.split())


def parse_query(text: str, today: date | None = None) -> SearchQuery:
    """Parse any text; a query that only excludes finds nothing. Raises UsageError if `after:`,
    `before:` or `on:` is followed by no date. With `today`, dates in words ("last week") become the
    period, too.
    """
    query = _parse(text, today or date.today())
    if today is None or query.period or query.phrases:
        return query
    dated = find_period(text, today)
    if dated is None:
        return query
    found = _parse(dated.rest, today)._replace(period=dated.period, undated=query)
    if not is_all_stopwords(dated.rest):
        return found
    # "what did I do yesterday" is about nothing else
    undated = None if words.terms(dated.rest) else query
    return found._replace(words=(), order=(), undated=undated)


class _Operators(NamedTuple):
    """What a query says by operators and in quotation marks; see `SearchQuery`."""

    phrases: list[tuple[str, ...]]
    without: list[tuple[str, ...]]
    filters: list[tuple[str, str]]
    period: Period | None


def _parse(text: str, today: date) -> SearchQuery:
    """The query, without dates in words."""
    text = text[:_LONGEST]
    operators = _read_operators(text, today)
    # The words in quotation marks are the fourth group
    with_phrases = _OPERATOR.sub(lambda operator: f" {operator[4] or ''} ", text)
    stripped = _OPERATOR.sub(" ", text)
    searched: tuple[str, ...] = ()
    if not (operators.period and is_all_stopwords(stripped)):
        searched = tuple(dict.fromkeys(words.content_terms(stripped)))
    return SearchQuery(
        words=searched[:MOST_WORDS],
        phrases=_distinct(operators.phrases),
        without=_distinct(operators.without),
        filters=_distinct(operators.filters),
        order=tuple(words.terms(with_phrases))[: 4 * MOST_WORDS],
        joined=tuple(dict.fromkeys(_joined_words(stripped)))[:_MOST_JOINED],
        text=" ".join(stripped.split()),
        period=operators.period,
    )


def _read_operators(text: str, today: date) -> _Operators:
    found = _Operators([], [], [], None)
    for operator in _OPERATOR.finditer(text):
        name, quoted, bare, phrase = operator.groups()
        name = (name or "").lower()
        value = bare if quoted is None else quoted
        if phrase is not None:
            found.phrases.append(_phrase(phrase))
        elif not name:
            found.without.append(_phrase(value))
        elif name.endswith(("tag", "path")):
            found.filters.append((name, fold(value.strip(' "').lstrip("#/").rstrip("/"))))
        else:
            days = _read_period(name, value, today)
            found = found._replace(period=(found.period or Period()).intersect(days))
    filters = [(name, value) for name, value in found.filters if value]
    return found._replace(filters=filters)


def fold_joined(text: str) -> str:
    """A folded text with plain hyphens."""
    return fold(text).translate(_HYPHENS)


def _joined_words(text: str) -> Iterator[JoinedWord]:
    """The joined words of a text, without web addresses."""
    for found in _JOINED.finditer(remove_addresses(text)):
        terms = words.terms(found[0])
        if len(terms) > 1 and not any(map(is_cjk, terms)):
            yield JoinedWord(tuple(terms), fold_joined(found[0]))


def _phrase(text: str) -> tuple[str, ...]:
    """The words of a phrase; a single literal, such as "C#", counts as one word."""
    single = words.literals(text)[-1:] if len(text.split()) == 1 else []
    return tuple(single or words.terms(text))[:MOST_WORDS]


def _distinct(values: Iterable[tuple[str, ...]]) -> tuple[Any, ...]:
    """Each value once, without empty ones, and not too many."""
    return tuple(dict.fromkeys(value for value in values if value))[:_MOST_FILTERS]


def _read_period(operator: str, value: str, today: date) -> Period:
    """The days that `after:`, `before:` or `on:` allows. Raises UsageError if it is no date."""
    days = read_date(operator, value, today)
    # Beyond the last possible day, the day itself counts
    with suppress(OverflowError):
        if operator == "after":
            return Period(first=days.last + timedelta(days=1))
        if operator == "before":
            return Period(last=days.first - timedelta(days=1))
    return days


def read_date(name: str, value: str, today: date) -> Period:
    """The days that a date in words or figures means. Raises UsageError if it is none; `name` says
    which date is wrong.
    """
    days = parse_period(value, today)
    if days is None:
        raise UsageError(
            f"{name}: {truncate(value, 40)} is no date",
            'Give one as 2024-05-01, 2024-05, yesterday or "last week".',
        )
    return days
