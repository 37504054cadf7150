"""Choosing sentences that together say most under a budget of tokens: greedy maximum coverage, with what belongs together kept together.

Lin & Bilmes, *A Class of Submodular Functions for Document Summarization* (2011): a sentence is worth the rare words in it that no
chosen one has said yet, per token. Beside that, a sentence that means nothing alone costs, and brings, what it needs.

While a conversation goes on, what was chosen is kept, and a new sentence takes the place of chosen ones that say less for their tokens
(Badanidiyuru et al., *Streaming Submodular Maximization*, 2014); only now and then all that is promising is chosen from anew. So going on
costs as much as what is new and what is chosen, however long the conversation is.
"""

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from zkchat_cli.summarization.extractive.sentence_scoring import ScoredSentence
from zkchat_cli.tokens.counter import TokenCounter

SAID_AGAIN, SAID_OFTEN = 0.1, 2
"""What a word is still worth once it is said; after two times it is worth no less."""
LENGTH_POWER = 0.95
"""Worth is divided by tokens to this power: a little below 1, since a long sentence also brings its own context."""
BESIDE, KEPT_BESIDE = 1.5, 2.25
"""What a sentence is worth more beside a chosen one of its message, before and after it is chosen itself: what is told in one breath is
understood, and asked for, together, and its neighbour would lose by its going."""
DAY = 5
"""Tokens of a date."""
AHEAD = 12
"""Of so many times the room the most promising sentences are looked at closely; greedy choice never gets to the others."""
RENEWED = 0.5
"""Of the room: after so much news all that is promising is chosen from anew."""
_CHARACTERS = 4
"""Of a token, about."""
_FARTHEST = 3
"""How many sentences one may bring with it. A long run of "She … She …" is taken from its beginning or not at all."""


@dataclass(frozen=True, slots=True)
class SummaryCandidate:
    """A sentence that may be chosen, unless its `factor`, what it is worth more or less for this summary, is 0.

    `opening` are the tokens it costs besides its own when nothing of its `message` is chosen yet; `needs` are the positions of what it
    means nothing, or something false, without.
    """

    position: int
    message: int
    day: str
    sentence: ScoredSentence
    opening: int
    needs: tuple[int, ...] = ()
    factor: float = 1.0


