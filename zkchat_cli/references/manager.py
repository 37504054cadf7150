"""The numbering of chunks in a conversation.

The model cites `[n]`, so n must mean the same chunk for the whole conversation. The same chunk
keeps its number, and a chunk with a changed text gets a new one. The numbers are stored with the
messages, so that resuming, compaction and undo keep them.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import ContentChunk

# The largest number of a chunk: citations are parsed up to nine digits
MAX_NUMBER = 999_999_999
# The largest number that numbering continues from: larger ones come only from imports
_MAX_COUNTED = MAX_NUMBER // 10


class _ChunkIdentity(NamedTuple):
    """What two mentions of one chunk have in common. The id alone is not enough, because an
    imported chunk can have any id.
    """

    id: str
    relative_path: str
    text: str


class ReferenceManager:
    """Numbers chunks, and finds them by number."""

    def __init__(self) -> None:
        # The chunks by number, each with the score of the first call that found it
        self._chunks: dict[int, ContentChunk] = {}
        self._numbers: dict[_ChunkIdentity, int] = {}
        self._highest = 0

    @classmethod
    def from_log(cls, log: Iterable[ZkChatMessage]) -> "ReferenceManager":
        """The manager of a stored conversation. It knows the chunks of all branches, so that no
        number is used twice.
        """
        manager = cls()
        for message in log:
            if message.role == "user" or message.tool_call_id is not None:
                manager._add(message.chunks)
        return manager

    def snapshot(self) -> "ReferenceManager":
        """An independent copy, to see which numbers chunks would get, or to number anew from it."""
        other = ReferenceManager()
        other._chunks = {**self._chunks}
        other._numbers = {**self._numbers}
        other._highest = self._highest
        return other

    def extract_referenceable_chunks(
        self, chunks: Sequence[ContentChunk]
    ) -> tuple[ContentChunk, ...]:
        """The chunks of one tool response or user message, each with the number it had before or
        the next free one.
        """
        numbered = []
        for chunk in chunks:
            identity = _identity(chunk)
            if identity not in self._numbers:
                self._highest += 1
                while self._highest in self._chunks:
                    self._highest += 1
                self._numbers[identity] = self._highest
            numbered.append(chunk.model_copy(update={"number": self._numbers[identity]}))
        self._add(numbered)
        return tuple(numbered)

    def chunk(self, number: int) -> ContentChunk | None:
        """The chunk with this number; None if there is none."""
        return self._chunks.get(number)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of all chunks, sorted."""
        return tuple(sorted(self._chunks))

    def _add(self, chunks: Iterable[ContentChunk]) -> None:
        """Store the numbered chunks of a call. Imported chunks without a number, with an impossible
        one or with that of another chunk are left out.
        """
        for chunk in chunks:
            number = chunk.number
            identity = _identity(chunk)
            if number is None or not 0 < number <= MAX_NUMBER:
                continue
            if number in self._chunks and self._numbers.get(identity) != number:
                continue
            self._chunks.setdefault(number, chunk)
            self._numbers.setdefault(identity, number)
            if number <= _MAX_COUNTED:
                self._highest = max(self._highest, number)


def _identity(chunk: ContentChunk) -> _ChunkIdentity:
    return _ChunkIdentity(chunk.id, chunk.relative_path, chunk.text)
