"""Fuzzy matching while the user types: thousands of texts between two keys.

All texts are searched as one long string, one line each: the interpreter's own search in it is fifty times as fast as a loop over the
texts, and a regular expression over a part of it does not hold the lock for long.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from zkchat_cli.text import words

LONGEST = 200
"""Characters of a text, and of what is typed, that count."""
MOST_HITS = 1_000
"""Texts of one kind that are ranked; with more of them, the user types another letter."""
PART = 262_144
_NON_WORD = re.compile(r"[\W_]+")
_REST_OF_WORD = re.compile(r"(?<=[^ \n])[^ \n]+ ?")
_BLANKS = {c: " " for c in range(128) if not chr(c).isalnum()}


class FuzzyMatcher:
    """Case, diacritics and the characters between words do not count."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._lines = [_normalize(text) for text in texts]
        self._text = "\n" + "\n".join(self._lines) + "\n"
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=1))
        self._initials = "".join(_REST_OF_WORD.sub("", self._text[begin:end]) for begin, end in self._parts())
        self._initial_starts = [match.end() for match in re.finditer("\n", self._initials)]

    def find(self, typed: str, limit: int) -> list[int]:
        """The numbers (from 0) of the texts that contain the typed letters in order, best first.

        First those that begin with what is typed, then those with a word that does, with words that begin with its letters, those that
        contain it, and those with its letters anywhere; within each kind the shorter first. Nothing typed matches all, in their order.
        """
        wanted = _normalize(typed).strip(" ")
        if not wanted:
            return list(range(min(len(self._lines), max(limit, 0))))
        found: dict[int, None] = {}
        for kind in self._kinds(wanted):
            for row in kind:
                if len(found) >= limit:
                    return list(found)
                found.setdefault(row)
        return list(found)

    def _kinds(self, wanted: str) -> Iterator[list[int]]:
        letters = wanted.replace(" ", "")
        yield self._shortest_first(_rows(self._text, "\n" + wanted, self._starts))
        yield self._shortest_first(_rows(self._text, " " + wanted, self._starts))
        if len(letters) > 1:
            yield self._shortest_first(_rows(self._initials, "\n" + letters, self._initial_starts))
        yield self._shortest_first(_rows(self._text, wanted, self._starts))
        if len(letters) > 1:
            yield self._scattered(letters)

    def _shortest_first(self, rows: Iterable[int]) -> list[int]:
        return sorted(rows, key=lambda row: (len(self._lines[row]), row))

    def _scattered(self, letters: str) -> list[int]:
        """The texts with these letters in order; first those with letters at the beginnings of words and close together."""
        first, *rest = map(re.escape, letters)
        pattern = re.compile(first + "".join(f"[^{letter}\n]*+{letter}" for letter in rest))
        rows: dict[int, None] = {}
        for begin, end in self._parts():
            for match in pattern.finditer(self._text, begin, end):
                rows.setdefault(bisect_right(self._starts, match.start()) - 1)
                if len(rows) >= MOST_HITS:
                    break
        return sorted(rows, key=lambda row: (*_looseness(self._lines[row], letters), len(self._lines[row]), row))

    def _parts(self) -> Iterator[tuple[int, int]]:
        """The text cut at line ends: while one part is searched, no other thread runs."""
        begin = 0
        while begin < len(self._text):
            end = self._text.find("\n", begin + PART) + 1 or len(self._text)
            yield begin, end
            begin = end


def best_matches(texts: Sequence[str], typed: str, limit: int) -> list[str]:
    """The matching texts, best first, for a list that is searched only once."""
    return [texts[number] for number in FuzzyMatcher(texts).find(typed, limit)]


def _normalize(text: str) -> str:
    folded = words.fold(text[:LONGEST])
    return folded.translate(_BLANKS) if folded.isascii() else _NON_WORD.sub(" ", folded)


def _rows(text: str, wanted: str, starts: Sequence[int]) -> list[int]:
    """The first `MOST_HITS` lines of `text` that contain `wanted`."""
    rows: list[int] = []
    position = text.find(wanted)
    while position >= 0 and len(rows) < MOST_HITS:
        row = bisect_right(starts, position + wanted.startswith("\n")) - 1
        rows.append(row)
        position = text.find(wanted, starts[row + 1] - 1) if row + 1 < len(starts) else -1
    return rows


def _looseness(line: str, letters: str) -> tuple[int, int]:
    """How many letters are neither at the beginning of a word nor next to the one before, and how many characters they span.

    Each letter is taken at the nearest beginning of a word, or else at its nearest position.
    """
    position, first, loose = -1, 0, 0
    for letter in letters:
        is_adjacent = line.startswith(letter, position + 1)
        at_word = position + 1 if is_adjacent else line.find(" " + letter, position + 1) + 1
        nearest = line.find(letter, position + 1)
        if nearest < 0:  # a leap to the beginning of a word skipped the last one
            return len(letters), len(line)
        loose += not is_adjacent and not at_word and nearest > 0
        position = at_word or nearest
        first = first if loose or position else position
    return loose, position - first
