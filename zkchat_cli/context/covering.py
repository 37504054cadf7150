"""Choosing sentences that together say most under a budget of tokens: greedy maximum coverage, with what belongs together kept together.

Lin & Bilmes, *A Class of Submodular Functions for Document Summarization* (2011): a sentence is worth the rare words in it that no
chosen one has said yet, per token. Beside that, a sentence that means nothing alone costs, and brings, what it needs.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from zkchat_cli.context.statements import Statement
from zkchat_cli.tokens import TokenCounter

SAID_AGAIN, SAID_OFTEN = 0.1, 2
"""What a word is still worth once it is said; after two times it is worth no less."""
LENGTH_POWER = 0.95
"""Worth is divided by tokens to this power: a little below 1, since a long sentence also brings its own context."""
BESIDE = 1.5
"""What a sentence is worth more beside a chosen one of its message: what is told in one breath is understood, and asked for, together."""
DAY = 5
"""Tokens of a date."""
AHEAD = 12
"""Of so many times the room the most promising sentences are looked at closely; greedy choice never gets to the others."""
_CHARACTERS = 4
"""Of a token, about."""
_FARTHEST = 3
"""How many sentences one may bring with it. A long run of "She … She …" is taken from its beginning or not at all."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may be chosen, unless its `factor`, what it is worth more or less for this summary, is 0.

    `opening` are the tokens it costs besides its own when nothing of its `message` is chosen yet; `needs` are the positions of what it
    means nothing, or something false, without.
    """

    position: int
    message: int
    day: str
    said: Statement
    opening: int
    needs: tuple[int, ...] = ()
    factor: float = 1.0


def rarities(candidates: Sequence[Candidate]) -> dict[str, float]:
    """How much each word tells in this conversation: what everybody says all the time tells little."""
    frequency = Counter(word for candidate in candidates for word in candidate.said.words)
    return {word: math.log(1 + len(candidates) / n) for word, n in frequency.items()}


class Cover:
    """What has been chosen from `candidates` so far, in the order in which it was, together what was chosen together.

    The heap is lazy: what a candidate is worth falls as others are chosen, so only the top needs another look. Where it rises (a
    neighbour was chosen), a second, higher entry is pushed.
    """

    def __init__(self, candidates: Sequence[Candidate], worth: Mapping[str, float], room: int, counter: TokenCounter) -> None:
        self.chosen: list[tuple[Candidate, ...]] = []
        self._all = candidates
        self._worth = dict(worth)
        self._counter = counter
        self._tokens: dict[int, int] = {}
        self._needed: dict[int, list[int]] = {}
        for candidate in candidates:
            for need in candidate.needs:
                self._needed.setdefault(need, []).append(candidate.position)
        self._said: Counter[str] = Counter()
        self._taken: set[int] = set()
        self._opened: set[int | str] = set()
        self._waiting = self._promising(AHEAD * _CHARACTERS * room)

    def take(self, room: int) -> bool:
        """Choose more that costs at most `room` tokens together; whether there was any."""
        before = len(self.chosen)
        heap = [(-self._value(p, self._group(p)), p) for p in self._waiting if p not in self._taken]
        heapq.heapify(heap)
        self._waiting = []
        while heap:
            value, position = heapq.heappop(heap)
            if position in self._taken:
                continue
            group = self._group(position)
            cost = self._cost(group)
            if not group or cost > room:
                self._waiting.append(position)
                continue
            now = self._value(position, group)
            if heap and now < -heap[0][0] - 1e-9 and now < -value - 1e-9:
                heapq.heappush(heap, (-now, position))
                continue
            room -= cost
            self.chosen.append(tuple(self._all[p] for p in group))
            for member in group:
                self._choose(member)
            for beside in self._concerned(group):
                heapq.heappush(heap, (-self._value(beside, self._group(beside)), beside))
        return len(self.chosen) > before

    def _promising(self, characters: int) -> list[int]:
        """So many characters of those that are worth most, before anything is chosen. So only these are counted."""

        def density(candidate: Candidate) -> float:
            return self._gain(candidate, candidate.said.words) / float(len(candidate.said.text) ** LENGTH_POWER)

        found = []
        for candidate in sorted(filter(_may_be_chosen, self._all), key=density, reverse=True):
            if characters < 0:
                break
            characters -= len(candidate.said.text)
            found.append(candidate.position)
        return found

    def _gain(self, candidate: Candidate, words: Iterable[str]) -> float:
        return candidate.said.weight * candidate.factor * sum(map(self._worth.__getitem__, words))

    def _group(self, position: int) -> tuple[int, ...]:
        """The candidate with all that it needs and that is not chosen yet; nothing when that is too much."""
        if not self._all[position].needs:  # as nine of ten
            return (position,)
        group, at = [position], 0
        while at < len(group):
            group += [need for need in self._all[group[at]].needs if need not in self._taken and need not in group]
            at += 1
            if len(group) > 1 + _FARTHEST:
                return ()
        return tuple(group)

    def _cost(self, group: Sequence[int]) -> int:
        if len(group) == 1:  # a third faster than what follows, and a long conversation asks ten thousand times
            alone = self._all[group[0]]
            opened = self._opened
            opening_it = 0 if alone.message in opened else alone.opening
            return self._count(alone) + opening_it + (0 if alone.day in opened else DAY)
        members = [self._all[p] for p in group]
        opening = {c.message: c.opening for c in members if c.message not in self._opened}
        days = {c.day for c in members if c.day not in self._opened}
        return sum(map(self._count, members)) + sum(opening.values()) + DAY * len(days)

    def _count(self, candidate: Candidate) -> int:
        tokens = self._tokens.get(candidate.position)
        if tokens is None:
            tokens = self._tokens[candidate.position] = self._counter.count(f" {candidate.said.text}")
        return tokens

    def _value(self, position: int, group: Sequence[int]) -> float:
        if not group:
            return 0.0
        total = 0.0
        counted: set[str] = set()
        for member in group:
            candidate = self._all[member]
            new = [word for word in candidate.said.words if word not in counted] if counted else candidate.said.words
            total += self._gain(candidate, new)
            if len(group) > 1:
                counted.update(new)
        if self._beside(position):
            total *= BESIDE
        return float(total / (1 + self._cost(group)) ** LENGTH_POWER)

    def _beside(self, position: int) -> bool:
        message = self._all[position].message
        return any(p in self._taken and self._all[p].message == message for p in (position - 1, position + 1))

    def _choose(self, position: int) -> None:
        candidate = self._all[position]
        self._taken.add(position)
        self._opened.update((candidate.message, candidate.day))
        for word in candidate.said.words:
            self._said[word] += 1
            if self._said[word] <= SAID_OFTEN:
                self._worth[word] *= SAID_AGAIN

    def _concerned(self, group: Sequence[int]) -> list[int]:
        """Whose worth may have risen: what stands beside or needs what was chosen."""
        near: dict[int, None] = {}
        for position in group:
            near.update(dict.fromkeys((position - 1, position + 1, *self._needed.get(position, ())[:_FARTHEST])))
        return [p for p in near if 0 <= p < len(self._all) and p not in self._taken and _may_be_chosen(self._all[p])]


def _may_be_chosen(candidate: Candidate) -> bool:
    return bool(candidate.said.words) and candidate.factor > 0
