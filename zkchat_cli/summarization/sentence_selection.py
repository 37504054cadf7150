"""Ranks the sentences of a conversation so that the first ones together cover most of it: greedy maximum coverage.

Lin & Bilmes, *A Class of Submodular Functions for Document Summarization* (2011): the gain of a sentence is the weight of its rare words
that no chosen sentence has yet, for its length. A sentence that means nothing alone brings, and pays for, the sentences it needs.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from zkchat_cli.summarization.sentence_scoring import ScoredSentence

REPEAT_FACTOR = 0.03
"""Each repetition multiplies the value of a word by this."""
LENGTH_POWER = 0.95
"""Gain is divided by length to this power: below 1, since a long sentence brings its own context."""
NEIGHBOUR_BONUS = 1.5
"""A sentence next to a chosen one of its message gains so much: neighbours are understood together."""
OPENING_BYTES = 30
"""What the speaker and the date in front of a message's first sentence cost."""
_MAX_GROUP = 4
"""A long run of "She … She …" is taken from its beginning or not at all."""


class SummaryCandidate(NamedTuple):
    """A sentence that can be chosen unless its `factor` is 0. `needs` are the positions of sentences without which it means nothing."""

    position: int
    message: int
    sentence: ScoredSentence
    needs: tuple[int, ...] = ()
    factor: float = 1.0


def rank_sentences(candidates: Sequence[SummaryCandidate]) -> Iterator[list[SummaryCandidate]]:
    """The candidates, best first, each with the sentences it needs that did not come before.

    The heap is lazy: gains fall as others are chosen, so only the top is computed again. Where a gain rises, because a neighbour was
    chosen, a second entry is pushed.
    """
    frequency = Counter(chain.from_iterable(candidate.sentence.words for candidate in candidates))
    value_of = {n: math.log(1 + len(candidates) / n) for n in set(frequency.values())}
    values = {word: value_of[n] for word, n in frequency.items()}
    chosen: set[int] = set()
    near_chosen: set[int] = set()
    """The positions next to a chosen sentence of the same message."""
    opened: set[int] = set()

    def group_of(position: int) -> list[SummaryCandidate]:
        """The candidate and what it needs that is not chosen yet; empty if that is too much."""
        group = [position]
        for member in group:  # grows while it is read
            group += [need for need in candidates[member].needs if need not in chosen and need not in group]
        return [candidates[member] for member in group] if len(group) <= _MAX_GROUP else []

    def gain(group: Sequence[SummaryCandidate]) -> float:
        total, length = 0.0, OPENING_BYTES * len({c.message for c in group} - opened)
        counted: set[str] = set()
        for c in group:
            total += c.sentence.weight * c.factor * sum(values[word] for word in c.sentence.words if word not in counted)
            length += c.sentence.size
            counted.update(c.sentence.words)
        bonus = NEIGHBOUR_BONUS if group and group[0].position in near_chosen else 1.0
        return float(bonus * total / (1 + length) ** LENGTH_POWER)

    heap = [(-gain(group_of(c.position)), c.position) for c in candidates if c.sentence.words and c.factor > 0]
    heapq.heapify(heap)
    while heap:
        before, position = heapq.heappop(heap)
        if position in chosen or not (group := group_of(position)):
            continue
        now = -gain(group)
        if heap and now > heap[0][0] and now > before:
            heapq.heappush(heap, (now, position))
            continue
        yield group
        chosen.update(c.position for c in group)
        opened.update(c.message for c in group)
        for word in (word for c in group for word in c.sentence.words):
            values[word] *= REPEAT_FACTOR
        for c in group:
            for near in candidates[max(0, c.position - 1) : c.position + 2]:
                if near.message == c.message:
                    near_chosen.add(near.position)
                elif not near.needs:
                    continue
                if near.position not in chosen and near.factor > 0 and near.sentence.words:
                    heapq.heappush(heap, (-gain(group_of(near.position)), near.position))
