"""The references of a conversation: the chunks that tools found, by call and by number, and the
documents that each answer referenced.

The model cites `[n]`, so n must mean the same chunk for the whole conversation. The same chunk
keeps its number, and a chunk with a changed text gets a new one. The numbers are stored with the
messages, so that resuming, compaction and undo keep them.

Chunks are kept once, by call. The list of all chunks is made from that, so the two cannot differ.
The methods are named as in the document that zkchat implements; docs/reference/python.md has them.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.models.messages import ZkChatMessage, split_into_exchanges
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.references.documents import merge_references

# The largest number of a chunk: citations are parsed up to nine digits
MAX_NUMBER = 999_999_999
# The largest number that numbering continues from: larger ones come only from imports
_MAX_COUNTED = MAX_NUMBER // 10
# The name of what a question brings with it: documents that it names, and passages found for it
QUESTION = "question"


class ToolCallResponse(NamedTuple):
    """What a tool found: the id of the call, the tool's name, and the chunks. The documents and
    passages of a question count as a call with the id of its message.
    """

    id: str
    name: str
    content_chunks: Sequence[ContentChunk]


class ToolChunks(NamedTuple):
    """The numbered chunks of one tool call, each once."""

    name: str
    chunks: tuple[ContentChunk, ...]


class _ChunkIdentity(NamedTuple):
    """What two mentions of one chunk have in common. The id alone is not enough, because an
    imported chunk can have any id.
    """

    id: str
    relative_path: str
    text: str


class ReferenceManager:
    """Numbers chunks, finds them by number and by tool call, and knows the latest references."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolChunks] = {}
        # The chunks of all calls by number, each with the score of the first call that found it
        self._chunks: dict[int, ContentChunk] = {}
        # Numbers are kept when a chunk is replaced, so that they never get another meaning
        self._numbers: dict[_ChunkIdentity, int] = {}
        self._taken: set[int] = set()
        self._highest = 0
        self._references: list[tuple[DocumentReference, ...]] = []

    @classmethod
    def from_log(
        cls, log: Iterable[ZkChatMessage], branch: Sequence[ZkChatMessage] = ()
    ) -> "ReferenceManager":
        """The manager of a stored conversation. It knows the chunks of all branches, so that no
        number is used twice, and the references of the answers in the current `branch`.
        """
        manager = cls()
        for message in log:
            if message.role == "user":
                manager._add(message.id, QUESTION, message.chunks)
            elif message.tool_call_id is not None:
                manager._add(message.tool_call_id, message.tool_name or "", message.chunks)
        for exchange in split_into_exchanges(branch):
            manager.add_references_of(exchange)
        return manager

    def snapshot(self) -> "ReferenceManager":
        """An independent copy, to see which numbers chunks would get."""
        other = ReferenceManager()
        other._calls = {**self._calls}
        other._chunks = {**self._chunks}
        other._numbers = {**self._numbers}
        other._taken = {*self._taken}
        other._highest = self._highest
        other._references = [*self._references]
        return other

    # chunks

    def extract_referenceable_chunks(
        self, tool_responses: Iterable[ToolCallResponse]
    ) -> tuple[ToolChunks, ...]:
        """Number the chunks of tool responses, and return those of each response: a chunk gets the
        number that it had before, or the next free one. A second response of the same call adds to
        its chunks.
        """
        extracted: list[ToolChunks] = []
        for response in tool_responses:
            numbered = tuple(self._number(response.content_chunks))
            self._add(response.id, response.name, numbered)
            extracted.append(ToolChunks(response.name, numbered))
        return tuple(extracted)

    def get_chunks(self) -> list[ContentChunk]:
        """The chunks of all calls, call by call. A chunk that two calls found is there twice."""
        return [chunk for call in self._calls.values() for chunk in call.chunks]

    def get_tool_chunks(self) -> dict[str, ToolChunks]:
        """The chunks and the tool's name of each call, by the call's id."""
        return {**self._calls}

    def get_chunks_of_all_tools(self) -> list[list[ContentChunk]]:
        """The chunks of each call, in the order of the calls."""
        return [list(call.chunks) for call in self._calls.values()]

    def get_chunks_of_tool(self, tool_call_id: str) -> list[ContentChunk]:
        """The chunks of a call; none for an unknown id."""
        call = self._calls.get(tool_call_id)
        return list(call.chunks) if call else []

    def replace_chunks_of_tool(
        self, tool_call_id: str, chunks: Iterable[ContentChunk], name: str = ""
    ) -> tuple[ContentChunk, ...]:
        """Replace the chunks of a call, for example by fewer that fit into the window, and return
        the new ones with their numbers. For an unknown id, this adds a call with this `name`.

        A chunk that is in no call any more cannot be found by its number, which stays its own.
        """
        before = self._calls.pop(tool_call_id, ToolChunks(name, ()))
        numbered = tuple(self._number(chunks))
        self._forget_unused(before.chunks)
        self._add(tool_call_id, before.name, numbered)
        return tuple(self.get_chunks_of_tool(tool_call_id))

    def replace(self, chunks: Iterable[ContentChunk]) -> None:
        """Replace the chunks of all calls. A chunk goes to the calls that found it, with another
        text or the same; one that no call found goes to a call with an empty id.
        """
        before = self._calls
        by_place: dict[tuple[str, str], list[str]] = {}
        for call_id, call in before.items():
            for chunk in call.chunks:
                by_place.setdefault((chunk.id, chunk.relative_path), []).append(call_id)
        kept: dict[str, list[ContentChunk]] = {call_id: [] for call_id in before}
        for chunk in self._number(chunks):
            for call_id in by_place.get((chunk.id, chunk.relative_path), [""]):
                kept.setdefault(call_id, []).append(chunk)
        self._calls = {}
        self._chunks = {}
        for call_id, own in kept.items():
            name = before[call_id].name if call_id in before else ""
            self._add(call_id, name, own)

    def chunk(self, number: int) -> ContentChunk | None:
        """The chunk with this number; None if there is none."""
        return self._chunks.get(number)

    def chunks_by_number(self) -> dict[int, ContentChunk]:
        """All chunks that have a number, each once."""
        return {**self._chunks}

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of all chunks, sorted."""
        return tuple(sorted(self._chunks))

    # references

    def add_references(self, references: Iterable[DocumentReference]) -> None:
        """Add the documents of one answer."""
        self._references.append(tuple(references))

    def add_references_of(self, exchange: Sequence[ZkChatMessage]) -> None:
        """Add the documents of a question and its answer: those that the question named, then those
        that were found. Nothing is added for a question without an answer.
        """
        named: tuple[DocumentReference, ...] = ()
        answers = []
        for message in exchange:
            if message.role == "user":
                named = message.references
            elif message.is_answer:
                answers.append(message)
        if answers:
            self.add_references(merge_references(named, answers[-1].references))

    def get_references(self) -> list[list[DocumentReference]]:
        """The documents of each answer, oldest answer first."""
        return [list(references) for references in self._references]

    def get_latest_references(self) -> list[DocumentReference]:
        """The documents of the latest answer; none before the first one."""
        return list(self._references[-1]) if self._references else []

    def get_latest_referenced_chunks(self) -> list[ContentChunk]:
        """The chunks of the latest answer's documents, each once, in the order of these."""
        found: dict[int, ContentChunk] = {}
        for reference in self.get_latest_references():
            for number in reference.all_numbers:
                chunk = self.chunk(number)
                if chunk is not None:
                    found[number] = chunk
        return list(found.values())

    # numbers

    def _number(self, chunks: Iterable[ContentChunk]) -> Iterator[ContentChunk]:
        """The chunks with their numbers: the one that a chunk had before or the next free one."""
        for chunk in chunks:
            identity = _identity(chunk)
            if identity not in self._numbers:
                self._highest += 1
                while self._highest in self._taken:
                    self._highest += 1
                self._numbers[identity] = self._highest
                self._taken.add(self._highest)
            yield chunk.model_copy(update={"number": self._numbers[identity]})

    def _add(self, call_id: str, name: str, chunks: Iterable[ContentChunk]) -> None:
        """Add numbered chunks to a call, each once. Imported chunks without a number, with an
        impossible one or with that of another chunk are left out.
        """
        known = self._calls.get(call_id, ToolChunks(name, ()))
        own = {chunk.number: chunk for chunk in known.chunks}
        for chunk in chunks:
            number = chunk.number
            if number is None or not self._takes(chunk, number):
                continue
            own.setdefault(number, chunk)
            self._chunks.setdefault(number, chunk)
            self._numbers.setdefault(_identity(chunk), number)
            self._taken.add(number)
            if number <= _MAX_COUNTED:
                self._highest = max(self._highest, number)
        if own:
            self._calls[call_id] = ToolChunks(known.name, tuple(own.values()))

    def _takes(self, chunk: ContentChunk, number: int) -> bool:
        """Whether the chunk can have this number."""
        if not 0 < number <= MAX_NUMBER:
            return False
        return number not in self._taken or self._numbers.get(_identity(chunk)) == number

    def _forget_unused(self, chunks: Iterable[ContentChunk]) -> None:
        """Forget chunks that no call has any more. The chunk of another call takes the place of an
        equal one.
        """
        numbers = {chunk.number for chunk in chunks}
        if not numbers:
            return
        for number in numbers:
            self._chunks.pop(number or 0, None)
        for chunk in self.get_chunks():
            if chunk.number in numbers:
                self._chunks.setdefault(chunk.number or 0, chunk)


def _identity(chunk: ContentChunk) -> _ChunkIdentity:
    return _ChunkIdentity(chunk.id, chunk.relative_path, chunk.text)
