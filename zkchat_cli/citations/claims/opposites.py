"""Which pair of opposites a word belongs to, and what an exchange of both sides makes of it."""

from enum import Enum, auto
from functools import cache
from typing import NamedTuple

from zkchat_cli.citations.claims import opposite_words, word_relations
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.words import stem_words


class OppositeKind(Enum):
    """What makes a statement with the opposite word say the same: nothing, the two sides in
    exchange ("A is larger than B", "B is smaller than A"; "A before B"), or the two who act in
    exchange ("A buys from B", "B sells to A").
    """

    PLAIN = auto()
    COMPARED = auto()
    ORDER = auto()
    CONVERSE = auto()


class Opposite(NamedTuple):
    """The pair that a word belongs to, and on which side of it the word is: 1 or -1; 0 for words
    that only say the same.
    """

    name: str
    kind: OppositeKind
    sign: int


@cache
def opposites_of(language: str) -> dict[str, Opposite]:
    """The pair of each stem, word and phrase (with a space) of a language."""
    found: dict[str, Opposite] = {}
    if language not in opposite_words.OPPOSITE_LANGUAGES:
        return found
    column = opposite_words.OPPOSITE_LANGUAGES.index(language)
    kinds = {
        OppositeKind.PLAIN: opposite_words.PLAIN,
        OppositeKind.COMPARED: opposite_words.COMPARED,
        OppositeKind.ORDER: opposite_words.ORDER,
        OppositeKind.CONVERSE: opposite_words.CONVERSE,
    }
    for kind, table in kinds.items():
        for name, columns in table.items():
            plus, _, minus = columns[column].partition(" / ")
            _add(found, plus, Opposite(name, kind, 1), language)
            _add(found, minus, Opposite(name, kind, -1), language)
    for name, columns in word_relations.SAME.items():
        _add(found, columns[column], Opposite(name, OppositeKind.PLAIN, 0), language)
    return found


def _add(found: dict[str, Opposite], words: str, opposite: Opposite, language: str) -> None:
    for written in words.split():
        word = fold(written).replace("_", " ")
        found.setdefault(word, opposite)
        [stemmed] = stem_words([word], language)
        found.setdefault(stemmed, opposite)


def has_degrees(opposite: Opposite) -> bool:
    """Whether a pair is of adjectives that are compared: a noun with a capital letter is none."""
    return opposite.kind is OppositeKind.COMPARED
