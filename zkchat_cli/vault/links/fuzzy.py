"""Fuzzy matching while the user types."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from zkchat_cli.text import words

LONGEST = 200
"""Characters of a text, and of what is typed, that count."""
_NON_WORD = re.compile(r"[\W_]+")


class FuzzyMatcher:
    """Case, diacritics and the characters between words do not count.

    The texts are searched as the lines of one string: to search them one by one takes ten times as long.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        lines = ["\n " + _normalize(text) for text in texts]
        self._text, self._starts = "".join(lines), list(accumulate(map(len, lines), initial=0))

    def find(self, typed: str, limit: int) -> list[int]:
        """The numbers (from 0) of the texts that contain the typed letters in order, best first.

        First those that begin with what is typed, then those with a word that does, those that contain it, and those with its letters
        anywhere; within each kind the shorter first. Nothing typed matches all, in their order.
        """
        wanted = _normalize(typed).strip(" ")
        if not wanted:
            return list(range(min(len(self._starts) - 1, max(limit, 0))))
        found: dict[int, None] = {}
        for numbers in (*map(self._containing, (f"\n {wanted}", f" {wanted}", wanted)), self._in_order(wanted.replace(" ", ""))):
            found |= dict.fromkeys(sorted(numbers, key=lambda number: self._starts[number + 1] - self._starts[number]))
            if len(found) >= limit:
                break
        return list(found)[: max(limit, 0)]

    def _containing(self, wanted: str) -> Iterator[int]:
        number = -1
        while (at := self._text.find(wanted, self._starts[number + 1])) >= 0:
            number = bisect_right(self._starts, at) - 1
            yield number

    def _in_order(self, letters: str) -> Iterator[int]:
        following = "".join(f"[^{letter}\n]*+{letter}" for letter in letters[1:])  # never goes back
        for line in re.finditer(rf"{letters[0]}{following}[^\n]*+", self._text):
            yield bisect_right(self._starts, line.start()) - 1


def best_matches(texts: Sequence[str], typed: str, limit: int) -> list[str]:
    """The matching texts, best first, for a list that is searched only once."""
    return [texts[number] for number in FuzzyMatcher(texts).find(typed, limit)]


def _normalize(text: str) -> str:
    return _NON_WORD.sub(" ", words.fold(text[:LONGEST]))
