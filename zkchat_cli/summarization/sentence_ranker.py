"""Ranks sentences for a summary: first those that add most for their length.

The method is greedy maximum coverage, from Lin & Bilmes, *A Class of Submodular Functions for
Document Summarization* (2011). The gain of a sentence is the weight of the rare words that it has
and no chosen sentence has yet, divided by a power of its length.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from zkchat_cli.summarization.sentence_scoring import ScoredSentence

# Factor for the value of a word at each repetition
REPEAT_FACTOR = 0.03
# Power of the length that a gain is divided by: below 1, since a long sentence brings its own
# context
LENGTH_POWER = 0.95
# Factor for a sentence next to a chosen one of its message: neighbours are understood together
NEIGHBOUR_BONUS = 1.5
# Bytes of the speaker and the date in front of a message's first sentence
OPENING_BYTES = 30
# Sentences that need each other and are chosen at once: a long run of "She … She …" is taken from
# its beginning or not at all
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
        """Whether the sentence counts and has words that mean something."""
        return self.factor > 0 and bool(self.sentence.words)


class _HeapEntry(NamedTuple):
    """A position by its negative gain, because a heap has its smallest entry at the top."""

    loss: float
    position: int


class SentenceRanker:
    """Chooses candidates one after the other. The heap of gains is lazy: choosing a sentence lowers
    the gains of others, and only the gain at the top is computed again. A gain that rises, because
    a neighbour was chosen, gets a second entry.
    """

    def __init__(self, candidates: Sequence[SummaryCandidate]) -> None:
        self._candidates = candidates
        frequency = Counter(chain.from_iterable(each.sentence.words for each in candidates))
        self._word_values: dict[str, float] = {}
        for word, count in frequency.items():
            self._word_values[word] = math.log(1 + len(candidates) / count)
        self._chosen: set[int] = set()
        # The positions next to a chosen sentence of the same message
        self._near_chosen: set[int] = set()
        self._opened_messages: set[int] = set()
        self._heap: list[_HeapEntry] = []
        for each in candidates:
            if each.can_be_chosen:
                self._heap.append(self._heap_entry(each.position))
        heapq.heapify(self._heap)

    def groups(self) -> Iterator[list[SummaryCandidate]]:
        """The candidates, best first, each with the sentences it needs that did not come before."""
        heap = self._heap
        while heap:
            before = heapq.heappop(heap)
            if before.position in self._chosen:
                continue
            group = self._group(before.position)
            if not group:
                continue
            now = _HeapEntry(-self._gain(group), before.position)
            has_fallen = now.loss > before.loss
            if has_fallen and heap and now.loss > heap[0].loss:
                heapq.heappush(heap, now)
                continue
            yield group
            self._choose(group)

    def _heap_entry(self, position: int) -> "_HeapEntry":
        return _HeapEntry(-self._gain(self._group(position)), position)

    def _group(self, position: int) -> list[SummaryCandidate]:
        """The candidate, and the sentences it needs that are not chosen yet; empty if these are too
        many.
        """
        group = [position]
        # The list grows while it is read
        for member in group:
            for need in self._candidates[member].needs:
                if need not in self._chosen and need not in group:
                    group.append(need)
        if len(group) > _MAX_GROUP:
            return []
        return [self._candidates[member] for member in group]

    def _gain(self, group: Sequence[SummaryCandidate]) -> float:
        """The value that the group adds to the summary, for its length."""
        values = self._word_values
        total = 0.0
        messages = {each.message for each in group}
        length = OPENING_BYTES * len(messages - self._opened_messages)
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
        """Push the sentences around a chosen one again: their gains can be larger now, because
        they are next to it or needed it.
        """
        first = max(0, candidate.position - 1)
        for near in self._candidates[first : candidate.position + 2]:
            if near.message == candidate.message:
                self._near_chosen.add(near.position)
            elif not near.needs:
                continue
            if near.position not in self._chosen and near.can_be_chosen:
                heapq.heappush(self._heap, self._heap_entry(near.position))
