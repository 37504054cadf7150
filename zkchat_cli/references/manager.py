"""One numbering of all chunks of a conversation, across tools, rounds and turns.

The model cites `[n]`, so n must mean the same chunk for the whole conversation. The same chunk keeps its number, and a chunk whose text
changed gets a new one. The numbers are stored with the messages, so that resuming, compaction and undo keep them.
"""

from collections.abc import Iterable, Sequence

from zkchat_cli.models import ContentChunk, ZkChatMessage
from zkchat_cli.references.chunk_format import MAX_NUMBER

_MAX_COUNTED = MAX_NUMBER // 10  # larger numbers come only from imports; numbering never continues from one


class ReferenceManager:
    """Numbers chunks, and finds them by number."""

    def __init__(self) -> None:
        self._chunks: dict[int, ContentChunk] = {}  # the chunks by number, each with the score of the first call that found it
        self._numbers: dict[int, int] = {}  # the numbers by the hashes of the chunks' identities
        self._highest = 0

    @classmethod
    def from_log(cls, log: Iterable[ZkChatMessage]) -> "ReferenceManager":
        """The manager of a stored conversation. It knows the chunks of all branches, so that no number is used twice."""
        manager = cls()
        for message in log:
            if message.role == "user" or message.tool_call_id is not None:
                manager._add(message.chunks)
        return manager

    def copy(self) -> "ReferenceManager":
        """An independent copy, to see which numbers chunks would get, or to return to it."""
        other = ReferenceManager()
        other._chunks, other._numbers, other._highest = {**self._chunks}, {**self._numbers}, self._highest
        return other

    def extract_referenceable_chunks(self, chunks: Sequence[ContentChunk]) -> tuple[ContentChunk, ...]:
        """The chunks of one tool response or user message with their numbers, known ones or the next free ones."""
        numbered = tuple(chunk.model_copy(update={"number": self._number(chunk)}) for chunk in chunks)
        self._add(numbered)
        return numbered

    def chunk(self, number: int) -> ContentChunk | None:
        return self._chunks.get(number)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of all chunks, sorted."""
        return tuple(sorted(self._chunks))

    def _number(self, chunk: ContentChunk) -> int:
        identity = _identity(chunk)
        if identity not in self._numbers:
            self._highest += 1
            while self._highest in self._chunks:
                self._highest += 1
            self._numbers[identity] = self._highest
        return self._numbers[identity]

    def _add(self, chunks: Iterable[ContentChunk]) -> None:
        """Store the numbered chunks of a call. Imported chunks without a number, with an impossible one or with that of another chunk are
        left out."""
        for chunk in chunks:
            number, identity = chunk.number, _identity(chunk)
            if number is None or not 0 < number <= MAX_NUMBER:
                continue
            if number in self._chunks and self._numbers.get(identity) != number:
                continue
            self._chunks.setdefault(number, chunk)
            self._numbers.setdefault(identity, number)
            if number <= _MAX_COUNTED:
                self._highest = max(self._highest, number)


def _identity(chunk: ContentChunk) -> int:
    """A hash of what makes a chunk the same. Its id alone would do, but imports may contain anything."""
    return hash((chunk.id, chunk.relative_path, chunk.text))
