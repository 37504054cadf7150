"""The pieces of words that a multilingual model reads, from its SentencePiece model.

A text is cut into the pieces with the greatest total of scores (the unigram model: Kudo 2018), so
languages without spaces need no other word borders. The libraries that do the same take 130 MB for
128,000 pieces, or bring a compiler's output for each system.
"""

import struct
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

# A word of the text begins with it
SPACE = "\u2581"
UNKNOWN = 0
BEGIN = 1
END = 2
# How much worse an unknown character is than the worst piece
UNKNOWN_PENALTY = 10.0
# Words with pieces that are kept: most of a note's words come again
MOST_WORDS = 20_000
_NOTHING = float("-inf")
# Tags of the fields in the file: a message in it, or a text in that, and a number
_MESSAGE = 0x0A
_FLOAT = 0x15
# Where a piece's message has its text: behind its tag and its length
_HEADER = 2
_INVISIBLE = str.maketrans(dict.fromkeys("\u200b\u200e\u200f\u2028\u2029\ufeff", " "))


class _EndingPiece(NamedTuple):
    """A piece that ends at some character of a word: where it starts, and its number."""

    start: int
    number: int


class SentencePieces:
    """Cuts texts into pieces, which are numbered in the order of `scores`."""

    def __init__(self, scores: Mapping[str, float]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(scores)}
        self._scores = list(scores.values())
        self._unknown_score = min(self._scores) - UNKNOWN_PENALTY
        # The longest piece by its first two characters: no longer one needs to be looked up
        self._longest: dict[str, int] = {}
        for piece in scores:
            beginning = piece[:2]
            if len(piece) > self._longest.get(beginning, 0):
                self._longest[beginning] = len(piece)
        self._pieces_of_word = lru_cache(MOST_WORDS)(self._cut)

    @classmethod
    def read(cls, model: bytes) -> "SentencePieces":
        """The pieces of a SentencePiece model. Raises ValueError for anything else."""
        return cls(_read_scores(model))

    def encode(self, text: str) -> list[int]:
        """The numbers of the pieces of a text, between those of its beginning and its end."""
        found = [BEGIN]
        words = unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).split()
        for word in words:
            found += self._pieces_of_word(SPACE + word)
        if not words:
            found.append(UNKNOWN)
        found.append(END)
        return found

    def _cut(self, word: str) -> Sequence[int]:
        """The pieces of a word with the best total of scores (Viterbi's algorithm)."""
        size = len(word)
        # For each place in the word: the best total up to there, and the piece that ends there
        totals = [0.0] + [_NOTHING] * size
        last = [_EndingPiece(0, UNKNOWN)] * (size + 1)
        for start in range(size):
            longest = self._longest.get(word[start : start + 2], 1)
            for end in range(start + 1, min(start + longest, size) + 1):
                number = self._numbers.get(word[start:end])
                if number is None:
                    continue
                total = totals[start] + self._scores[number]
                if total > totals[end]:
                    totals[end] = total
                    last[end] = _EndingPiece(start, number)
            unknown = totals[start] + self._unknown_score
            if unknown > totals[start + 1]:
                totals[start + 1] = unknown
                last[start + 1] = _EndingPiece(start, UNKNOWN)
        pieces: list[int] = []
        end = size
        while end:
            pieces.append(last[end].number)
            end = last[end].start
        return pieces[::-1]


def _read_scores(model: bytes) -> dict[str, float]:
    """The pieces with their scores, which are at the file's beginning. Raises ValueError."""
    scores: dict[str, float] = {}
    position = 0
    try:
        while model[position] == _MESSAGE:
            begin = position + _HEADER
            text = begin + _HEADER
            score = text + model[begin + 1]
            # A longer piece would have two bytes of length
            if model[begin] != _MESSAGE or model[score] != _FLOAT or score > begin + 0x7F:
                break
            [scores[model[text:score].decode()]] = struct.unpack_from("<f", model, score + 1)
            position = begin + model[position + 1]
    except (IndexError, struct.error) as e:
        raise ValueError("the SentencePiece model is cut off") from e
    if not scores:
        raise ValueError("not a SentencePiece model")
    return scores
