"""Fuzzy matching while the user types."""

import re
from collections.abc import Iterable, Sequence

from zkchat_cli.text import words

LONGEST = 200
"""Characters of a text, and of what is typed, that count."""
_NON_WORD = re.compile(r"[\W_]+")


class FuzzyMatcher:
    """Case, diacritics and the characters between words do not count."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._lines = [" " + _normalize(text) for text in texts]
        self._initials = ["".join(word[0] for word in line.split()) for line in self._lines]

    def find(self, typed: str, limit: int) -> list[int]:
        """The numbers (from 0) of the texts that contain the typed letters in order, best first.

        First those that begin with what is typed, then those with a word that does, with words that begin with its letters, those that
        contain it, and those with its letters anywhere; within each kind the shorter first. Nothing typed matches all, in their order.
        """
        wanted = _normalize(typed).strip(" ")
        if not wanted:
            return list(range(min(len(self._lines), max(limit, 0))))
        begin, letters = " " + wanted, wanted.replace(" ", "")
        ranked: list[tuple[int, int, int]] = []
        for number, line in enumerate(self._lines):
            if begin in line:
                kind = 0 if line.startswith(begin) else 1
            elif len(letters) > 1 and self._initials[number].startswith(letters):
                kind = 2
            elif wanted in line:
                kind = 3
            elif _has_in_order(line, letters):
                kind = 4
            else:
                continue
            ranked.append((kind, len(line), number))
        return [number for *_, number in sorted(ranked)[: max(limit, 0)]]


def best_matches(texts: Sequence[str], typed: str, limit: int) -> list[str]:
    """The matching texts, best first, for a list that is searched only once."""
    return [texts[number] for number in FuzzyMatcher(texts).find(typed, limit)]


def _has_in_order(line: str, letters: str) -> bool:
    at = 0
    for letter in letters:
        at = line.find(letter, at) + 1
        if not at:
            return False
    return True


def _normalize(text: str) -> str:
    return _NON_WORD.sub(" ", words.fold(text[:LONGEST]))
