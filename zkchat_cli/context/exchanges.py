"""Exchanges: a question with its answers, as the branch in use holds them.

A long conversation needs only its newest exchanges for a prompt. The messages of older ones stay in the store and are read from there when
somebody scrolls, recalls or exports them: 10,000 turns with tool results would take 200 MB.
"""

from array import array
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple, overload

from zkchat_cli.errors import StoreError
from zkchat_cli.models import SpokenMessage, ZkChatMessage
from zkchat_cli.store.chat_session_store import ChatSessionStore


class StoredMessages(NamedTuple):
    """The messages of one conversation in the store; they are read in the order of their ids."""

    store: ChatSessionStore
    conversation_id: str

    def has_messages(self, ids: Sequence[str]) -> bool:
        try:
            return self.store.has_messages(self.conversation_id, ids)
        except StoreError:
            return False

    def read_messages(self, ids: Sequence[str]) -> tuple[ZkChatMessage, ...]:
        return self.store.messages(self.conversation_id, ids)

    def read_spoken(self, ids: Sequence[str], *, links: bool = False) -> tuple[SpokenMessage, ...]:
        """None of messages that cannot be read: what is recalled is not worth a failed turn."""
        try:
            return self.store.spoken_messages(self.conversation_id, ids, links=links)
        except StoreError:
            return ()


class LoadableExchange:
    """A question with its answers; in some imports, what was said before the first question."""

    __slots__ = ("_state", "ids", "loaded", "reader")

    def __init__(self, messages: Sequence[ZkChatMessage], reader: StoredMessages | None = None) -> None:
        """With a `reader` the messages come from the store."""
        self.ids = tuple(message.id for message in messages)
        self._state = hash(tuple((message.status, message.pinned, len(message.content)) for message in messages))
        self.loaded: tuple[ZkChatMessage, ...] | None = tuple(messages)
        """None if they are only in the store."""
        self.reader = reader

    @property
    def messages(self) -> tuple[ZkChatMessage, ...]:
        """Raises StoreError if they have to be read from the store and cannot be."""
        messages = self.loaded  # read once: another thread may unload them
        if messages is None:
            assert self.reader is not None
            messages = self.reader.read_messages(self.ids)
        return messages

    def unload(self, reader: StoredMessages) -> bool:
        """Forget the messages if the store has all of them; whether they are forgotten."""
        if self.reader is None and reader.has_messages(self.ids):
            self.reader = reader
        if self.reader is not None:
            self.loaded = None
        return self.loaded is None

    def says_the_same(self, other: "LoadableExchange") -> bool:
        """Whether the other has the same messages, with the same marks: a message's text never changes."""
        return self is other or (self.ids == other.ids and self._state == other._state)


def read_spoken(
    exchanges: Iterable[LoadableExchange], wanted: Container[str] | None = None, *, links: bool = False
) -> dict[str, SpokenMessage]:
    """What was said in these exchanges of one conversation, or in the wanted messages of them, by the messages' ids. Those that are only in
    the store are read with one query; one that is gone is missing."""
    found: dict[str, SpokenMessage] = {}
    unread: list[str] = []
    reader: StoredMessages | None = None
    for exchange in exchanges:
        messages = exchange.loaded
        if messages is None:
            reader = exchange.reader
            unread += [id_ for id_ in exchange.ids if wanted is None or id_ in wanted]
            continue
        for m in messages:
            if m.role != "tool" and m.content:
                documents = _links(m) if links else ()
                found[m.id] = SpokenMessage(m.id, m.role, m.content, m.timestamp, documents)
    return found | ({message.id: message for message in reader.read_spoken(unread, links=links)} if reader is not None else {})


class MessageHistory(Sequence[ZkChatMessage]):
    """The messages of a branch, oldest first; a slice is a tuple. A history never changes; a longer one shares its storage."""

    __slots__ = ("_count", "_exchanges", "_length", "_starts", "revision")

    def __init__(self, exchanges: Iterable[LoadableExchange] = (), revision: int = 0) -> None:
        self.revision = revision
        """Stays the same in longer histories."""
        self._exchanges = list(exchanges)
        self._starts = array("L", accumulate((len(exchange.ids) for exchange in self._exchanges), initial=0))
        """The number of each exchange's first message, and of the next exchange's."""
        self._count, self._length = len(self._exchanges), self._starts[-1]

    def with_exchange(self, exchange: LoadableExchange) -> "MessageHistory":
        """This history followed by an exchange. It shares this one's storage, unless another history continued this one before."""
        longer = MessageHistory(() if len(self._exchanges) == self._count else self.exchanges(), self.revision)
        if len(self._exchanges) == self._count:
            longer._exchanges, longer._starts = self._exchanges, self._starts
        longer._exchanges.append(exchange)
        longer._starts.append(self._length + len(exchange.ids))
        longer._count, longer._length = self._count + 1, longer._starts[-1]
        return longer

    @property
    def exchange_count(self) -> int:
        return self._count

    def exchanges(self, start: int = 0) -> Iterator[LoadableExchange]:
        """The exchanges from this one on."""
        return iter(self._exchanges[start : self._count])  # islice would walk through all before

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


def _links(message: ZkChatMessage) -> tuple[str, ...]:
    return tuple(r.wikilink for r in message.references if r.relative_path and r.reference_type != "memory")
