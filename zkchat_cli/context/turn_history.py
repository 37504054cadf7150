"""The finished turns of a branch with running totals: tokens, sendable turns, called tools, the turn of each message.

Every prompt of a conversation with ten thousand turns asks for them, so totals are updated when a turn is added. A history never changes;
a longer one shares its storage.
"""

import gc
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import overload

from zkchat_cli.context.turns import Turn
from zkchat_cli.store.rows import paused_gc

NEVER_PACKED = 16
"""The newest turns, which commands and memory read."""
MOST_PACKED_AT_ONCE = 4
"""1 ms for turns with tool results; after a long conversation was opened, there are thousands."""
MANY_OBJECTS = 50_000
"""So many new objects at once mean that a long conversation is being opened."""


@dataclass(slots=True)
class _TurnLog:
    """Append-only lists over the turns of a branch, oldest first. Entry n of a `_before` list is about the first n turns."""

    turns: list[Turn] = field(default_factory=list)
    sendable: list[Turn] = field(default_factory=list)
    sendable_before: "array[int]" = field(default_factory=lambda: array("L", [0]))
    tokens_before: "array[int]" = field(default_factory=lambda: array("Q", [0]))
    """Of the first n sendable turns."""
    positions: dict[str, int] = field(default_factory=dict)
    """The turn of each message id."""
    with_fixed: list[int] = field(default_factory=list)
    """The turns with fixed messages."""
    first_calls: dict[str, int] = field(default_factory=dict)
    """The first turn that called each tool."""
    packed: int = 0
    """How many turns, from the first, are packed."""
    dictionary: bytes = b""
    """Of packed turns."""

    def add(self, turn: Turn) -> None:
        position = len(self.turns)
        self.turns.append(turn)
        if not turn.failed:
            self.sendable.append(turn)
            self.tokens_before.append(self.tokens_before[-1] + turn.tokens)
        self.sendable_before.append(len(self.sendable))
        if turn.fixed:
            self.with_fixed.append(position)
        for id_ in turn.ids:
            self.positions[id_] = position
        for message in turn.messages:
            for call in message.tool_calls:
                self.first_calls.setdefault(call.name, position)

    def copy(self, length: int) -> "_TurnLog":
        """A copy of the first `length` turns; it reads no turn again."""
        sendable, positions = self.sendable_before[length], dict(self.positions)
        while positions and next(reversed(positions.values())) >= length:
            positions.popitem()
        return _TurnLog(
            self.turns[:length],
            self.sendable[:sendable],
            self.sendable_before[: length + 1],
            self.tokens_before[: sendable + 1],
            positions,
            [position for position in self.with_fixed if position < length],
            {name: position for name, position in self.first_calls.items() if position < length},
            min(self.packed, length),
            self.dictionary,
        )


class TurnHistory(Sequence[Turn]):
    """Finished turns, oldest first. A slice is a tuple."""

    __slots__ = ("_length", "_log")

    def __init__(self, turns: Iterable[Turn] = ()) -> None:
        self._log = _TurnLog()
        for turn in turns:
            self._log.add(turn)
        self._length = len(self._log.turns)

    @classmethod
    def from_turns(cls, turns: Sequence[Turn]) -> "TurnHistory":
        """The turns as a history; a history is returned as it is."""
        return turns if isinstance(turns, TurnHistory) else cls(turns)

    def with_turns(self, turns: Iterable[Turn]) -> "TurnHistory":
        """This history followed by newer turns. It shares this one's storage, unless another history continued this one before."""
        log = self._log if len(self._log.turns) == self._length else self._log.copy(self._length)
        return self._added(log, turns)

    def with_replaced(self, replaced: Mapping[int, Turn]) -> "TurnHistory":
        """This history with other turns at some positions. Costs a copy, and adding the turns from the first replaced one on."""
        if not replaced:
            return self
        first = min(replaced)
        return self._added(self._log.copy(first), (replaced.get(i, self._log.turns[i]) for i in range(first, self._length)))

    @staticmethod
    def _added(log: _TurnLog, turns: Iterable[Turn]) -> "TurnHistory":
        for turn in turns:
            log.add(turn)
        history = TurnHistory()
        history._log, history._length = log, len(log.turns)
        return history

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int) -> Turn: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Turn, ...]: ...
    def __getitem__(self, at: int | slice) -> Turn | tuple[Turn, ...]:
        if isinstance(at, slice):
            return tuple(map(self._log.turns.__getitem__, range(self._length)[at]))
        return self._log.turns[range(self._length)[at]]

    def __iter__(self) -> Iterator[Turn]:
        return iter(self._log.turns[: self._length])

    def extends(self, other: "TurnHistory") -> bool:
        """Whether this is the other history, or that one with newer turns."""
        return self._log is other._log and len(self) >= len(other)

    def turns_with_fixed(self) -> tuple[tuple[int, Turn], ...]:
        """The turns with fixed messages, each with its position."""
        return tuple((position, self._log.turns[position]) for position in self._log.with_fixed if position < self._length)

    def count_through(self, message_id: str | None) -> int:
        """The number of turns through the one with this message; 0 if there is none."""
        position = -1 if message_id is None else self._log.positions.get(message_id, -1)
        return position + 1 if position < self._length else 0

    def sendable_turns(self, start: int = 0) -> tuple[Turn, ...]:
        """The turns from `start` on that can be sent: those that have not failed."""
        before = self._log.sendable_before
        return tuple(self._log.sendable[before[start] : before[self._length]])

    def count_sendable(self, length: int) -> int:
        """How many of the first `length` turns can be sent."""
        return self._log.sendable_before[length]

    def tokens(self, start: int = 0) -> int:
        """Tokens of the sendable turns from `start` on."""
        before, tokens = self._log.sendable_before, self._log.tokens_before
        return tokens[before[self._length]] - tokens[before[start]]

    def pack(self, tokens: int) -> None:
        """Pack the turns before the newest ones that take so many tokens, a few at a time."""
        log, least = self._log, self.tokens() - tokens
        first = bisect_left(log.sendable_before, bisect_left(log.tokens_before, least)) if least > 0 else 0
        end = min(first - 1, self._length - NEVER_PACKED, log.packed + MOST_PACKED_AT_ONCE)
        for position in range(log.packed, end):
            log.dictionary = log.turns[position].pack(log.dictionary)
            log.packed = position + 1

    @property
    def called_tools(self) -> frozenset[str]:
        return frozenset(name for name, position in self._log.first_calls.items() if position < self._length)


@contextmanager
def long_lived_allocation() -> Iterator[None]:
    """Create objects that live as long as the conversation without garbage collection: with 10 000 turns the collector takes half a second
    while they are opened, and again during some later message."""
    with paused_gc():
        yield
        if gc.get_count()[0] > MANY_OBJECTS:
            gc.freeze()
