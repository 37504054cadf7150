"""Chooses the sentences that together cover most of a conversation within a token budget: greedy maximum coverage.

Lin & Bilmes, *A Class of Submodular Functions for Document Summarization* (2011): the gain of a sentence is the weight of its rare words
that no chosen sentence has yet, per token. A sentence that means nothing alone brings, and pays for, the sentences it needs.

As the conversation continues, a new sentence replaces chosen ones with less gain per token (Badanidiyuru et al., *Streaming Submodular
Maximization*, 2014), and only now and then is everything chosen again. So an update costs as much as the new and the chosen sentences,
however long the conversation is.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zkchat_cli.summarization.extractive.sentence_scoring import ScoredSentence
from zkchat_cli.tokens.counter import TokenCounter

REPEAT_FACTOR, MAX_REPEATS = 0.1, 2
"""Each repetition multiplies the value of a word by this, at most so often."""
LENGTH_POWER = 0.95
"""Gain is divided by tokens to this power: below 1, since a long sentence brings its own context."""
NEIGHBOUR_BONUS, CHOSEN_NEIGHBOUR_BONUS = 1.5, 2.25
"""A sentence next to a chosen one of its message gains so much, before and after it is chosen: neighbours are understood together."""
DATE_TOKENS = 5
POOL_FACTOR = 12
"""A rebuild looks closely at the best sentences only, so many times the budget."""
REBUILD_SHARE = 0.5
"""Everything is chosen again after new text of this share of the budget."""
_CHARACTERS_PER_TOKEN = 4
_MAX_NEEDS = 3
"""A long run of "She … She …" is taken from its beginning or not at all."""


@dataclass(frozen=True, slots=True)
class SummaryCandidate:
    """A sentence that can be chosen, unless its `factor` is 0.

    `opening` are extra tokens if it is the first chosen sentence of its `message`; `needs` are the positions of the sentences without which
    it means nothing, or something false.
    """

    position: int
    message: int
    day: str
    sentence: ScoredSentence
    opening: int
    needs: tuple[int, ...] = ()
    factor: float = 1.0

    @property
    def is_eligible(self) -> bool:
        return bool(self.sentence.words) and self.factor > 0


class MaxCoverageSelector:
    """The sentences chosen so far. `chosen` maps the first position of each group to the positions that were chosen together.

    The heap of candidates is lazy: gains fall as others are chosen, so only the top is computed again. Where a gain rises, because a
    neighbour was chosen, a second entry is pushed.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self.chosen: dict[int, tuple[int, ...]] = {}
        self._candidates: list[SummaryCandidate] = []
        self._counter = counter
        self._tokens: dict[int, int] = {}
        self._dependents: dict[int, list[int]] = {}
        self._frequency: Counter[str] = Counter()
        self._covered: Counter[str] = Counter()
        """How often the chosen sentences have each word."""
        self._word_values: dict[str, float] = {}
        """Computed on demand; a changed word is removed."""
        self._group_of: dict[int, int] = {}
        """The key in `chosen` of each chosen position."""
        self._open: Counter[int | str] = Counter()
        """How many chosen sentences each message and each day has."""
        self._pending: list[int] = []
        """Candidates for the next choice."""
        self._reserve: list[int] = []
        """Candidates for the next rebuild."""
        self._new_characters = 0

    def __getitem__(self, position: int) -> SummaryCandidate:
        return self._candidates[position]

    def add(self, candidates: Sequence[SummaryCandidate]) -> None:
        """Append candidates; none is chosen yet."""
        self._candidates += candidates
        for candidate in candidates:
            self._frequency.update(candidate.sentence.words)
            self._new_characters += len(candidate.sentence.text)
            self._queue(candidate)
            self._forget_values(candidate.sentence.words)

    def update(self, candidate: SummaryCandidate) -> None:
        """Replace the candidate at its position: a later sentence corrected it."""
        if candidate.position in self._group_of:
            self._drop(self._dependent_groups(self._group_of[candidate.position]))
        self._candidates[candidate.position] = candidate
        self._queue(candidate)

    def _queue(self, candidate: SummaryCandidate) -> None:
        self._pending.append(candidate.position)
        for need in candidate.needs:
            self._dependents.setdefault(need, []).append(candidate.position)

    def needs_rebuild(self, budget: int) -> bool:
        return self._new_characters > REBUILD_SHARE * _CHARACTERS_PER_TOKEN * budget

    def rebuild(self, budget: int) -> None:
        """Clear the choice and queue the best candidates, `POOL_FACTOR` times the budget."""
        pool = sorted({*self._pending, *self._reserve, *self._group_of})
        self.chosen, self._group_of, self._new_characters = {}, {}, 0
        self._open.clear()
        self._covered.clear()
        self._word_values.clear()
        self._reserve, self._pending = [], self._best_of(pool, POOL_FACTOR * _CHARACTERS_PER_TOKEN * budget)

    def fill(self, budget: int) -> bool:
        """Choose more sentences for at most `budget` tokens. Returns whether any was chosen."""
        before = len(self.chosen)
        heap = self._build_heap()
        while heap:
            gain, position = heapq.heappop(heap)
            if position in self._group_of:
                continue
            group = self._group(position)
            cost = self._cost(group)
            if not group or cost > budget:
                self._pending.append(position)
            elif not self._push_back(gain, position, group, heap):
                budget -= cost
                self._choose(group, heap)
        return len(self.chosen) > before

    def exchange(self, budget: int) -> None:
        """Choose pending sentences for at most `budget` more tokens, dropping chosen ones that are worth less per token; then `fill`."""
        heap = self._build_heap()
        weakest = [(self._loss(groups), groups) for groups in map(self._dependent_groups, self.chosen)]
        heapq.heapify(weakest)
        while heap:
            gain, position = heapq.heappop(heap)
            group = self._group(position)
            if position in self._group_of or self._push_back(gain, position, group, heap):
                continue
            gain, cost = self._gain_per_token(position, group), self._cost(group)
            while cost > budget and weakest and weakest[0][0] < gain:
                loss, groups = heapq.heappop(weakest)
                if not all(first in self.chosen for first in groups):
                    continue
                if (loss_now := self._loss(groups)) > loss + 1e-9:  # another sentence with the same words was dropped
                    heapq.heappush(weakest, (loss_now, groups))
                    continue
                budget += self._drop(groups)
                group = self._group(position)
                cost = self._cost(group)
            if group and cost <= budget:
                budget -= cost
                self._choose(group, heap)
            else:
                self._pending.append(position)
        self.fill(budget)

    def finalize(self) -> None:
        """Leave the pending candidates to the next rebuild."""
        self._reserve += self._pending
        self._pending = []

    def evict(self) -> None:
        """Drop the group that is worth least per token."""
        self._drop(min(map(self._dependent_groups, self.chosen), key=self._loss))

    def _build_heap(self) -> list[tuple[float, int]]:
        pending, self._pending = self._pending, []
        eligible = (p for p in pending if p not in self._group_of and self._candidates[p].is_eligible)
        heap = [(-self._gain_per_token(p, self._group(p)), p) for p in eligible]
        heapq.heapify(heap)
        return heap

    def _push_back(self, gain: float, position: int, group: Sequence[int], heap: list[tuple[float, int]]) -> bool:
        """Push the former top of the heap back if its gain has fallen below the next one."""
        gain_now = self._gain_per_token(position, group)
        if heap and gain_now < -heap[0][0] - 1e-9 and gain_now < -gain - 1e-9:
            heapq.heappush(heap, (-gain_now, position))
            return True
        return False

    def _best_of(self, pool: Iterable[int], characters: int) -> list[int]:
        """The candidates with the highest gain per character, so many characters of them: their tokens need not be counted."""

        def density(candidate: SummaryCandidate) -> float:
            return self._gain(candidate, candidate.sentence.words) / float(len(candidate.sentence.text) ** LENGTH_POWER)

        best = []
        eligible = (candidate for candidate in map(self._candidates.__getitem__, pool) if candidate.is_eligible)
        for candidate in sorted(eligible, key=density, reverse=True):
            if characters < 0:
                break
            characters -= len(candidate.sentence.text)
            best.append(candidate.position)
        return best

    def _word_value(self, word: str) -> float:
        """What the next sentence with this word gains: rare words in this conversation count more, covered ones less."""
        value = self._word_values.get(word)
        if value is None:
            repeats = min(self._covered[word], MAX_REPEATS)
            value = math.log(1 + len(self._candidates) / self._frequency[word]) * REPEAT_FACTOR**repeats
            self._word_values[word] = value
        return value

    def _forget_values(self, words: Iterable[str]) -> None:
        for word in words:
            self._word_values.pop(word, None)

    def _gain(self, candidate: SummaryCandidate, words: Iterable[str]) -> float:
        return candidate.sentence.weight * candidate.factor * sum(map(self._word_value, words))

    def _gain_per_token(self, position: int, group: Sequence[int]) -> float:
        if not group:
            return 0.0
        total = 0.0
        counted: set[str] = set()
        for member in group:
            candidate = self._candidates[member]
            new = [word for word in candidate.sentence.words if word not in counted] if counted else candidate.sentence.words
            total += self._gain(candidate, new)
            if len(group) > 1:
                counted.update(new)
        if self._has_chosen_neighbour(position):
            total *= NEIGHBOUR_BONUS
        return float(total / (1 + self._cost(group)) ** LENGTH_POWER)

    def _loss(self, groups: Sequence[int]) -> float:
        """What would be lost per token without these groups."""
        lost = tokens = 0.0
        for member in (member for first in groups for member in self.chosen[first]):
            candidate = self._candidates[member]
            words = sum(
                self._word_value(w) if self._covered[w] > MAX_REPEATS else self._word_value(w) / REPEAT_FACTOR
                for w in candidate.sentence.words
            )
            bonus = CHOSEN_NEIGHBOUR_BONUS if self._has_chosen_neighbour(member) else 1.0
            lost += bonus * candidate.sentence.weight * candidate.factor * words
            tokens += self._count(candidate) + (candidate.opening if self._open[candidate.message] == 1 else 0)
        return float(lost / (1 + tokens) ** LENGTH_POWER)

    def _dependent_groups(self, first: int) -> tuple[int, ...]:
        """The keys in `chosen` of this group and of all groups that need one of its sentences."""
        groups = [first]
        for group in groups:  # grows while it is read
            dependents = (p for member in self.chosen[group] for p in self._dependents.get(member, ()) if p in self._group_of)
            groups += dict.fromkeys(key for key in map(self._group_of.__getitem__, dependents) if key not in groups)
        return tuple(groups)

    def _group(self, position: int) -> tuple[int, ...]:
        """The candidate and what it needs that is not chosen yet; empty if that is too much."""
        if not self._candidates[position].needs:  # nine of ten
            return (position,)
        group = [position]
        for member in group:  # grows while it is read
            group += [need for need in self._candidates[member].needs if need not in self._group_of and need not in group]
            if len(group) > 1 + _MAX_NEEDS:
                return ()
        return tuple(group)

    def _cost(self, group: Sequence[int]) -> int:
        if len(group) == 1:  # a third faster than the general case, and a long conversation calls it ten thousand times
            candidate, is_open = self._candidates[group[0]], self._open
            opening = 0 if is_open.get(candidate.message) else candidate.opening
            return self._count(candidate) + opening + (0 if is_open.get(candidate.day) else DATE_TOKENS)
        members = [self._candidates[p] for p in group]
        openings = {c.message: c.opening for c in members if not self._open[c.message]}
        days = {c.day for c in members if not self._open[c.day]}
        return sum(map(self._count, members)) + sum(openings.values()) + DATE_TOKENS * len(days)

    def _count(self, candidate: SummaryCandidate) -> int:
        tokens = self._tokens.get(candidate.position)
        if tokens is None:
            tokens = self._tokens[candidate.position] = self._counter.count(f" {candidate.sentence.text}")
        return tokens

    def _has_chosen_neighbour(self, position: int) -> bool:
        message = self._candidates[position].message
        return any(p in self._group_of and self._candidates[p].message == message for p in (position - 1, position + 1))

    def _choose(self, group: Sequence[int], heap: list[tuple[float, int]]) -> None:
        self.chosen[group[0]] = tuple(group)
        for position in group:
            candidate = self._candidates[position]
            self._group_of[position] = group[0]
            self._open.update((candidate.message, candidate.day))
            for word in candidate.sentence.words:
                value = self._word_value(word)
                self._covered[word] += 1
                if self._covered[word] <= MAX_REPEATS:
                    self._word_values[word] = value * REPEAT_FACTOR
        for position in self._affected(group):
            heapq.heappush(heap, (-self._gain_per_token(position, self._group(position)), position))

    def _drop(self, groups: Sequence[int]) -> int:
        """Drop these groups, whose sentences are pending again. Returns the freed tokens."""
        freed = 0
        for position in (position for first in groups for position in self.chosen.pop(first)):
            candidate = self._candidates[position]
            del self._group_of[position]
            self._open.subtract((candidate.message, candidate.day))
            freed += self._count(candidate) + (0 if self._open[candidate.message] else candidate.opening)
            self._covered.subtract(candidate.sentence.words)
            self._forget_values(candidate.sentence.words)
            self._pending.append(position)
        return freed

    def _affected(self, group: Sequence[int]) -> list[int]:
        """The candidates whose gain may have risen: neighbours of the chosen sentences, and sentences that need them."""
        near = dict.fromkeys(
            p for position in group for p in (position - 1, position + 1, *self._dependents.get(position, ())[:_MAX_NEEDS])
        )
        return [p for p in near if 0 <= p < len(self._candidates) and p not in self._group_of and self._candidates[p].is_eligible]
