"""Ranks sentences for a summary: first those that add most for their length.

Greedy maximum coverage, by Lin & Bilmes, *A Class of Submodular Functions for Document
Summarization* (2011): the gain of a sentence is the weight of its rare words that no chosen
sentence has yet, for its length.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from zkchat_cli.summarization.sentence_scoring import ScoredSentence

# Each repetition multiplies the value of a word by this
REPEAT_FACTOR = 0.03
# Gain is divided by length to this power: below 1, since a long sentence brings its own context
LENGTH_POWER = 0.95
# A sentence next to a chosen one of its message gains so much: neighbours are understood together
NEIGHBOUR_BONUS = 1.5
# What the speaker and the date in front of a message's first sentence cost
OPENING_BYTES = 30
# A long run of "She … She …" is taken from its beginning or not at all
_MAX_GROUP = 4


class SummaryCandidate(NamedTuple):
    """A sentence that can be chosen unless its `factor` is 0. `position` is its index among the
    candidates, `message` the number of its message, and `needs` are the positions of sentences
    without which it means nothing.
    """

    position: int
    message: int
    sentence: ScoredSentence
    needs: tuple[int, ...] = ()
    factor: float = 1.0

    @property
    def can_be_chosen(self) -> bool:
        return self.factor > 0 and bool(self.sentence.words)


class SentenceRanker:
    """Chooses candidates one after the other. The heap of gains is lazy: gains fall when others are
    chosen, so only that of the top is computed again. Where a gain rises, because a neighbour was
    chosen, a second entry is pushed.
    """

    def __init__(self, candidates: Sequence[SummaryCandidate]) -> None:
        self._candidates = candidates
        frequency = Counter(chain.from_iterable(each.sentence.words for each in candidates))
        self._word_values = {
            word: math.log(1 + len(candidates) / count) for word, count in frequency.items()
        }
        self._chosen: set[int] = set()
        # The positions next to a chosen sentence of the same message
        self._near_chosen: set[int] = set()
        self._opened_messages: set[int] = set()
        self._heap = [
            (-self._gain(self._group(each.position)), each.position)
            for each in candidates
            if each.can_be_chosen
        ]
        heapq.heapify(self._heap)

    def groups(self) -> Iterator[list[SummaryCandidate]]:
        """The candidates, best first, each with the sentences it needs that did not come before."""
        heap = self._heap
        while heap:
            gain_before, position = heapq.heappop(heap)
            if position in self._chosen:
                continue
            group = self._group(position)
            if not group:
                continue
            gain = -self._gain(group)
            has_fallen = gain > gain_before
            if has_fallen and heap and gain > heap[0][0]:
                heapq.heappush(heap, (gain, position))
                continue
            yield group
            self._choose(group)

    def _group(self, position: int) -> list[SummaryCandidate]:
        """The candidate and what it needs that is not chosen yet; empty if that is too much."""
        group = [position]
        for member in group:  # grows while it is read
            for need in self._candidates[member].needs:
                if need not in self._chosen and need not in group:
                    group.append(need)
        if len(group) > _MAX_GROUP:
            return []
        return [self._candidates[member] for member in group]

    def _gain(self, group: Sequence[SummaryCandidate]) -> float:
        """What the group adds to the summary, for its length."""
        values = self._word_values
        total = 0.0
        length = OPENING_BYTES * len({each.message for each in group} - self._opened_messages)
        counted: set[str] = set()
        for candidate in group:
            sentence = candidate.sentence
            value = sum(values[word] for word in sentence.words if word not in counted)
            total += sentence.weight * candidate.factor * value
            length += sentence.size
            counted.update(sentence.words)
        is_near = bool(group) and group[0].position in self._near_chosen
        bonus = NEIGHBOUR_BONUS if is_near else 1.0
        return float(bonus * total / (1 + length) ** LENGTH_POWER)

    def _choose(self, group: Sequence[SummaryCandidate]) -> None:
        self._chosen.update(each.position for each in group)
        self._opened_messages.update(each.message for each in group)
        for candidate in group:
            for word in candidate.sentence.words:
                self._word_values[word] *= REPEAT_FACTOR
        for candidate in group:
            self._push_neighbours(candidate)

    def _push_neighbours(self, candidate: SummaryCandidate) -> None:
        """Push the sentences around a chosen one again: a gain is larger next to it, or if it was
        needed.
        """
        first = max(0, candidate.position - 1)
        for near in self._candidates[first : candidate.position + 2]:
            if near.message == candidate.message:
                self._near_chosen.add(near.position)
            elif not near.needs:
                continue
            if near.position not in self._chosen and near.can_be_chosen:
                gain = self._gain(self._group(near.position))
                heapq.heappush(self._heap, (-gain, near.position))
