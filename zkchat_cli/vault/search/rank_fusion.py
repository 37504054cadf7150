"""Several rankings made one, by ranks alone: scores of different kinds (bm25, cosine) cannot be compared, places can. Pure."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

K = 60
"""How little the first places count for more than the next ones: the constant of Cormack, Clarke and Büttcher, "Reciprocal rank fusion
outperforms Condorcet and individual rank learning methods" (SIGIR 2009), which later measurements found hard to better."""


def fuse(rankings: Iterable[Iterable[T]], k: int = K) -> list[tuple[T, float]]:
    """Everything that is in any ranking, with the sum of 1 / (k + rank) over those it is in, highest first.

    Ranks begin at 1. What stands in a ranking twice counts once, at its better place. Equal sums keep the order of first mention.
    """
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), 1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])
