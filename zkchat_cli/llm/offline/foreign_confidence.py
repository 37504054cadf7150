"""How surely passages answer a question in another language than theirs. Pure.

They have other words than the question, so leaving one of its words out says nothing. What tells
instead is how far the best note is ahead of the others, by similarity and in the search, which
knows all notes. A logistic regression weighed the signals on one half of XQuAD's questions in seven
pairs of languages, each with and without the note that answers; docs/explanation/search.md shows
the other half.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zkchat_cli.llm.offline.quotes import QuoteSource

# The lead of the only note, and of one without a score
USUAL_LEAD = 0.05
# From this probability on, passages are an answer
LEAST_PROBABILITY = 0.6
# The second model has lower cosines than the English one: 95 % of the passages that answer have
# this or more
LEAST_SIMILARITY = 0.15


class ForeignSignals(NamedTuple):
    """`similarity` is that of the nearest leading passage; `covered` the share of the question's
    words in one of them, such as names. `lead` is how much nearer the nearest note is than any
    other one, and `search_lead` the share by which the first note of the search is ahead of the
    second.
    """

    similarity: float
    covered: float
    lead: float
    search_lead: float

    @property
    def probability(self) -> float:
        """The probability that the passages answer."""
        value = _INTERCEPT
        for signal, weight in zip(self, _WEIGHTS, strict=True):
            value += weight * signal
        return 1 / (1 + math.exp(-value))


_INTERCEPT = -2.38
_WEIGHTS = ForeignSignals(similarity=3.21, covered=2.2, lead=12.5, search_lead=0.0)


def lead_in_search(excerpts: Iterable[QuoteSource]) -> float:
    """By which share of its score the best note of a search is ahead of the second."""
    best: dict[str, float] = {}
    for excerpt in excerpts:
        if excerpt.score is not None:
            best[excerpt.path] = max(excerpt.score, best.get(excerpt.path, 0.0))
    first, *others = sorted(best.values(), reverse=True) or [0.0]
    if first <= 0 or not others:
        return USUAL_LEAD
    return (first - others[0]) / first


def has_unknown_number(question: str, excerpts: Sequence[QuoteSource]) -> bool:
    """Whether a number of the question is in no passage: numbers are the same in all languages."""
    numbers = set(_words_with_digits(question))
    known = set(_words_with_digits("\n".join(each.text for each in excerpts)))
    return not numbers <= known


def _words_with_digits(text: str) -> Iterable[str]:
    from zkchat_cli.text.words import terms

    return (term for term in terms(text) if any(map(str.isdigit, term)))
