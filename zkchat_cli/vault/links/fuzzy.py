"""Texts found by some of their letters, as one types them: thousands of them between two keys.

What is searched is one long string of all texts, a line each: finding something in it is the interpreter's own search, fifty times as fast
as going from text to text, and a regular expression over it holds no lock for longer than a part of it takes.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from zkchat_cli.text import words

LONGEST = 200
"""Characters of a text that count, and of what is typed."""
MOST_HITS = 1_000
"""Texts of one kind that are ranked; where so many have what is typed, a letter more will tell."""
PART = 262_144
_NO_WORD = re.compile(r"[\W_]+")
_REST_OF_WORD = re.compile(r"(?<=[^ \n])[^ \n]+ ?")
_BLANKS = {c: " " for c in range(128) if not chr(c).isalnum()}


class FuzzyMatcher:
    """Case, diacritics and which mark stands between two words do not count."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._lines = [_plain(text) for text in texts]
        self._text = "\n" + "\n".join(self._lines) + "\n"
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=1))
        self._initials = "".join(_REST_OF_WORD.sub("", self._text[begin:end]) for begin, end in self._parts())
        self._initial_starts = [match.end() for match in re.finditer("\n", self._initials)]

    def find(self, typed: str, limit: int) -> list[int]:
        """The numbers (from 0) of the texts that have the letters typed in their order, at most `limit`, the best first.

        First those that begin with what is typed, then those with a word that does, with words that begin with its letters, those that
        contain it, and those that have its letters anywhere; within each kind the shorter first. All match nothing typed, as they came.
        """
        wanted = _plain(typed).strip(" ")
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
        yield self._containing("\n" + wanted)
        yield self._containing(" " + wanted)
        if len(letters) > 1:
            yield self._by_initials(letters)
        yield self._containing(wanted)
        if len(letters) > 1:
            yield self._scattered(letters)

    def _containing(self, wanted: str) -> list[int]:
        return self._shortest(_rows(self._text, wanted, self._starts))

    def _by_initials(self, letters: str) -> list[int]:
        return self._shortest(_rows(self._initials, "\n" + letters, self._initial_starts))

    def _shortest(self, rows: Iterable[int]) -> list[int]:
        return sorted(rows, key=lambda row: (len(self._lines[row]), row))

    def _scattered(self, letters: str) -> list[int]:
        """Whose letters come in this order; the most of them at beginnings of words, side by side and close together first."""
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
        """The text cut at ends of lines: while one part is searched, no other thread runs."""
        begin = 0
        while begin < len(self._text):
            end = self._text.find("\n", begin + PART) + 1 or len(self._text)
            yield begin, end
            begin = end


def best(texts: Sequence[str], typed: str, limit: int) -> list[str]:
    """The texts that have the letters typed, the best first: for a list that is made anew each time."""
    return [texts[number] for number in FuzzyMatcher(texts).find(typed, limit)]


def _plain(text: str) -> str:
    folded = words.fold(text[:LONGEST])
    return folded.translate(_BLANKS) if folded.isascii() else _NO_WORD.sub(" ", folded)


def _rows(text: str, wanted: str, starts: Sequence[int]) -> list[int]:
    """The lines of `text` that have `wanted`, each once; the first `MOST_HITS` of them."""
    rows: list[int] = []
    place = text.find(wanted)
    while place >= 0 and len(rows) < MOST_HITS:
        row = bisect_right(starts, place + wanted.startswith("\n")) - 1
        rows.append(row)
        place = text.find(wanted, starts[row + 1] - 1) if row + 1 < len(starts) else -1
    return rows


def _looseness(line: str, letters: str) -> tuple[int, int]:
    """How many letters stand neither at the beginning of a word nor beside the one before, and over how many characters they spread.

    Each letter is looked for at the nearest beginning of a word, or else at its nearest place.
    """
    place, first, loose = -1, 0, 0
    for letter in letters:
        beside = line.startswith(letter, place + 1)
        at_word = place + 1 if beside else line.find(" " + letter, place + 1) + 1
        nearest = line.find(letter, place + 1)
        if nearest < 0:  # a leap to a word's beginning went past the last one
            return len(letters), len(line)
        loose += not beside and not at_word and nearest > 0
        place = at_word or nearest
        first = first if loose or place else place
    return loose, place - first
