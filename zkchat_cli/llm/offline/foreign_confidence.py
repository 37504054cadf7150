"""How surely passages answer a question in another language than theirs. Pure.

They have other words than the question, so leaving one of its words out says nothing. What tells
is how near the best passage is, also beside all others of the vault, and how far its note is ahead
of the next one. Logistic regression weighed the signals on one half of XQuAD's questions in six
pairs of languages, each with and without the note that answers; docs/explanation/search.md shows
the other half.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from zkchat_cli.llm.offline.quotes import QuoteSource

# From this probability on, passages are an answer
LEAST_PROBABILITY = 0.66
# The second model has lower cosines than the English one: 95 % of the passages that answer have
# this or more
LEAST_SIMILARITY = 0.15
# Of passages that no search has found
USUAL_SCORE = 3.5
USUAL_LEAD = 0.2
# A higher score says no more: in a larger vault, the nearest passage is nearer by chance
HIGHEST_SCORE = 6.0


class ForeignSignals(NamedTuple):
    """`similarity` is that of the nearest leading passage, and `lead` how much nearer the nearest
    note is than any other one. `score` is that of the first result of the search: 1.5 for each
    deviation of its similarity above the mean of the vault, and for words that both have. By the
    share `search_lead` of it, that note is ahead of the second.
    """

    similarity: float
    lead: float
    score: float
    search_lead: float

    @property
    def probability(self) -> float:
        """The probability that the passages answer."""
        signals = zip(self, _WEIGHTS, strict=True)
        value = _INTERCEPT + math.fsum(signal * weight for signal, weight in signals)
        return 1 / (1 + math.exp(-value))


_INTERCEPT = -5.0
_WEIGHTS = ForeignSignals(similarity=4.33, lead=7.21, score=0.534, search_lead=2.45)


class SearchScores(NamedTuple):
    """The score of the best note of a search, and by which share of it that is ahead."""

    best: float
    lead: float


def scores_of_search(excerpts: Iterable[QuoteSource]) -> SearchScores:
    """The scores of the notes that these results of a search are of."""
    by_note: dict[str, float] = {}
    for excerpt in excerpts:
        if excerpt.score is not None:
            by_note[excerpt.path] = max(excerpt.score, by_note.get(excerpt.path, 0.0))
    best, *others = sorted(by_note.values(), reverse=True) or [0.0]
    if best <= 0:
        return SearchScores(USUAL_SCORE, USUAL_LEAD)
    lead = (best - others[0]) / best if others else USUAL_LEAD
    return SearchScores(min(best, HIGHEST_SCORE), lead)
