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
    """Case, diacritics and the characters between words do not count."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._lines = [" " + _normalize(text) for text in texts]
        self._text = "\n".join(self._lines)  # to search all at once: text by text takes ten times as long
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=0))
        self._initials = ["".join(word[0] for word in line.split()) for line in self._lines]

    def find(self, typed: str, limit: int) -> list[int]:
        """The numbers (from 0) of the texts that contain the typed letters in order, best first.

        First those that begin with what is typed, then those with a word that does, with words that begin with its letters, those that
        contain it, and those with its letters anywhere; within each kind the shorter first. Nothing typed matches all, in their order.
        """
        wanted = _normalize(typed).strip(" ")
        if not wanted:
            return list(range(min(len(self._lines), max(limit, 0))))
        found: dict[int, None] = {}
        for numbers in self._kinds(wanted):
            found |= dict.fromkeys(sorted(numbers, key=lambda number: (len(self._lines[number]), number)))
            if len(found) >= limit:
                break
        return list(found)[: max(limit, 0)]

    def _kinds(self, wanted: str) -> Iterator[list[int]]:
        """The texts that match, kind by kind. A text of one kind may come again in a later one; the last kind takes longest to find."""
        begin, letters = " " + wanted, wanted.replace(" ", "")
        containing = [number for number, line in enumerate(self._lines) if wanted in line]
        yield [number for number in containing if self._lines[number].startswith(begin)]
        yield [number for number in containing if begin in self._lines[number]]
        if len(letters) > 1:
            yield [number for number, initials in enumerate(self._initials) if initials.startswith(letters)]
        yield containing
        in_order = re.compile(letters[0] + "".join(f"[^{letter}\n]*+{letter}" for letter in letters[1:]))  # never goes back
        yield list({bisect_right(self._starts, match.start()) - 1: None for match in in_order.finditer(self._text)})


def best_matches(texts: Sequence[str], typed: str, limit: int) -> list[str]:
    """The matching texts, best first, for a list that is searched only once."""
    return [texts[number] for number in FuzzyMatcher(texts).find(typed, limit)]


def _normalize(text: str) -> str:
    return _NON_WORD.sub(" ", words.fold(text[:LONGEST]))
