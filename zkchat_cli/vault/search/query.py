"""The query language: words of which any may occur, "phrases" that must, -words that must not, tag:x, path:y, -tag:x and -path:y. Pure.

Every word is quoted for FTS5, so that no text is an operator there: `AND`, `*`, `NEAR(` are words or nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from zkchat_cli.text import words

MOST_WORDS = 48
"""Words of a query that are searched; more words of a pasted page would only be slower."""
_MOST_FILTERS = 8
_LONGEST = 20_000
_OPERATOR = re.compile(r"""(?<!\S)(?:(-?(?:tag|path)):|-(?="|[^\W\d_]{2}))(?:"([^"]*)"|(\S+))|"([^"]+)\"""", re.IGNORECASE)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """`order` has the terms of words and phrases as they follow each other in the text."""

    words: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    without: tuple[tuple[str, ...], ...] = ()
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    without_paths: tuple[str, ...] = ()
    text: str = ""
    """The query without operators."""

    @property
    def is_filtered(self) -> bool:
        """Whether only some notes may be found."""
        return bool(self.tags or self.paths or self.without_tags or self.without_paths)

    @property
    def terms(self) -> tuple[str, ...]:
        """All different words, those of phrases included."""
        return tuple(dict.fromkeys([*self.words, *(term for phrase in self.phrases for term in phrase)]))

    @property
    def loose(self) -> "SearchQuery":
        """The same with the words of phrases as single words, for when nothing contains the phrases."""
        return replace(self, words=self.terms, phrases=())

    @property
    def has_meaning(self) -> bool:
        """Whether it is searched by meaning, too: phrases and excluded words are about words."""
        return bool(self.words) and not (self.phrases or self.without)

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.phrases or self.tags or self.paths)


def parse_query(text: str) -> SearchQuery:
    """Parse any text; a query that only excludes finds nothing."""
    phrases: list[tuple[str, ...]] = []
    without: list[tuple[str, ...]] = []
    filters: dict[str, list[str]] = {"tag": [], "path": [], "-tag": [], "-path": []}

    def collect(operator: re.Match[str]) -> str:
        name, quoted, bare, phrase = operator.groups()
        if phrase is not None:
            phrases.append(tuple(words.terms(phrase)))
            return f" {phrase} "
        value = quoted if quoted is not None else bare
        if name:
            filters[name.lower()].append(words.fold(value.strip(' "').lstrip("#/").rstrip("/")))
        else:
            without.append(tuple(words.terms(value)))
        return " "

    rest = _OPERATOR.sub(collect, text[:_LONGEST])
    stripped = _OPERATOR.sub(" ", text[:_LONGEST])
    return SearchQuery(
        tuple(dict.fromkeys(words.content_terms(stripped)))[:MOST_WORDS],
        _unique(p[:MOST_WORDS] for p in phrases),
        _unique(p[:MOST_WORDS] for p in without),
        _unique(filters["tag"]),
        _unique(filters["path"]),
        tuple(words.terms(rest))[: 4 * MOST_WORDS],
        _unique(filters["-tag"]),
        _unique(filters["-path"]),
        " ".join(stripped.split()),
    )


def _unique(values: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(value for value in values if value))[:_MOST_FILTERS]


def quoted(phrase: Sequence[str]) -> str:
    """An FTS5 phrase."""
    return word(phrase[0]) if len(phrase) == 1 else '"' + " ".join(phrase) + '"'


def word(term: str) -> str:
    """A word as an FTS5 expression; a single CJK character matches the bigrams that begin with it and itself at the end of a run."""
    return f'"{term}"*' if is_part(term) else f'"{term}"'


def is_part(term: str) -> bool:
    """Whether it is a single CJK character, which may be anywhere in a word."""
    return len(term) == 1 and not term.isascii() and bool(words.cjk_pattern().match(term))


def any_of(terms: Iterable[str]) -> str:
    return " OR ".join(word(term) for term in terms)


def all_of(terms: Iterable[str]) -> str:
    return " AND ".join(word(term) for term in terms)
