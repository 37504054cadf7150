"""Fuzzy matching while the user types."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from zkchat_cli.text import words

LONGEST = 200
"""Characters of a text, and of what is typed, that count."""
_NON_WORD = re.compile(r"[\W_]+")


class _Lines:
    """Lines, each of which begins with its line break, as one string: to search them one by one takes ten times as long."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.text, self._starts = "".join(lines), list(accumulate(map(len, lines), initial=0))

    def number_at(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1

    def containing(self, wanted: str) -> Iterator[int]:
        """The numbers (from 0) of the lines that contain it, in order."""
        number = -1
        while (at := self.text.find(wanted, self._starts[number + 1])) >= 0:
            number = self.number_at(at)
            yield number


class FuzzyMatcher:
    """Case, diacritics and the characters between words do not count."""

    def __init__(self, texts: Iterable[str]) -> None:
        lines = ["\n " + _normalize(text) for text in texts]
        self._lengths = list(map(len, lines))
        self._names = _Lines(lines)
        self._initials = _Lines(["\n" + "".join(word[0] for word in line.split()) for line in lines])

    def find(self, typed: str, limit: int) -> list[int]:
        """The numbers (from 0) of the texts that contain the typed letters in order, best first.

        First those that begin with what is typed, then those with a word that does, with words that begin with its letters, those that
        contain it, and those with its letters anywhere; within each kind the shorter first. Nothing typed matches all, in their order.
        """
        wanted = _normalize(typed).strip(" ")
        if not wanted:
            return list(range(min(len(self._lengths), max(limit, 0))))
        found: dict[int, None] = {}
        for numbers in self._kinds(wanted):
            found |= dict.fromkeys(sorted(numbers, key=self._lengths.__getitem__))
            if len(found) >= limit:
                break
        return list(found)[: max(limit, 0)]

    def _kinds(self, wanted: str) -> Iterator[Iterable[int]]:
        """The texts that match in order, kind by kind. A text may come again in a later kind; the last one takes longest to find."""
        letters = wanted.replace(" ", "")
        yield self._names.containing("\n " + wanted)
        yield self._names.containing(" " + wanted)
        if len(letters) > 1:
            yield self._initials.containing("\n" + letters)
        yield self._names.containing(wanted)
        in_order = re.compile(letters[0] + "".join(f"[^{letter}\n]*+{letter}" for letter in letters[1:]))  # never goes back
        yield {self._names.number_at(match.start()): None for match in in_order.finditer(self._names.text)}


def best_matches(texts: Sequence[str], typed: str, limit: int) -> list[str]:
    """The matching texts, best first, for a list that is searched only once."""
    return [texts[number] for number in FuzzyMatcher(texts).find(typed, limit)]


def _normalize(text: str) -> str:
    return _NON_WORD.sub(" ", words.fold(text[:LONGEST]))
