"""One numbering of all chunks of a conversation, across tools, rounds and turns.

The model cites `[n]`, so n must mean the same chunk for the whole conversation. The same chunk keeps its number, and a chunk whose text
changed gets a new one. The numbers are stored with the messages, so that resuming, compaction and undo keep them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zkchat_cli.models import Citation, ContentChunk, ZkChatMessage
from zkchat_cli.references.chunk_format import MAX_NUMBER


@dataclass(frozen=True, slots=True)
class CallChunks:
    """The chunks of one tool call, or of a user message: that has no `tool`, and its id is the `call_id`."""

    call_id: str
    tool: str
    chunks: tuple[ContentChunk, ...]


_Identity = tuple[str, str, str]
_MAX_COUNTED = MAX_NUMBER // 10
"""Larger numbers come only from imports; numbering never continues from one."""


class ReferenceManager:
    """Numbers chunks, finds them by number and by tool, and remembers what answers cited."""

    def __init__(self) -> None:
        self._calls: list[CallChunks] = []
        self._chunks: dict[int, ContentChunk] = {}
        """By number, with the score of the first call that found it."""
        self._numbers: dict[_Identity, int] = {}
        self._highest = 0
        self._references: list[tuple[Citation, ...]] = []

    @classmethod
    def from_log(cls, log: Iterable[ZkChatMessage], branch: Iterable[ZkChatMessage] | None = None) -> "ReferenceManager":
        """The manager of a stored conversation.

        It knows the chunks of all messages in `log`, including other branches, so that no number is used twice. The references are those of
        the answers on `branch`, by default of all.
        """
        log = tuple(log)
        manager = cls()
        for message in log:
            call_id = message.id if message.role == "user" else message.tool_call_id
            if call_id is not None and message.chunks:
                manager._add(CallChunks(call_id, message.tool_name or "", message.chunks))
        for message in log if branch is None else branch:
            manager.add_references(message.citations)
        return manager

    def copy(self) -> "ReferenceManager":
        """An independent copy, to see which numbers chunks would get."""
        other = ReferenceManager()
        other._calls, other._chunks, other._numbers = [*self._calls], {**self._chunks}, {**self._numbers}
        other._highest, other._references = self._highest, [*self._references]
        return other

    def extract_referenceable_chunks(self, call_id: str, chunks: Sequence[ContentChunk], tool: str = "") -> tuple[ContentChunk, ...]:
        """The chunks of one tool response or user message with their numbers, known ones or the next free ones."""
        numbered = tuple(chunk.model_copy(update={"number": self._number(chunk)}) for chunk in chunks)
        if numbered:
            self._add(CallChunks(call_id, tool, numbered))
        return numbered

    def chunk(self, number: int) -> ContentChunk | None:
        """The chunk with this number; None if no call has it."""
        return self._chunks.get(number)

    @property
    def chunks(self) -> tuple[ContentChunk, ...]:
        """All chunks, each once, by number."""
        return tuple(self._chunks[number] for number in sorted(self._chunks))

    @property
    def calls(self) -> tuple[CallChunks, ...]:
        """All calls and messages with chunks, in order. Only imports can have several calls with one id."""
        return tuple(self._calls)

    def chunks_of_all_tools(self) -> dict[str, tuple[ContentChunk, ...]]:
        """The chunks of each tool by its name, each once; those of user messages belong to none."""
        found: dict[str, dict[int | None, ContentChunk]] = {}
        for call in self._calls:
            if call.tool:
                found.setdefault(call.tool, {}).update({c.number: c for c in call.chunks if c.number not in found.get(call.tool, {})})
        return {tool: tuple(chunks.values()) for tool, chunks in found.items()}

    def add_references(self, citations: Iterable[Citation]) -> None:
        """Add what an answer cited; an answer without citations leaves the latest references unchanged."""
        if cited := tuple(citations):
            self._references.append(cited)

    @property
    def references(self) -> tuple[tuple[Citation, ...], ...]:
        """The citations of each answer that has any."""
        return tuple(self._references)

    @property
    def latest_references(self) -> tuple[Citation, ...]:
        return self._references[-1] if self._references else ()

    def _number(self, chunk: ContentChunk) -> int:
        identity = _identity(chunk)
        if identity not in self._numbers:
            self._highest += 1
            while self._highest in self._chunks:
                self._highest += 1
            self._numbers[identity] = self._highest
        return self._numbers[identity]

    def _add(self, call: CallChunks) -> None:
        """Store a call whose chunks have numbers. Imported chunks without a number, with an impossible one or with that of another chunk
        are left out."""
        known: list[ContentChunk] = []
        for chunk in call.chunks:
            number, identity = chunk.number, _identity(chunk)
            if number is None or not 0 < number <= MAX_NUMBER or _identity(self._chunks.setdefault(number, chunk)) != identity:
                continue
            self._numbers.setdefault(identity, number)
            if number <= _MAX_COUNTED:
                self._highest = max(self._highest, number)
            known.append(chunk)
        if known:
            self._calls.append(CallChunks(call.call_id, call.tool, tuple(known)))


def _identity(chunk: ContentChunk) -> _Identity:
    """The identity of a chunk. Its id alone would do, but imports may contain anything."""
    return chunk.id, chunk.relative_path, chunk.text
