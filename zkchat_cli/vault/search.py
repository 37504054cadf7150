"""What a search box's text means: words of which any may occur, and "phrases" that must. Pure; the result is an FTS5 expression.

Every word is quoted on its way to FTS5, so nothing a person or a note says is an operator there: `AND`, `*`, `NEAR(` are words or nothing.
"""

import re
from dataclasses import dataclass

from zkchat_cli import words

MOST_WORDS = 48
"""Words of a query that are looked for, the first ones: a page of text pasted as a query asks no better with more, only slower."""
_PHRASE = re.compile(r'"([^"]+)"')


@dataclass(frozen=True, slots=True)
class Query:
    words: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...] = ()

    @property
    def expression(self) -> str:
        """All the phrases, and any of the words; empty when the text has neither."""
        phrases = [_quoted(phrase) for phrase in self.phrases]
        anything = " OR ".join([*phrases, *(_word(w) for w in self.words)])
        return f"({' AND '.join(phrases)}) AND ({anything})" if phrases else anything

    @property
    def loose(self) -> str:
        """The same without insisting on the phrases, for when nothing contains them."""
        parts = dict.fromkeys([*self.words, *(term for phrase in self.phrases for term in phrase)])
        return " OR ".join(_word(w) for w in parts)


def analyse(text: str) -> Query:
    text = text[:20_000]
    phrases = tuple(dict.fromkeys(tuple(words.terms(p)) for p in _PHRASE.findall(text)))
    rest = words.content_terms(_PHRASE.sub(" ", text) if phrases else text)
    return Query(tuple(dict.fromkeys(rest))[:MOST_WORDS], tuple(p[:MOST_WORDS] for p in phrases if p)[:8])


def _word(term: str) -> str:
    """A single CJK character is looked for as the beginning of a bigram, which is how the index holds it."""
    return f'"{term}"*' if len(term) == 1 and not term.isascii() else f'"{term}"'


def _quoted(phrase: tuple[str, ...]) -> str:
    return '"' + " ".join(phrase) + '"'
