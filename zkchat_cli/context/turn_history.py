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

from zkchat_cli.context.exchanges import StoredMessages
from zkchat_cli.context.turns import Turn
from zkchat_cli.models import ZkChatMessage
from zkchat_cli.store.rows import paused_gc

NEVER_UNLOADED = 16
"""The newest turns, which commands and memory read."""
MOST_UNLOADED_AT_ONCE = 16
"""After a long conversation was opened, there are thousands, and freeing their messages takes 0.1 ms each."""
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
    unloaded: int = 0
    """How many turns, from the first, have their messages in the store only."""

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


class TurnHistory(Sequence[Turn]):
    """Finished turns, oldest first. A slice is a tuple."""

    __slots__ = ("_length", "_log", "replaced")

    def __init__(self, turns: Iterable[Turn] = ()) -> None:
        self._log = _TurnLog()
        for turn in turns:
            self._log.add(turn)
        self._length = len(self._log.turns)
        self.replaced: Mapping[int, Turn] = {}
        """Turns that are rendered differently, by their positions."""

    @classmethod
    def from_turns(cls, turns: Sequence[Turn]) -> "TurnHistory":
        """The turns as a history; a history is returned as it is."""
        return turns if isinstance(turns, TurnHistory) else cls(turns)

    def with_turns(self, turns: Iterable[Turn]) -> "TurnHistory":
        """This history followed by newer turns. It shares this one's storage, unless another history continued this one before."""
        if len(self._log.turns) != self._length:
            return TurnHistory((*self._log.turns[: self._length], *turns)).with_replaced(self.replaced)
        for turn in turns:
            self._log.add(turn)
        return self if len(self._log.turns) == self._length else self._sharing(self.replaced)

    def with_replaced(self, replaced: Mapping[int, Turn]) -> "TurnHistory":
        """This history with other renderings of the turns at some positions."""
        return self._sharing({**self.replaced, **replaced}, self._length) if replaced else self

    def _sharing(self, replaced: Mapping[int, Turn], length: int | None = None) -> "TurnHistory":
        history = TurnHistory()
        history._log, history.replaced = self._log, replaced
        history._length = len(self._log.turns) if length is None else length
        return history

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int) -> Turn: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Turn, ...]: ...
    def __getitem__(self, at: int | slice) -> Turn | tuple[Turn, ...]:
        if isinstance(at, slice):
            return tuple(self.replaced.get(i) or self._log.turns[i] for i in range(self._length)[at])
        at = range(self._length)[at]
        return self.replaced.get(at) or self._log.turns[at]

    def __iter__(self) -> Iterator[Turn]:
        return iter(self[:])

    def extends(self, other: "TurnHistory") -> bool:
        """Whether this is the other history, or that one with newer turns; some may be rendered differently."""
        return self._log is other._log and len(self) >= len(other)

    def is_same(self, other: "TurnHistory", replaced: Mapping[int, Turn]) -> bool:
        """Whether this is the other history with these renderings."""
        return self._log is other._log and len(self) == len(other) and self.replaced == replaced

    def turns_with_fixed(self) -> tuple[tuple[int, Turn], ...]:
        """The turns with fixed messages, each with its position."""
        return tuple((position, self[position]) for position in self._log.with_fixed if position < self._length)

    def count_through(self, message_id: str | None) -> int:
        """The number of turns through the one with this message; 0 if there is none."""
        position = -1 if message_id is None else self._log.positions.get(message_id, -1)
        return position + 1 if position < self._length else 0

    def sendable_turns(self, start: int = 0) -> tuple[Turn, ...]:
        """The turns from `start` on that can be sent: those that have not failed."""
        before = self._log.sendable_before
        turns = self._log.sendable[before[start] : before[self._length]]
        for position, turn in self.replaced.items():
            if position >= start and not turn.failed:
                turns[before[position] - before[start]] = turn
        return tuple(turns)

    def count_sendable(self, length: int) -> int:
        """How many of the first `length` turns can be sent."""
        return self._log.sendable_before[length]

    def tokens(self, start: int = 0) -> int:
        """Tokens of the sendable turns from `start` on."""
        before, tokens = self._log.sendable_before, self._log.tokens_before
        saved = sum(
            self._log.turns[position].tokens - turn.tokens
            for position, turn in self.replaced.items()
            if position >= start and not turn.failed
        )
        return tokens[before[self._length]] - tokens[before[start]] - saved

    def unload(self, tokens: int, reader: StoredMessages) -> list[ZkChatMessage]:
        """Leave the messages of the turns before the newest ones, which take so many tokens, to the store; a few turns at a time. Returns
        the messages."""
        log, least = self._log, self.tokens() - tokens
        first = bisect_left(log.sendable_before, bisect_left(log.tokens_before, least)) if least > 0 else 0
        end = min(first - 1, self._length - NEVER_UNLOADED, log.unloaded + MOST_UNLOADED_AT_ONCE)
        left: list[ZkChatMessage] = []
        while log.unloaded < end:
            messages = log.turns[log.unloaded].exchange.loaded or ()
            if not log.turns[log.unloaded].unload(reader):
                break
            left += messages
            log.unloaded += 1
        return left

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
