"""Exchanges: a question with its answers, as the branch in use holds them.

A long conversation needs only its newest exchanges for a prompt. The messages of older ones stay in the store and are read from there when
somebody scrolls, recalls or exports them: 10,000 turns with tool results would take 200 MB.
"""

from array import array
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from operator import eq
from typing import Protocol, overload

from zkchat_cli.models import SpokenMessage, ZkChatMessage


class MessageReader(Protocol):
    """Reads messages of one conversation from the store, in the order of their ids."""

    def has_messages(self, ids: Sequence[str]) -> bool: ...

    def read_messages(self, ids: Sequence[str]) -> tuple[ZkChatMessage, ...]: ...

    def read_spoken(self, ids: Sequence[str], *, links: bool = False) -> tuple[SpokenMessage, ...]: ...


class LoadableExchange:
    """A question with its answers; in some imports, what was said before the first question."""

    __slots__ = ("_messages", "_reader", "_state", "ids")

    def __init__(self, messages: Sequence[ZkChatMessage]) -> None:
        self.ids = tuple(message.id for message in messages)
        self._state = hash(tuple((message.status, message.pinned, len(message.content)) for message in messages))
        self._messages: tuple[ZkChatMessage, ...] | None = tuple(messages)
        self._reader: MessageReader | None = None

    @property
    def messages(self) -> tuple[ZkChatMessage, ...]:
        """Raises StoreError if they have to be read from the store and cannot be."""
        messages = self._messages  # read once: another thread may unload them
        if messages is None:
            assert self._reader is not None
            messages = self._reader.read_messages(self.ids)
        return messages

    @property
    def spoken(self) -> tuple[SpokenMessage, ...]:
        """What the user and the model said, which is read faster. Raises StoreError as `messages` does."""
        messages = self._messages
        if messages is None:
            assert self._reader is not None
            return self._reader.read_spoken(self.ids, links=True)
        return tuple(SpokenMessage(m.id, m.role, m.content, m.timestamp, _links(m)) for m in messages if m.role != "tool" and m.content)

    def unload(self, reader: MessageReader) -> bool:
        """Forget the messages if the store has all of them; whether they are forgotten."""
        if self._messages is not None and reader.has_messages(self.ids):
            self._reader, self._messages = reader, None
        return self._messages is None

    def says_the_same(self, other: "LoadableExchange") -> bool:
        """Whether the other has the same messages, with the same marks: a message's text never changes."""
        return self is other or (self.ids == other.ids and self._state == other._state)


def read_spoken_messages(exchanges: Iterable[LoadableExchange], wanted: Container[str]) -> dict[str, SpokenMessage]:
    """What was said in the wanted messages of these exchanges of one conversation, by id; those in the store with one query."""
    found: dict[str, SpokenMessage] = {}
    unread: list[str] = []
    reader: MessageReader | None = None
    for exchange in exchanges:
        if exchange._messages is None:
            reader = exchange._reader
            unread += [id_ for id_ in exchange.ids if id_ in wanted]
        else:
            found |= {message.id: message for message in exchange.spoken}
    return found | ({message.id: message for message in reader.read_spoken(unread)} if reader is not None else {})


class MessageHistory(Sequence[ZkChatMessage]):
    """The messages of a branch, oldest first; a slice is a tuple. A history never changes; a longer one shares its storage."""

    __slots__ = ("_count", "_exchanges", "_length", "_starts")

    def __init__(self, exchanges: Iterable[LoadableExchange] = ()) -> None:
        self._exchanges = list(exchanges)
        self._starts = array("L", accumulate((len(exchange.ids) for exchange in self._exchanges), initial=0))
        """The number of each exchange's first message, and of the next exchange's."""
        self._count, self._length = len(self._exchanges), self._starts[-1]

    def with_exchange(self, exchange: LoadableExchange) -> "MessageHistory":
        """This history followed by an exchange. It shares this one's storage, unless another history continued this one before."""
        longer = MessageHistory() if len(self._exchanges) == self._count else MessageHistory(self.exchanges())
        if len(self._exchanges) == self._count:
            longer._exchanges, longer._starts = self._exchanges, self._starts
        longer._exchanges.append(exchange)
        longer._starts.append(self._length + len(exchange.ids))
        longer._count, longer._length = self._count + 1, longer._starts[-1]
        return longer

    def exchanges(self, start: int = 0) -> Iterator[LoadableExchange]:
        """The exchanges from this one on."""
        return islice(self._exchanges, start, self._count)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int) -> ZkChatMessage: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[ZkChatMessage, ...]: ...
    def __getitem__(self, at: int | slice) -> ZkChatMessage | tuple[ZkChatMessage, ...]:
        if not isinstance(at, slice):
            return next(self._from(range(self._length)[at]))
        wanted = range(self._length)[at]
        if not wanted:
            return ()
        least = min(wanted)
        found = tuple(islice(self._from(least), max(wanted) + 1 - least))
        return tuple(found[number - least] for number in wanted)

    def _from(self, number: int) -> Iterator[ZkChatMessage]:
        """The messages from this number on."""
        first = bisect_right(self._starts, number) - 1
        messages = (message for exchange in self.exchanges(first) for message in exchange.messages)
        return islice(messages, number - self._starts[first], None)

    def __iter__(self) -> Iterator[ZkChatMessage]:
        return (message for exchange in self.exchanges() for message in exchange.messages)

    def __reversed__(self) -> Iterator[ZkChatMessage]:
        return (message for at in range(self._count - 1, -1, -1) for message in reversed(self._exchanges[at].messages))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]


def _links(message: ZkChatMessage) -> tuple[str, ...]:
    return tuple(r.wikilink for r in message.references if r.relative_path and r.reference_type != "memory")
