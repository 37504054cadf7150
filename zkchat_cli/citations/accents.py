"""Accents of a quotation: "hatte" is another word than "hätte", but who quotes "Le cafe est ferme a
midi" writes without accents.

A quotation has the accents of the note, or none at all: then it must not be another word. That is
told by words that differ in an accent only (`accented_pairs`), and by accents on a last syllable,
which inflect verbs in Romance languages. Marks that make another letter (が, й) are not accents.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from zkchat_cli.citations.accented_pairs import LOANWORDS, OTHER_WORDS
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import is_stopword

# Letters that do not decompose, as they are written without their sign
_SPELLED = {"ı": "i", "œ": "oe", "æ": "ae", "ł": "l", "đ": "d", "ø": "o"}
_LIGATURES = frozenset("œæŒÆ")
# Cyrillic letters of their own
_OWN_LETTERS = frozenset("йїўЙЇЎ")
# Canonical combining classes: points of Hebrew and Arabic, and marks around a letter
_POINTS = range(10, 37)
_AROUND = (1, *range(200, 241))
_TAIL = lazy_pattern(r"[áéíóúàèìòù][sn]?\Z")
_NO_INFLECTION = ("ión", "ião")
# Words without their accents from which on a quotation is written without accents, even if some of
# them are other words
_MANY = 4
_SEVERAL = 3


class Accents(NamedTuple):
    """The letters of a text with its accents and case, and by position the marks that no letter
    has.
    """

    written: str
    loose: Mapping[int, str]

    def part(self, start: int, end: int) -> "Accents":
        """The letters from `start` to `end`."""
        loose = {at - start: marks for at, marks in self.loose.items() if start <= at < end}
        return Accents(self.written[start:end], loose)


@lru_cache(maxsize=8192)
def bare_letter(character: str) -> str:
    """A letter without case and accents; empty for a combining accent."""
    if character in _OWN_LETTERS:
        return character.casefold()
    folded = character.casefold()
    decomposed = unicodedata.normalize("NFD", _SPELLED.get(folded, folded))
    bare = "".join(each for each in decomposed if not _is_accent(each))
    return unicodedata.normalize("NFC", bare)


def _is_accent(character: str) -> bool:
    combining = unicodedata.combining(character)
    return combining in _POINTS or combining in _AROUND


def agree(quoted: Accents, noted: Accents) -> bool:
    """Whether a quotation has the accents of the note, or lacks them without being other words.
    Both have the same letters.
    """
    if quoted == noted:
        return True
    if any(quoted.loose.get(at, marks) != marks for at, marks in noted.loose.items()):
        return False
    if any(not _is_point(marks) for at, marks in quoted.loose.items() if at not in noted.loose):
        return False
    lacking = _lacking_words(quoted.written, noted.written)
    if lacking is None:
        return False
    return not lacking or _may_lack(lacking)


def lacks_accents(quoted: Accents, noted: Accents) -> bool:
    """Whether a quotation that agrees with the note is written without its accents."""
    return bool(noted.loose and not quoted.loose) or bool(
        _lacking_words(quoted.written, noted.written)
    )


def _is_point(marks: str) -> bool:
    return all(unicodedata.combining(mark) in _POINTS for mark in marks)


def _lacking_words(quoted: str, noted: str) -> list[str] | None:
    """The words of the note that are quoted without accents; None if any word is quoted with
    others.
    """
    if quoted == noted or quoted.casefold() == noted.casefold():
        return []
    lacking: list[str] = []
    for own, word in zip(quoted.split(" "), noted.split(" "), strict=False):
        if not _same_letters(own, word):
            lacking.append(word)
    if lacking and any(map(_has_accent, quoted)):
        return None
    return lacking


def _same_letters(quoted: str, noted: str) -> bool:
    return len(quoted) == len(noted) and all(map(_same_letter, quoted, noted))


def _same_letter(quoted: str, noted: str) -> bool:
    """Whether two letters are the same, in any case: the capital of ı is I, and i is that of İ."""
    if quoted.casefold() == noted.casefold():
        return True
    return {quoted, noted} in ({"I", "ı"}, {"i", "İ"})


def _has_accent(character: str) -> bool:
    if character.isascii() or character in _LIGATURES:
        return False
    return bare_letter(character) != character.casefold()


def _may_lack(words: Sequence[str]) -> bool:
    """Whether these words may be written without accents."""
    distinct = {word.casefold() for word in words}
    others = sum(map(_is_other_word, distinct))
    return not others or len(distinct) >= _MANY or (len(distinct) >= _SEVERAL and others == 1)


@lru_cache(maxsize=1024)
def _is_other_word(word: str) -> bool:
    """Whether a word without its accents is, or may be, another one."""
    letters = "".join(filter(str.isalpha, word))
    bare = bare_word(letters)
    if bare in _other_words() or is_stopword(bare):
        return True
    if bare in LOANWORDS or letters.endswith(_NO_INFLECTION):
        return False
    return bool(_TAIL.search(letters))


def bare_word(word: Iterable[str]) -> str:
    """A word without case and accents."""
    return "".join(map(bare_letter, word))


@lru_cache(maxsize=1)
def _other_words() -> frozenset[str]:
    return frozenset(
        bare_word(word) for written in OTHER_WORDS.values() for word in written.split()
    )
