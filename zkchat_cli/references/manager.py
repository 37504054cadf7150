"""One numbering of all chunks of a conversation, across tools, rounds and turns.

The model cites `[n]`, so n must mean the same chunk for the whole conversation. The same chunk keeps its number, and a chunk whose text
changed gets a new one. The numbers are stored with the messages, so that resuming, compaction and undo keep them.
"""

from collections.abc import Iterable, Sequence

from zkchat_cli.models import Citation, ContentChunk, ZkChatMessage
from zkchat_cli.references.chunk_format import MAX_NUMBER

_Identity = tuple[str, str, str]
_MAX_COUNTED = MAX_NUMBER // 10
"""Larger numbers come only from imports; numbering never continues from one."""


class ReferenceManager:
    """Numbers chunks, finds them by number and by tool, and remembers what answers cited."""

    def __init__(self) -> None:
        self._chunks: dict[int, ContentChunk] = {}
        """By number, with the score of the first call that found it."""
        self._numbers: dict[_Identity, int] = {}
        self._by_tool: dict[str, dict[int, None]] = {}
        """The numbers that each tool found, in order."""
        self._highest = 0
        self.latest_references: tuple[Citation, ...] = ()
        """What the last answer with citations cited."""

    @classmethod
    def from_log(cls, log: Iterable[ZkChatMessage], branch: Iterable[ZkChatMessage] | None = None) -> "ReferenceManager":
        """The manager of a stored conversation.

        It knows the chunks of all messages in `log`, including other branches, so that no number is used twice. The references are those of
        the answers on `branch`, by default of all.
        """
        log = tuple(log)
        manager = cls()
        for message in log:
            if message.role == "user" or message.tool_call_id is not None:
                manager._add(message.chunks, message.tool_name or "")
        for message in log if branch is None else branch:
            manager.add_references(message.citations)
        return manager

    def copy(self) -> "ReferenceManager":
        """An independent copy, to see which numbers chunks would get."""
        other = ReferenceManager()
        other._chunks, other._numbers, other._highest = {**self._chunks}, {**self._numbers}, self._highest
        other._by_tool = {tool: {**numbers} for tool, numbers in self._by_tool.items()}
        other.latest_references = self.latest_references
        return other

    def checkpoint(self) -> tuple[int, int, int]:
        """What `roll_back` takes to forget the chunks that user messages brought since."""
        return len(self._chunks), len(self._numbers), self._highest

    def roll_back(self, to: tuple[int, int, int]) -> None:
        chunks, numbers, self._highest = to
        while len(self._chunks) > chunks:
            self._chunks.popitem()
        while len(self._numbers) > numbers:
            self._numbers.popitem()

    def extract_referenceable_chunks(self, chunks: Sequence[ContentChunk], tool: str = "") -> tuple[ContentChunk, ...]:
        """The chunks of one tool response or user message with their numbers, known ones or the next free ones."""
        numbered = tuple(chunk.model_copy(update={"number": self._number(chunk)}) for chunk in chunks)
        self._add(numbered, tool)
        return numbered

    def chunk(self, number: int) -> ContentChunk | None:
        """The chunk with this number; None if no call has it."""
        return self._chunks.get(number)

    @property
    def chunks(self) -> tuple[ContentChunk, ...]:
        """All chunks, each once, by number."""
        return tuple(self._chunks[number] for number in sorted(self._chunks))

    def chunks_of_all_tools(self) -> dict[str, tuple[ContentChunk, ...]]:
        """The chunks of each tool by its name, each once; those of user messages belong to none."""
        return {tool: tuple(self._chunks[number] for number in numbers) for tool, numbers in self._by_tool.items()}

    def add_references(self, citations: Iterable[Citation]) -> None:
        """Add what an answer cited; an answer without citations leaves the latest references unchanged."""
        self.latest_references = tuple(citations) or self.latest_references

    def _number(self, chunk: ContentChunk) -> int:
        identity = _identity(chunk)
        if identity not in self._numbers:
            self._highest += 1
            while self._highest in self._chunks:
                self._highest += 1
            self._numbers[identity] = self._highest
        return self._numbers[identity]

    def _add(self, chunks: Iterable[ContentChunk], tool: str) -> None:
        """Store the numbered chunks of a call. Imported chunks without a number, with an impossible one or with that of another chunk are
        left out."""
        for chunk in chunks:
            number, identity = chunk.number, _identity(chunk)
            if number is None or not 0 < number <= MAX_NUMBER or _identity(self._chunks.setdefault(number, chunk)) != identity:
                continue
            self._numbers.setdefault(identity, number)
            if number <= _MAX_COUNTED:
                self._highest = max(self._highest, number)
            if tool:
                self._by_tool.setdefault(tool, {})[number] = None


def _identity(chunk: ContentChunk) -> _Identity:
    """The identity of a chunk. Its id alone would do, but imports may contain anything."""
    return chunk.id, chunk.relative_path, chunk.text
