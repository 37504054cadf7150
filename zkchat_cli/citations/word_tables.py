"""Looks up words of the tables by language (`negations`, `restrictions` and others) in a text.

Sets of words are built in a millisecond, while a pattern of a thousand words takes 50 ms to
compile, which each question would pay.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from zkchat_cli.citations.accents import bare_word
from zkchat_cli.text.patterns import lazy_pattern

_TOKEN = lazy_pattern(
    r"(?:n|l|d|qu|j|c|s|t|m|jusqu|lorsqu|puisqu|quoiqu)'(?=\w)|\w+(?:['-]\w+)*|[,;:()、]|(?<=\s)-(?=\s)",
    re.IGNORECASE,
)
"""A word, a French article before its word, or a mark between clauses."""
_MONTH_OF_MAY = lazy_pattern(
    r"(?:(?<=\b[Ii]n )|(?<=\b[Oo]f )|(?<=\b[Bb]y )|(?<=\bto )|(?<=\d )|(?<=\b[Ll]ast )"
    r"|(?<=\b[Nn]ext )|(?<=\b[Ee]arly )|(?<=\b[Ll]ate )|(?<=\b[Ss]ince )|(?<=\b[Ff]rom )"
    r"|(?<=\b[Tt]his ))May\b|\bMay(?=,? \d)"
)
"""A month that "may" be taken for a verb."""
_ARABIC = lazy_pattern("[\u0600-\u06ff]")
_ARABIC_PREFIXES = ("وال", "ال", "و", "ف")
_LONGEST = 4


class Token(NamedTuple):
    """A word or a mark between clauses, in lower case, and its place in the text."""

    text: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        return self.text[-1].isalnum() or self.text[-1] == "'"


def read_tokens(text: str) -> list[Token]:
    """The words of a text, and its marks between clauses."""
    lowered = _MONTH_OF_MAY.sub("jun", text.replace("İ", "i")).lower()
    return [Token(found[0], *found.span()) for found in _TOKEN.finditer(lowered)]


class WordTable:
    """Words, and phrases of a few words, in some languages."""

    def __init__(self, written: Iterable[str]) -> None:
        self._phrases: set[str] = set()
        for phrase in written:
            key = _phrase_key(phrase.replace("_", " "))
            self._phrases.add(key)
            if key.endswith((" que", " de")):
                # "parce que" is "parce qu'il" before a vowel
                self._phrases.add(f"{key[:-1]}'")
            if _ARABIC.search(key):
                self._phrases.add(bare_word(key))
        self._first_words = {phrase.partition(" ")[0] for phrase in self._phrases}

    def starts_at(self, tokens: Sequence[Token], at: int) -> int:
        """How many tokens from one on are a phrase of this table; 0 if they are none."""
        first = tokens[at].text if at < len(tokens) else ""
        if first not in self._first_words and not first.startswith(_ARABIC_PREFIXES):
            return 0
        for size in range(min(_LONGEST, len(tokens) - at), 0, -1):
            key = " ".join(token.text for token in tokens[at : at + size])
            if key in self._phrases:
                return size
            if any(key.removeprefix(each) in self._phrases for each in _ARABIC_PREFIXES):
                return size
        return 0

    def find(self, tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
        """The phrases among these tokens: the index of the first token of each, and that behind
        its last one.
        """
        at = 0
        while at < len(tokens):
            size = self.starts_at(tokens, at)
            if size:
                yield at, at + size
            at += size or 1

    def is_in(self, tokens: Sequence[Token]) -> bool:
        """Whether one of its phrases is among these tokens."""
        return any(True for _ in self.find(tokens))

    def ends_at(self, tokens: Sequence[Token], end: int) -> int:
        """The index where a phrase begins that ends before the token `end`; -1 if none does."""
        for at in range(max(0, end - _LONGEST), end):
            if self.starts_at(tokens, at) == end - at:
                return at
        return -1


def _phrase_key(phrase: str) -> str:
    if phrase.endswith("'"):
        # Alone, "n'" would be the letter
        return phrase
    return " ".join(token.text for token in read_tokens(phrase))


def words_for(
    language: str, table: Mapping[str, str] | str, other_words: Mapping[str, str] = {}
) -> WordTable:
    """The words of a table for a text in this language: its own words, and those of other languages
    unless they are different words in this one.
    """
    if isinstance(table, str):
        return WordTable(table.split())
    excluded = set(other_words.get(language, "").split())
    found = set(table.get(language, "").split())
    for written in table.values():
        found |= set(written.split()) - excluded
    return WordTable(found)


def own_words(language: str, table: Mapping[str, str]) -> WordTable:
    """The words of a table in this language only."""
    return WordTable(table.get(language, "").split())


@lru_cache(maxsize=64)
def unspaced_words(table: str) -> re.Pattern[str]:
    """A pattern of words of a script without spaces, longest first."""
    longest_first = sorted(table.split(), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)))
