"""The finished turns of a conversation, with what every prompt asks of them: which can be sent, how many tokens they take together, in
which turn a message stands, which tools were called.

A conversation of ten thousand turns is asked with each message, so nothing here is worked out over all of them: it is noted when a turn is
added. A history never changes; the one that comes of adding a turn shares its storage and sees one turn more of it.
"""

import gc
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import overload

from zkchat_cli.context.turns import Turn
from zkchat_cli.models import ZkChatMessage
from zkchat_cli.store.rows import paused_gc

MANY = 50_000
"""Values that are made at once only where a long conversation is opened."""


@dataclass(slots=True)
class _Notes:
    """What is known of the turns of a branch, oldest first. Only ever added to."""

    turns: list[Turn] = field(default_factory=list)
    sent: list[Turn] = field(default_factory=list)
    """Those that can be sent."""
    failed: list[Turn] = field(default_factory=list)
    before: list[int] = field(default_factory=lambda: [0])
    """How many of the first n turns can be sent."""
    tokens: list[int] = field(default_factory=lambda: [0])
    """How many tokens the first n turns that can be sent take."""
    places: dict[str, int] = field(default_factory=dict)
    """The turn of each message, by its id."""
    fixed: list[int] = field(default_factory=list)
    """The turns of which something is in every prompt."""
    tools: dict[str, int] = field(default_factory=dict)
    """The first turn in which each tool was called."""

    def add(self, turn: Turn) -> None:
        place = len(self.turns)
        self.turns.append(turn)
        if turn.failed:
            self.failed.append(turn)
        else:
            self.sent.append(turn)
            self.tokens.append(self.tokens[-1] + turn.tokens)
        self.before.append(len(self.sent))
        if turn.fixed:
            self.fixed.append(place)
        for message in turn.messages:
            self.places[message.id] = place
            for call in message.tool_calls:
                self.tools.setdefault(call.name, place)

    def upto(self, length: int) -> "_Notes":
        """A copy of what is known of the first turns. The lists are cut; no turn before that is looked at."""
        sent = self.before[length]
        return _Notes(
            turns=self.turns[:length],
            sent=self.sent[:sent],
            failed=self.failed[: length - sent],
            before=self.before[: length + 1],
            tokens=self.tokens[: sent + 1],
            places=self._upto(self.places, length),
            fixed=self.fixed[: bisect_left(self.fixed, length)],
            tools=self._upto(self.tools, length),
        )

    def _upto(self, places: dict[str, int], length: int) -> dict[str, int]:
        kept = places.copy()
        while kept and kept[last := next(reversed(kept))] >= length:  # they were noted in the order of the turns
            del kept[last]
        return kept


class TurnHistory(Sequence[Turn]):
    """Finished turns, oldest first; see the module. A slice of it is a tuple."""

    __slots__ = ("_length", "_notes")

    def __init__(self, turns: Iterable[Turn] = ()) -> None:
        self._notes = _Notes()
        for turn in turns:
            self._notes.add(turn)
        self._length = len(self._notes.turns)

    @classmethod
    def from_turns(cls, turns: Sequence[Turn]) -> "TurnHistory":
        """These turns as a history; one that is a history already is itself."""
        return turns if isinstance(turns, TurnHistory) else cls(turns)

    def with_turns(self, turns: Iterable[Turn]) -> "TurnHistory":
        """This history with newer turns behind it, itself when there are none. Costs what those cost, unless others were added to this one
        before."""
        turns = tuple(turns)
        if not turns:
            return self
        notes = self._notes if len(self._notes.turns) == self._length else self._notes.upto(self._length)
        for turn in turns:
            notes.add(turn)
        longer = TurnHistory()
        longer._notes, longer._length = notes, len(notes.turns)
        return longer

    def with_replaced(self, others: Mapping[int, Turn]) -> "TurnHistory":
        """This history with other turns at some places. Costs what the turns from the first of those on cost, and a copy of the lists."""
        if not others:
            return self
        first, other = min(others), TurnHistory()
        other._notes = self._notes.upto(first)
        for place in range(first, self._length):
            other._notes.add(others.get(place, self._notes.turns[place]))
        other._length = self._length
        return other

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int) -> Turn: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Turn, ...]: ...
    def __getitem__(self, at: int | slice) -> Turn | tuple[Turn, ...]:
        if isinstance(at, slice):
            return tuple(map(self._notes.turns.__getitem__, range(self._length)[at]))
        return self._notes.turns[range(self._length)[at]]

    def __iter__(self) -> Iterator[Turn]:
        return iter(self._notes.turns[: self._length])

    def extends(self, other: "TurnHistory") -> bool:
        """Whether this history is that one with newer turns behind it, or that one itself."""
        return self._notes is other._notes and len(self) >= len(other)

    def turns_with_fixed(self) -> tuple[tuple[int, Turn], ...]:
        """The turns of which something is in every prompt, each with its place."""
        return tuple((place, self._notes.turns[place]) for place in self._notes.fixed if place < self._length)

    def count_through(self, message_id: str | None) -> int:
        """How many turns there are from the first through the one that holds this message; 0 when none does."""
        place = -1 if message_id is None else self._notes.places.get(message_id, -1)
        return place + 1 if place < self._length else 0

    def find_message(self, message_id: str) -> ZkChatMessage | None:
        place = self.count_through(message_id)
        return next((m for m in self._notes.turns[place - 1].messages if m.id == message_id), None) if place else None

    def sendable_turns(self, first: int = 0, last: int | None = None) -> tuple[Turn, ...]:
        """Of the turns from `first` on, before `last`, those that can be sent: that have not failed."""
        before = self._notes.before
        return tuple(self._notes.sent[before[first] : before[self._length if last is None else last]])

    def count_sendable(self, first: int) -> int:
        """How many of the `first` turns can be sent."""
        return self._notes.before[first]

    def tokens(self, first: int = 0) -> int:
        """Tokens of the turns that can be sent, from `first` on."""
        before, tokens = self._notes.before, self._notes.tokens
        return tokens[before[self._length]] - tokens[before[first]]

    @property
    def failed_turns(self) -> tuple[Turn, ...]:
        return tuple(self._notes.failed[: self._length - self._notes.before[self._length]])

    @property
    def called_tools(self) -> frozenset[str]:
        """The names of the tools that were called."""
        return frozenset(name for name, place in self._notes.tools.items() if place < self._length)


@contextmanager
def long_lived_allocation() -> Iterator[None]:
    """For making what lasts as long as the conversation: nobody looks for garbage among it, neither now nor, where it is much, later. With
    10 000 turns that takes half a second while they are opened, and again with some message later."""
    with paused_gc():
        yield
        if gc.get_count()[0] > MANY:
            gc.freeze()
