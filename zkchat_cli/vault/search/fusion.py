"""The fusion of search by words with search by meaning.

Where a note has the words of the question, words are the better judge; where none has, meaning
finds what other words say. So meaning is weighted by how badly the words fit: fusing the two by
equal ranks costs .11 MRR where words fit, and finds .64 instead of .77 of the notes in the first
five where they do not.
"""

from collections.abc import Mapping
from typing import NamedTuple

# A cosine this many standard deviations above the mean counts like the best hit by words
DEVIATIONS = 4


class MeaningWeight(NamedTuple):
    """How much meaning counts beside words."""

    # Where one of the best hits has all words of the query: enough to decide between equals
    least: float = 0.03
    # What is added to it where no word fits
    most: float = 6.0
    exponent: float = 1.5

    def at(self, coverage: float) -> float:
        """The weight where the best hits have this share of the query's words."""
        missing = max(0.0, 1 - coverage)
        return self.least + self.most * float(missing**self.exponent)


def fuse(
    by_words: Mapping[int, float], by_meaning: Mapping[int, float], weight: float
) -> dict[int, float]:
    """The chunks with their fused scores, best first. `by_meaning` are standardized cosines, which
    count with `weight`; chunks without one keep what words say.
    """
    best = max(by_words.values(), default=0.0) or 1.0
    scores: dict[int, float] = {}
    for id_ in {**by_words, **by_meaning}:
        meaning = by_meaning.get(id_, 0.0)
        scores[id_] = by_words.get(id_, 0.0) / best + weight * meaning / DEVIATIONS
    return sort_by_score(scores)


def sort_by_score(scores: Mapping[int, float]) -> dict[int, float]:
    """The best first; of equal ones the newest, which has the highest number."""
    best_first = sorted(scores, key=lambda id_: (-scores[id_], -id_))
    return {id_: scores[id_] for id_ in best_first}
