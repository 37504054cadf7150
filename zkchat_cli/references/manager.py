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
    """Numbers chunks, finds them by number and by call, and remembers what answers cited.

    Chunks are stored by call. A number outlives its chunk: a chunk that is replaced and found again gets its old number.
    """

    def __init__(self) -> None:
        self._calls: list[CallChunks] = []
        self._newest: dict[str, int] = {}
        self._by_number: dict[int, dict[int, ContentChunk]] = {}
        """By number, then by index in `_calls`: the chunk with the score it had in that call."""
        self._identities: dict[int, _Identity] = {}
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
        other._calls, other._newest, other._highest = [*self._calls], {**self._newest}, self._highest
        other._by_number = {number: {**chunks} for number, chunks in self._by_number.items()}
        other._identities, other._numbers = {**self._identities}, {**self._numbers}
        other._references = [*self._references]
        return other

    # chunks

    def extract_referenceable_chunks(self, call_id: str, chunks: Sequence[ContentChunk], tool: str = "") -> tuple[ContentChunk, ...]:
        """The chunks of one tool response or user message with their numbers; new chunks get the next ones."""
        numbered = self._with_numbers(chunks)
        if numbered:
            self._add(CallChunks(call_id, tool, numbered))
        return numbered

    def chunk(self, number: int) -> ContentChunk | None:
        """The chunk with this number; None if no call has it."""
        return next(iter(self._by_number.get(number, {}).values()), None)

    @property
    def chunks(self) -> tuple[ContentChunk, ...]:
        """All chunks, each once, by number."""
        return tuple(next(iter(self._by_number[number].values())) for number in sorted(self._by_number))

    @property
    def calls(self) -> tuple[CallChunks, ...]:
        """All calls and messages with chunks, in order. Only imports can have several calls with one id."""
        return tuple(call for call in self._calls if call.chunks)

    def chunks_of_call(self, call_id: str) -> tuple[ContentChunk, ...]:
        """The chunks of one call or user message; of several calls with this id, the newest."""
        return self._calls[self._newest[call_id]].chunks if call_id in self._newest else ()

    def chunks_of_tool(self, tool: str) -> tuple[ContentChunk, ...]:
        """The chunks of all calls of a tool, each once."""
        return self.chunks_of_all_tools().get(tool, ())

    def chunks_of_all_tools(self) -> dict[str, tuple[ContentChunk, ...]]:
        """The chunks of each tool by its name; those of user messages belong to none."""
        found: dict[str, dict[int | None, ContentChunk]] = {}
        for call in self.calls:
            if call.tool:
                chunks = found.setdefault(call.tool, {})
                for chunk in call.chunks:
                    chunks.setdefault(chunk.number, chunk)
        return {tool: tuple(chunks.values()) for tool, chunks in found.items()}

    def replace_chunks_of_call(self, call_id: str, chunks: Sequence[ContentChunk]) -> tuple[ContentChunk, ...]:
        """Replace the chunks of a call, or add the call if it is new; returns the chunks with their numbers."""
        if call_id not in self._newest:
            return self.extract_referenceable_chunks(call_id, chunks)
        index = self._newest[call_id]
        for number in {chunk.number for chunk in self._calls[index].chunks if chunk.number is not None}:
            del self._by_number[number][index]
            if not self._by_number[number]:
                del self._by_number[number]
        numbered = self._with_numbers(chunks)
        self._store(index, CallChunks(call_id, self._calls[index].tool, numbered))
        return numbered

    def replace(self, calls: Iterable[CallChunks]) -> None:
        """Replace all calls; known chunks keep their numbers."""
        calls = tuple(calls)
        self._calls, self._newest, self._by_number = [], {}, {}
        for call in calls:
            self.extract_referenceable_chunks(call.call_id, call.chunks, call.tool)

    # references

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

    @property
    def latest_referenced_chunks(self) -> tuple[ContentChunk, ...]:
        """The chunks of the latest references, each once, in the order of citation."""
        cited = dict.fromkeys(citation.number for citation in self.latest_references)
        return tuple(chunk for number in cited if (chunk := self.chunk(number)) is not None)

    # numbers

    def _with_numbers(self, chunks: Sequence[ContentChunk]) -> tuple[ContentChunk, ...]:
        """The chunks with their known numbers or the next free ones; numbers that they carry are ignored."""
        numbered: list[ContentChunk] = []
        for chunk in chunks:
            identity = _identity(chunk)
            if identity not in self._numbers:
                self._highest += 1
                while self._highest in self._identities:
                    self._highest += 1
                self._numbers[identity] = self._highest
            numbered.append(chunk.model_copy(update={"number": self._numbers[identity]}))
        return tuple(numbered)

    def _add(self, call: CallChunks) -> None:
        self._newest[call.call_id] = len(self._calls)
        self._calls.append(call)
        self._store(len(self._calls) - 1, call)

    def _store(self, index: int, call: CallChunks) -> None:
        """Store a call whose chunks have numbers. Imported chunks without a number, with an impossible one or with that of another chunk
        are left out."""
        known: list[ContentChunk] = []
        for chunk in call.chunks:
            number, identity = chunk.number, _identity(chunk)
            if number is None or not 0 < number <= MAX_NUMBER or self._identities.setdefault(number, identity) != identity:
                continue
            self._numbers.setdefault(identity, number)
            if number <= _MAX_COUNTED:
                self._highest = max(self._highest, number)
            self._by_number.setdefault(number, {}).setdefault(index, chunk)
            known.append(chunk)
        self._calls[index] = CallChunks(call.call_id, call.tool, tuple(known))


def _identity(chunk: ContentChunk) -> _Identity:
    """The identity of a chunk. Its id alone would do, but imports may contain anything."""
    return chunk.id, chunk.relative_path, chunk.text
