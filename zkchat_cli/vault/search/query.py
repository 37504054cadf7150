"""What a search box's text means: words of which any may occur, "phrases" that must, -words that must not,
tag:x and path:y, or -tag:x and -path:y. Pure.

Every word is quoted on its way to FTS5, so nothing a person or a note says is an operator there: `AND`, `*`, `NEAR(` are words or nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from zkchat_cli.text import words

MOST_WORDS = 48
"""Words of a query that are looked for, the first ones: a page of text pasted as a query asks no better with more, only slower."""
_MOST_OTHERS = 8
_LONGEST = 20_000
_OPERATOR = re.compile(r"""(?<!\S)(?:(-?(?:tag|path)):|-(?="|[^\W\d_]{2}))(?:"([^"]*)"|(\S+))|"([^"]+)\"""", re.IGNORECASE)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """`order` is what is left of the text without its operators, phrases included, as terms: who stands beside whom."""

    words: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    without: tuple[tuple[str, ...], ...] = ()
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    without_paths: tuple[str, ...] = ()

    @property
    def is_limited(self) -> bool:
        """Whether not all notes may be found."""
        return bool(self.tags or self.paths or self.without_tags or self.without_paths)

    @property
    def terms(self) -> tuple[str, ...]:
        """All the different words that count, those of phrases included."""
        return tuple(dict.fromkeys([*self.words, *(term for phrase in self.phrases for term in phrase)]))

    @property
    def loose(self) -> "SearchQuery":
        """The same without insisting on the phrases, for when nothing contains them."""
        return replace(self, words=self.terms, phrases=())

    @property
    def is_plain(self) -> bool:
        """Whether it is nothing but words, which a search by meaning understands, too."""
        return bool(self.words) and not (self.phrases or self.without or self.is_limited)

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.phrases or self.tags or self.paths)


def parse_query(text: str) -> SearchQuery:
    """A query that begins or ends with an operator still asks for its other words; one that only excludes asks for nothing."""
    phrases: list[tuple[str, ...]] = []
    without: list[tuple[str, ...]] = []
    filters: dict[str, list[str]] = {"tag": [], "path": [], "-tag": [], "-path": []}

    def take(operator: re.Match[str]) -> str:
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

    rest = _OPERATOR.sub(take, text[:_LONGEST])
    stripped = _OPERATOR.sub(" ", text[:_LONGEST])
    return SearchQuery(
        tuple(dict.fromkeys(words.content_terms(stripped)))[:MOST_WORDS],
        _some(p[:MOST_WORDS] for p in phrases),
        _some(p[:MOST_WORDS] for p in without),
        _some(filters["tag"]),
        _some(filters["path"]),
        tuple(words.terms(rest))[: 4 * MOST_WORDS],
        _some(filters["-tag"]),
        _some(filters["-path"]),
    )


def _some(values: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(value for value in values if value))[:_MOST_OTHERS]


def quoted(phrase: Sequence[str]) -> str:
    """These words as an FTS5 phrase."""
    return word(phrase[0]) if len(phrase) == 1 else '"' + " ".join(phrase) + '"'


def word(term: str) -> str:
    """A word as an FTS5 expression; a single CJK character is the beginning of a bigram or the end of a run, as the index holds it."""
    return f'"{term}"*' if is_part(term) else f'"{term}"'


def is_part(term: str) -> bool:
    """Whether it is a single CJK character, which may stand anywhere in a word."""
    return len(term) == 1 and not term.isascii() and bool(words.cjk_pattern().match(term))


def any_of(terms: Iterable[str]) -> str:
    return " OR ".join(word(term) for term in terms)


def all_of(terms: Iterable[str]) -> str:
    return " AND ".join(word(term) for term in terms)
