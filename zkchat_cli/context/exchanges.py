"""Exchanges: a question with its answers, as the branch in use holds them.

The messages of old exchanges stay in the store and are read from there when somebody scrolls or exports them: 10,000 turns with tool
results would take 200 MB. What was said in them stays, for recall and summaries.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import overload

from zkchat_cli.models import SpokenMessage, ZkChatMessage

ReadMessages = Callable[[Sequence[str]], tuple[ZkChatMessage, ...]]
"""Reads the messages with these ids from the store."""


class LoadableExchange:
    """A question with its answers; in some imports, what was said before the first question."""

    __slots__ = ("_loaded", "_read", "_spoken", "ids")

    def __init__(self, messages: Iterable[ZkChatMessage]) -> None:
        messages = tuple(messages)
        self.ids = tuple(message.id for message in messages)
        self._loaded: tuple[ZkChatMessage, ...] | None = messages
        self._read: ReadMessages | None = None
        self._spoken: tuple[SpokenMessage, ...] = ()

    @property
    def messages(self) -> tuple[ZkChatMessage, ...]:
        """Raises StoreError if they have to be read from the store and cannot be."""
        messages = self._loaded  # read once: another thread may unload them
        if messages is None:
            assert self._read is not None
            messages = self._read(self.ids)
        return messages

    @property
    def spoken(self) -> tuple[SpokenMessage, ...]:
        """What the user and the model said."""
        messages = self._loaded
        if messages is None:
            return self._spoken
        return tuple(SpokenMessage(m.id, m.role, m.content, m.timestamp, _links(m)) for m in messages if m.role != "tool" and m.content)

    @property
    def is_loaded(self) -> bool:
        return self._loaded is not None

    def unload(self, read: ReadMessages) -> None:
        """Keep only what was said: the store has the messages."""
        self._spoken, self._read, self._loaded = self.spoken, read, None


class MessageHistory(Sequence[ZkChatMessage]):
    """The messages of a branch, oldest first; a slice is a tuple. Only those that are asked for are read from the store."""

    def __init__(self, exchanges: Iterable[LoadableExchange] = (), before: "MessageHistory | None" = None) -> None:
        """With `before`, the exchanges that come after it."""
        new = tuple(exchanges)
        self.exchanges: tuple[LoadableExchange, ...] = (*before.exchanges, *new) if before is not None else new
        self._starts: array[int] = array("L", before._starts if before is not None else (0,))
        """The number of each exchange's first message, and of the next exchange's."""
        for exchange in new:
            self._starts.append(self._starts[-1] + len(exchange.ids))

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, at: int) -> ZkChatMessage: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[ZkChatMessage, ...]: ...
    def __getitem__(self, at: int | slice) -> ZkChatMessage | tuple[ZkChatMessage, ...]:
        wanted = range(len(self))[at]
        if isinstance(wanted, int):
            return next(self._from(wanted))
        if not wanted:
            return ()
        least = min(wanted)
        found = tuple(islice(self._from(least), max(wanted) + 1 - least))
        return tuple(found[number - least] for number in wanted)

    def _from(self, number: int) -> Iterator[ZkChatMessage]:
        """The messages from this number on."""
        first = bisect_right(self._starts, number) - 1
        messages = (message for exchange in self.exchanges[first:] for message in exchange.messages)
        return islice(messages, number - self._starts[first], None)

    def __iter__(self) -> Iterator[ZkChatMessage]:
        return (message for exchange in self.exchanges for message in exchange.messages)

    def __reversed__(self) -> Iterator[ZkChatMessage]:
        return (message for exchange in reversed(self.exchanges) for message in reversed(exchange.messages))


def _links(message: ZkChatMessage) -> tuple[str, ...]:
    return tuple(r.wikilink for r in message.references if r.relative_path and r.reference_type != "memory")