class MaxCoverageSelector:
    """What has been chosen of the candidates so far; `chosen` holds those that were chosen together, each by the first of them.

    Candidates stand at positions 0, 1, 2 … The heap is lazy: what a candidate is worth falls as others are chosen, so only the top needs
    another look. Where it rises (a neighbour was chosen), a second, higher entry is pushed.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self.chosen: dict[int, tuple[int, ...]] = {}
        self._all: list[SummaryCandidate] = []
        self._counter = counter
        self._tokens: dict[int, int] = {}
        self._needed: dict[int, list[int]] = {}
        self._frequency: Counter[str] = Counter()
        self._said: Counter[str] = Counter()
        self._worth = _Worth(self._rarity)
        self._with: dict[int, int] = {}
        """Those that are chosen, each with the first of those that it was chosen with."""
        self._opened: Counter[int | str] = Counter()
        self._waiting: list[int] = []
        """Those that are looked at next."""
        self._reserve: list[int] = []
        """Those that are looked at when all is chosen anew."""
        self._news = 0
        """Characters that have come since."""

    def __getitem__(self, position: int) -> SummaryCandidate:
        return self._all[position]

    def add(self, candidates: Sequence[SummaryCandidate]) -> None:
        """More candidates, at the next positions. Nothing is chosen of them yet."""
        self._all += candidates
        for candidate in candidates:
            self._frequency.update(candidate.sentence.words)
            self._news += len(candidate.sentence.text)
            self._place(candidate)
        self._worth.forget(word for candidate in candidates for word in candidate.sentence.words)

    def update(self, candidate: SummaryCandidate) -> None:
        """The candidate at its position is worth something else, or means nothing without others: it was corrected."""
        if candidate.position in self._with:
            self._drop(self._unit(self._with[candidate.position]))
        self._all[candidate.position] = candidate
        self._place(candidate)

    def _place(self, candidate: SummaryCandidate) -> None:
        self._waiting.append(candidate.position)
        for need in candidate.needs:
            self._needed.setdefault(need, []).append(candidate.position)

    def needs_rebuild(self, room: int) -> bool:
        """Whether so much has come since all was chosen anew that this should be done again."""
        return self._news > RENEWED * _CHARACTERS * room

    def rebuild(self, room: int) -> None:
        """Begin anew with nothing chosen, and look at all that is promising for so much room."""
        pool = sorted({*self._waiting, *self._reserve, *self._with})
        self.chosen, self._with, self._news = {}, {}, 0
        self._opened.clear()
        self._said.clear()
        self._worth.clear()
        self._reserve, self._waiting = [], self._promising(pool, AHEAD * _CHARACTERS * room)

    def fill(self, room: int) -> bool:
        """Choose more that costs at most `room` tokens together; whether there was any."""
        before = len(self.chosen)
        heap = self._heap()
        while heap:
            value, position = heapq.heappop(heap)
            if position in self._with:
                continue
            group = self._group(position)
            cost = self._cost(group)
            if not group or cost > room:
                self._waiting.append(position)
                continue
            if self._is_behind(value, position, group, heap):
                continue
            room -= cost
            self._choose(group, heap)
        return len(self.chosen) > before

    def exchange(self, room: int) -> None:
        """Choose what is new for at most `room` more tokens, and instead of what is chosen where that is worth less for its tokens.

        What had to go, and what found no place, fills what is left of the room.
        """
        heap = self._heap()
        least = [(self._loss(unit), unit) for unit in map(self._unit, self.chosen)]
        heapq.heapify(least)
        while heap:
            value, position = heapq.heappop(heap)
            group = self._group(position)
            if position in self._with or self._is_behind(value, position, group, heap):
                continue
            now, cost = self._value(position, group), self._cost(group)
            while cost > room and least and least[0][0] < now:
                loss, unit = heapq.heappop(least)
                if not all(first in self.chosen for first in unit):
                    continue
                if (again := self._loss(unit)) > loss + 1e-9:  # another one that said the same has gone
                    heapq.heappush(least, (again, unit))
                    continue
                room += self._drop(unit)
                group = self._group(position)
                cost = self._cost(group)
            if group and cost <= room:
                room -= cost
                self._choose(group, heap)
            else:
                self._waiting.append(position)
        self.fill(room)

    def finalize(self) -> None:
        """What still waits is looked at again when all is chosen anew."""
        self._reserve += self._waiting
        self._waiting = []

    def evict(self) -> None:
        """Give up what is worth least for its tokens."""
        self._drop(min(map(self._unit, self.chosen), key=self._loss))

    def _heap(self) -> list[tuple[float, int]]:
        """Those that wait, by what they are worth; they wait no more."""
        waiting, self._waiting = self._waiting, []
        heap = [(-self._value(p, self._group(p)), p) for p in waiting if p not in self._with and _may_be_chosen(self._all[p])]
        heapq.heapify(heap)
        return heap

    def _is_behind(self, value: float, position: int, group: Sequence[int], heap: list[tuple[float, int]]) -> bool:
        """Whether what was the top of the heap is worth less by now than the next, and waits behind it."""
        now = self._value(position, group)
        if heap and now < -heap[0][0] - 1e-9 and now < -value - 1e-9:
            heapq.heappush(heap, (-now, position))
            return True
        return False

    def _promising(self, pool: Iterable[int], characters: int) -> list[int]:
        """So many characters of those that are worth most, before anything is chosen. So only these are counted."""

        def density(candidate: SummaryCandidate) -> float:
            return self._gain(candidate, candidate.sentence.words) / float(len(candidate.sentence.text) ** LENGTH_POWER)

        found = []
        for candidate in sorted(filter(_may_be_chosen, map(self._all.__getitem__, pool)), key=density, reverse=True):
            if characters < 0:
                break
            characters -= len(candidate.sentence.text)
            found.append(candidate.position)
        return found

    def _rarity(self, word: str) -> float:
        """How much a word tells in this conversation: what everybody says all the time tells little; and what is said already, less."""
        said = min(self._said[word], SAID_OFTEN)
        return math.log(1 + len(self._all) / self._frequency[word]) * SAID_AGAIN**said

    def _gain(self, candidate: SummaryCandidate, words: Iterable[str]) -> float:
        return candidate.sentence.weight * candidate.factor * sum(map(self._worth.__getitem__, words))

    def _loss(self, unit: Sequence[int]) -> float:
        """What would be lost, for its tokens, without those that were chosen with these."""
        lost = tokens = 0.0
        for member in (member for first in unit for member in self.chosen[first]):
            candidate = self._all[member]
            words = sum(self._worth[w] if self._said[w] > SAID_OFTEN else self._worth[w] / SAID_AGAIN for w in candidate.sentence.words)
            beside = KEPT_BESIDE if self._beside(member) else 1.0
            lost += beside * candidate.sentence.weight * candidate.factor * words
            tokens += self._count(candidate) + (candidate.opening if self._opened[candidate.message] == 1 else 0)
        return float(lost / (1 + tokens) ** LENGTH_POWER)

    def _unit(self, first: int) -> tuple[int, ...]:
        """By their firsts, those that were chosen together, and those that mean nothing without them."""
        unit, at = [first], 0
        while at < len(unit):
            needing = (p for member in self.chosen[unit[at]] for p in self._needed.get(member, ()) if p in self._with)
            unit += dict.fromkeys(first for first in map(self._with.__getitem__, needing) if first not in unit)
            at += 1
        return tuple(unit)

    def _group(self, position: int) -> tuple[int, ...]:
        """The candidate with all that it needs and that is not chosen yet; nothing when that is too much."""
        if not self._all[position].needs:  # as nine of ten
            return (position,)
        group, at = [position], 0
        while at < len(group):
            group += [need for need in self._all[group[at]].needs if need not in self._with and need not in group]
            at += 1
            if len(group) > 1 + _FARTHEST:
                return ()
        return tuple(group)

    def _cost(self, group: Sequence[int]) -> int:
        if len(group) == 1:  # a third faster than what follows, and a long conversation asks ten thousand times
            alone = self._all[group[0]]
            opened = self._opened
            opening_it = 0 if opened.get(alone.message) else alone.opening
            return self._count(alone) + opening_it + (0 if opened.get(alone.day) else DAY)
        members = [self._all[p] for p in group]
        opening = {c.message: c.opening for c in members if not self._opened[c.message]}
        days = {c.day for c in members if not self._opened[c.day]}
        return sum(map(self._count, members)) + sum(opening.values()) + DAY * len(days)

    def _count(self, candidate: SummaryCandidate) -> int:
        tokens = self._tokens.get(candidate.position)
        if tokens is None:
            tokens = self._tokens[candidate.position] = self._counter.count(f" {candidate.sentence.text}")
        return tokens

    def _value(self, position: int, group: Sequence[int]) -> float:
        if not group:
            return 0.0
        total = 0.0
        counted: set[str] = set()
        for member in group:
            candidate = self._all[member]
            new = [word for word in candidate.sentence.words if word not in counted] if counted else candidate.sentence.words
            total += self._gain(candidate, new)
            if len(group) > 1:
                counted.update(new)
        if self._beside(position):
            total *= BESIDE
        return float(total / (1 + self._cost(group)) ** LENGTH_POWER)

    def _beside(self, position: int) -> bool:
        there, before, after = self._with, position - 1, position + 1
        if before in there and self._all[before].message == self._all[position].message:
            return True
        return after in there and self._all[after].message == self._all[position].message

    def _choose(self, group: Sequence[int], heap: list[tuple[float, int]]) -> None:
        self.chosen[group[0]] = tuple(group)
        for position in group:
            candidate = self._all[position]
            self._with[position] = group[0]
            self._opened.update((candidate.message, candidate.day))
            for word in candidate.sentence.words:
                worth = self._worth[word]
                self._said[word] += 1
                if self._said[word] <= SAID_OFTEN:
                    self._worth[word] = worth * SAID_AGAIN
        for beside in self._concerned(group):
            heapq.heappush(heap, (-self._value(beside, self._group(beside)), beside))

    def _drop(self, unit: Sequence[int]) -> int:
        """Take back those that were chosen with these, which wait again; the tokens they cost."""
        freed = 0
        for position in (position for first in unit for position in self.chosen.pop(first)):
            candidate = self._all[position]
            del self._with[position]
            self._opened.subtract((candidate.message, candidate.day))
            freed += self._count(candidate) + (0 if self._opened[candidate.message] else candidate.opening)
            self._said.subtract(candidate.sentence.words)
            self._worth.forget(candidate.sentence.words)
            self._waiting.append(position)
        return freed

    def _concerned(self, group: Sequence[int]) -> list[int]:
        """Whose worth may have risen: what stands beside or needs what was chosen."""
        near: dict[int, None] = {}
        for position in group:
            near.update(dict.fromkeys((position - 1, position + 1, *self._needed.get(position, ())[:_FARTHEST])))
        return [p for p in near if 0 <= p < len(self._all) and p not in self._with and _may_be_chosen(self._all[p])]


class _Worth(dict[str, float]):
    """What each word is worth to the next sentence that has it, reckoned when it is first asked for."""

    def __init__(self, reckon: Callable[[str], float]) -> None:
        super().__init__()
        self._reckon = reckon

    def __missing__(self, word: str) -> float:
        self[word] = worth = self._reckon(word)
        return worth

    def forget(self, words: Iterable[str]) -> None:
        for word in words:
            self.pop(word, None)


def _may_be_chosen(candidate: SummaryCandidate) -> bool:
    return bool(candidate.sentence.words) and candidate.factor > 0
