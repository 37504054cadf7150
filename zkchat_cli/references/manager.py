"""One numbering for every chunk a conversation has brought in, whatever the tool, however many rounds and turns.

The model cites `[n]`; so n must mean one thing for as long as the conversation lives. The same chunk keeps its number, a chunk whose text
changed gets a new one, and the numbers are stored with the messages, so that resuming, compaction and undo keep them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zkchat_cli.models import Citation, ContentChunk, ZkChatMessage
from zkchat_cli.references.chunk_format import MAX_NUMBER


@dataclass(frozen=True, slots=True)
class CallChunks:
    """What one tool call brought in, in its order; or a user's message, which has no `tool`, and whose id is the `call_id`."""

    call_id: str
    tool: str
    chunks: tuple[ContentChunk, ...]


_Identity = tuple[str, str, str]
_FAR = MAX_NUMBER // 10
"""No conversation counts so far. What an import numbers beyond that is known by its number, but nothing is counted on from there."""


class ReferenceManager:
    """Numbers chunks and finds them again, by number and by call, and remembers what answers cited.

    What is known is one store, by call; the flat view has exactly what some call has. A number outlives its chunk: when that is replaced
    and comes again, it has its number again.
    """

    def __init__(self) -> None:
        self._calls: list[CallChunks] = []
        self._newest: dict[str, int] = {}
        self._held: dict[int, dict[int, ContentChunk]] = {}
        """By number, then by place in `_calls`: the chunk as that call brought it (its score is the call's)."""
        self._meanings: dict[int, _Identity] = {}
        self._numbers: dict[_Identity, int] = {}
        self._highest = 0
        self._references: list[tuple[Citation, ...]] = []

    @classmethod
    def from_log(cls, log: Iterable[ZkChatMessage], branch: Iterable[ZkChatMessage] | None = None) -> "ReferenceManager":
        """A manager that goes on where the conversation stopped.

        It knows every chunk of every message in `log`, all branches included, so that a number is never given twice; the references are
        those of the answers on `branch`, the one in use (if that is not said, of all).
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
        """Another that goes on from here, for trying out what numbers would be given."""
        other = ReferenceManager()
        other._calls, other._newest, other._highest = [*self._calls], {**self._newest}, self._highest
        other._held = {number: {**held} for number, held in self._held.items()}
        other._meanings, other._numbers = {**self._meanings}, {**self._numbers}
        other._references = [*self._references]
        return other

    # chunks

    def extract_referenceable_chunks(self, call_id: str, chunks: Sequence[ContentChunk], tool: str = "") -> tuple[ContentChunk, ...]:
        """The chunks of one tool response, or of one message of the user, with their numbers; new ones are counted on from the highest."""
        numbered = self._numbered(chunks)
        if numbered:
            self._add(CallChunks(call_id, tool, numbered))
        return numbered

    def chunk(self, number: int) -> ContentChunk | None:
        """What stands under a number; None when no call has that (any more)."""
        return next(iter(self._held.get(number, {}).values()), None)

    @property
    def chunks(self) -> tuple[ContentChunk, ...]:
        """All chunks, each once, by number."""
        return tuple(next(iter(self._held[number].values())) for number in sorted(self._held))

    @property
    def calls(self) -> tuple[CallChunks, ...]:
        """All calls and messages that brought chunks in, in their order. Only an import can hold calls that share an id."""
        return tuple(call for call in self._calls if call.chunks)

    def chunks_of_call(self, call_id: str) -> tuple[ContentChunk, ...]:
        """What one call (or message of the user) brought in, in its order; of calls that share an id, the newest."""
        return self._calls[self._newest[call_id]].chunks if call_id in self._newest else ()

    def chunks_of_tool(self, tool: str) -> tuple[ContentChunk, ...]:
        """What all calls of a tool brought in, each chunk once, in the order of the calls."""
        return self.chunks_of_all_tools().get(tool, ())

    def chunks_of_all_tools(self) -> dict[str, tuple[ContentChunk, ...]]:
        """What each tool brought in, by its name; what the user's messages brought is no tool's."""
        found: dict[str, dict[int | None, ContentChunk]] = {}
        for call in self.calls:
            if call.tool:
                chunks = found.setdefault(call.tool, {})
                for chunk in call.chunks:
                    chunks.setdefault(chunk.number, chunk)
        return {tool: tuple(chunks.values()) for tool, chunks in found.items()}

    def replace_chunks_of_call(self, call_id: str, chunks: Sequence[ContentChunk]) -> tuple[ContentChunk, ...]:
        """Put other chunks in the place of those that a call brought in; returns them with their numbers. A new call is added."""
        if call_id not in self._newest:
            return self.extract_referenceable_chunks(call_id, chunks)
        place = self._newest[call_id]
        for number in {chunk.number for chunk in self._calls[place].chunks if chunk.number is not None}:
            del self._held[number][place]
            if not self._held[number]:
                del self._held[number]
        numbered = self._numbered(chunks)
        self._put(place, CallChunks(call_id, self._calls[place].tool, numbered))
        return numbered

    def replace(self, calls: Iterable[CallChunks]) -> None:
        """Put these calls in the place of all there are; their chunks get the numbers that they have had, or new ones."""
        calls = tuple(calls)
        self._calls, self._newest, self._held = [], {}, {}
        for call in calls:
            self.extract_referenceable_chunks(call.call_id, call.chunks, call.tool)

    # references

    def add_references(self, citations: Iterable[Citation]) -> None:
        """What an answer cited. One that cited nothing leaves the latest references what they were."""
        if cited := tuple(citations):
            self._references.append(cited)

    @property
    def references(self) -> tuple[tuple[Citation, ...], ...]:
        """The citations of each answer that has any, in the order of the answers."""
        return tuple(self._references)

    @property
    def latest_references(self) -> tuple[Citation, ...]:
        return self._references[-1] if self._references else ()

    @property
    def latest_referenced_chunks(self) -> tuple[ContentChunk, ...]:
        """The chunks that the latest references name, each once, in the order they were cited; a number that names none is left out."""
        cited = dict.fromkeys(citation.number for citation in self.latest_references)
        return tuple(chunk for number in cited if (chunk := self.chunk(number)) is not None)

    # numbers

    def _numbered(self, chunks: Sequence[ContentChunk]) -> tuple[ContentChunk, ...]:
        """The chunks under the numbers they have, or under those that come next; the numbers they say they have do not count."""
        numbered: list[ContentChunk] = []
        for chunk in chunks:
            identity = _identity(chunk)
            if identity not in self._numbers:
                self._highest += 1
                while self._highest in self._meanings:
                    self._highest += 1
                self._numbers[identity] = self._highest
            numbered.append(chunk.model_copy(update={"number": self._numbers[identity]}))
        return tuple(numbered)

    def _add(self, call: CallChunks) -> None:
        self._newest[call.call_id] = len(self._calls)
        self._calls.append(call)
        self._put(len(self._calls) - 1, call)

    def _put(self, place: int, call: CallChunks) -> None:
        """Take in a call whose chunks have numbers. Of chunks that an import gives none, an impossible one, or one that means another chunk
        already, nothing can be said: they are left out."""
        known: list[ContentChunk] = []
        for chunk in call.chunks:
            number, identity = chunk.number, _identity(chunk)
            if number is None or not 0 < number <= MAX_NUMBER or self._meanings.setdefault(number, identity) != identity:
                continue
            self._numbers.setdefault(identity, number)
            if number <= _FAR:
                self._highest = max(self._highest, number)
            self._held.setdefault(number, {}).setdefault(place, chunk)
            known.append(chunk)
        self._calls[place] = CallChunks(call.call_id, call.tool, tuple(known))


def _identity(chunk: ContentChunk) -> _Identity:
    """What makes a chunk the same chunk. Its id alone would do, were there no imports that say what they like."""
    return chunk.id, chunk.relative_path, chunk.text
