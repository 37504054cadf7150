"""The fusion of search by words with search by meaning.

Where a note has the words of the question, words are the better judge; where none has, meaning
finds what other words say. So meaning is weighted by how badly the words fit: fusing the two by
equal ranks costs .11 MRR where words fit, and finds .64 instead of .77 of the notes in the first
five where they do not.
"""

from collections.abc import Mapping

# The weight of meaning, where one of the best hits has all words of the query: enough to decide
# between equals
LEAST_WEIGHT = 0.03
# What is added to it where no word fits
MOST_WEIGHT = 6.0
EXPONENT = 1.5
# A cosine this many standard deviations above the mean counts like the best hit by words
DEVIATIONS = 4


def fuse(
    by_words: Mapping[int, float], by_meaning: Mapping[int, float], coverage: float
) -> dict[int, float]:
    """The chunks with their fused scores, best first. `by_meaning` are standardized cosines; chunks
    without one keep what words say.
    """
    best = max(by_words.values(), default=0.0) or 1.0
    weight = LEAST_WEIGHT + MOST_WEIGHT * max(0.0, 1 - coverage) ** EXPONENT
    scores: dict[int, float] = {}
    for id_ in {**by_words, **by_meaning}:
        meaning = by_meaning.get(id_, 0.0)
        scores[id_] = by_words.get(id_, 0.0) / best + weight * meaning / DEVIATIONS
    return sort_by_score(scores)


def sort_by_score(scores: Mapping[int, float]) -> dict[int, float]:
    """The best first; of equal ones the newest, which has the highest number."""
    best_first = sorted(scores, key=lambda id_: (-scores[id_], -id_))
    return {id_: scores[id_] for id_ in best_first}
