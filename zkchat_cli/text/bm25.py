"""Okapi BM25: how well the words of a text answer a query.

Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond*, 2009; for texts
with weighted fields, Robertson, Zaragoza and Taylor, *Simple BM25 Extension to Multiple Weighted
Fields*, 2004: the weighted counts of all fields are added up before they saturate once.

The search of notes, the recall of earlier messages and the memory share these formulas. Each has
its own parameters, since its texts differ in length.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# One text's figure, or an array with the figures of many
_Figure = TypeVar("_Figure", float, "NDArray[np.float64]")


def rarity(containing: int, texts: int) -> float:
    """The weight of a word that `containing` of so many texts have: their inverse document
    frequency, and never negative.
    """
    return math.log(1 + (texts - containing + 0.5) / (containing + 0.5))


class Bm25(NamedTuple):
    """The two parameters, with the names and default values of the paper.

    `k1`: how slowly a word's score saturates as the word is repeated. `b`: how much a long text is
    penalized, from 0 (not at all) to 1 (in proportion to its length).
    """

    k1: float = 1.2
    b: float = 0.75

    def norm(self, length: _Figure, average: float) -> _Figure:
        """What a text's length adds to the divisor of its scores: `k1` for an average length."""
        return self.k1 * (1 - self.b + self.b * length / average)

    def word_score(self, rarity: float, count: _Figure, norm: _Figure) -> _Figure:
        """The score of a text for a word that it has `count` times, a weighted sum if it has
        fields.
        """
        return rarity * count * (self.k1 + 1) / (count + norm)

    def score(
        self, counts: Mapping[str, float], rarities: Mapping[str, float], norm: float
    ) -> float:
        """The score of a text for all words of a query, with the count and the rarity of each."""
        return sum(
            self.word_score(rarities[word], count, norm) for word, count in counts.items() if count
        )
