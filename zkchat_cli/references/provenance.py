"""How a document came into a conversation, and what became of it: named by the user, found by a call, cited by an answer.

Pure: from the messages of a branch to values. Who renders them adds what only the prompt of the moment can tell.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from posixpath import basename, splitext
from typing import Any

from zkchat_cli.models import Citation, ContentChunk, DocumentReference, Prompt, ReferenceType, ZkChatMessage
from zkchat_cli.references.aggregate import aggregate_documents
from zkchat_cli.text.words import fold


@dataclass(frozen=True, slots=True)
class NamedByUser:
    """A message of the user's that names the document (or a link that leads to it); `chunks` of it that went into the prompt with that."""

    turn: int
    message_id: str
    reference: DocumentReference
    chunks: tuple[ContentChunk, ...]


@dataclass(frozen=True, slots=True)
class FoundByTool:
    """An excerpt that a tool call brought in: the `rank`-th of `of`, best first where the tool ranks."""

    turn: int
    message_id: str
    tool: str
    arguments: Mapping[str, Any]
    chunk: ContentChunk
    rank: int
    of: int


@dataclass(frozen=True, slots=True)
class CitedInAnswer:
    """A citation, and the turn whose answer has it."""

    turn: int
    message_id: str
    citation: Citation


@dataclass(frozen=True, slots=True)
class Provenance:
    """All that a conversation knows of one document. `key` is its path, or the link as it was written where it leads nowhere."""

    key: str
    named: tuple[NamedByUser, ...]
    found: tuple[FoundByTool, ...]
    cited: tuple[CitedInAnswer, ...]


@dataclass(frozen=True, slots=True)
class SourceUse:
    """A document of a conversation: how often messages name it, calls bring it in and answers cite it; the numbers of its chunks.

    `reference` is its first mention, with the summary of the first that has one.
    """

    reference: DocumentReference
    types: tuple[ReferenceType, ...]
    named: int
    found: int
    cited: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """An answer and the message it answers; None where an imported log begins with an answer."""

    question: ZkChatMessage | None
    answer: ZkChatMessage


def last_exchange(messages: Sequence[ZkChatMessage]) -> Exchange | None:
    """The newest answer that says something, with what was asked."""
    for at in range(len(messages) - 1, -1, -1):
        answer = messages[at]
        if answer.role == "assistant" and answer.content.strip() and not answer.tool_calls:
            return Exchange(next((m for m in reversed(messages[:at]) if m.role == "user"), None), answer)
    return None


def trace_document(key: str, messages: Iterable[ZkChatMessage]) -> Provenance:
    """The document that `key` (a path, or a link that leads nowhere) stands for, through these messages."""
    named: list[NamedByUser] = []
    found: list[FoundByTool] = []
    cited: list[CitedInAnswer] = []
    for turn, message in _with_turns(messages):
        own = tuple(chunk for chunk in message.chunks if chunk.relative_path == key)
        if message.role == "user":
            named += [NamedByUser(turn, message.id, r, own) for r in message.references if document_key(r) == key]
        elif message.role == "tool":
            tool = message.tool_name or "a tool"
            arguments = message.tool_run.arguments if message.tool_run else {}
            ranked = [(rank, chunk) for rank, chunk in enumerate(message.chunks, 1) if chunk.relative_path == key]
            found += [FoundByTool(turn, message.id, tool, arguments, chunk, rank, len(message.chunks)) for rank, chunk in ranked]
        cited += [CitedInAnswer(turn, message.id, citation) for citation in message.citations if citation.relative_path == key]
    return Provenance(key, tuple(named), tuple(found), tuple(cited))


def find_citations(number: int, messages: Iterable[ZkChatMessage]) -> tuple[CitedInAnswer, ...]:
    """Every citation of a chunk, by its number."""
    return tuple(
        CitedInAnswer(turn, m.id, citation) for turn, m in _with_turns(messages) for citation in m.citations if citation.number == number
    )


def count_source_uses(messages: Iterable[ZkChatMessage]) -> tuple[SourceUse, ...]:
    """Every document that these messages name, bring in or cite, each once, first mention first."""
    tallies: dict[str, _Tally] = {}

    def tally(reference: DocumentReference) -> _Tally:
        known = tallies.setdefault(document_key(reference), _Tally(reference))
        known.see(reference)
        return known

    for message in messages:
        for reference in message.references:
            tally(reference).named += message.role == "user"
        for reference in aggregate_documents(message.chunks, lambda _: None):
            if message.role == "tool":
                tally(reference).found += 1
        for chunk in message.chunks:
            if chunk.relative_path in tallies and chunk.number is not None:
                tallies[chunk.relative_path].numbers.add(chunk.number)
        for citation in message.citations:
            if citation.relative_path in tallies:
                tallies[citation.relative_path].cited += max(1, len(citation.spans))
    return tuple(known.use() for known in tallies.values())


def matching_documents(text: str, messages: Iterable[ZkChatMessage]) -> tuple[str, ...]:
    """The keys of the documents of a conversation that `text` may mean: a path, a name, a title or a link; its case does not count.

    A path is meant before a name, so that each document can be asked for.
    """
    bare = text.strip().removeprefix("!").removeprefix("[[").removesuffix("]]")
    wanted = {fold(text.strip()), fold(bare), fold(bare.partition("|")[0].partition("#")[0].strip())}
    called: dict[str, dict[str, None]] = {}
    for message in messages:
        for reference in message.references:
            called.setdefault(document_key(reference), {}).update(dict.fromkeys((reference.wikilink, reference.wikilink.strip("![]"))))
        for chunk in message.chunks:
            called.setdefault(chunk.relative_path, {})[chunk.title] = None
    exact = [key for key in called if wanted & {fold(key), fold(splitext(key)[0])}]
    near = [key for key, names in called.items() if wanted & {fold(basename(key)), fold(splitext(basename(key))[0]), *map(fold, names)}]
    return tuple(exact or near)


def prompt_status(prompt: Prompt) -> Callable[[str], str]:
    """What has become of a message, by its id: whether it is in this prompt, else why not."""
    sent = {source for message in prompt.messages for source in message.source_ids}
    dropped = {each.id: each.reason for each in prompt.dropped}

    def tell(message_id: str) -> str:
        if message_id in dropped:
            return f"not in the prompt now: {dropped[message_id]}"
        return "in the prompt now" if message_id in sent else "not in the prompt now"

    return tell


def format_arguments(arguments: Mapping[str, Any]) -> str:
    """A call's arguments in few words: texts in quotation marks, the rest by name."""
    return " ".join(f'"{value}"' if isinstance(value, str) else f"{key}={value}" for key, value in arguments.items())


def document_key(reference: DocumentReference) -> str:
    """What stands for a document: its path, or the link as it was written where it leads nowhere."""
    return reference.relative_path or reference.wikilink


def _with_turns(messages: Iterable[ZkChatMessage]) -> Sequence[tuple[int, ZkChatMessage]]:
    """Each message with the number of its turn: how many of the user's messages there have been."""
    turn = 0
    numbered = []
    for message in messages:
        turn += message.role == "user"
        numbered.append((turn, message))
    return numbered


class _Tally:
    """A `Use` while it is counted."""

    def __init__(self, first: DocumentReference) -> None:
        self._reference = first
        self._types: dict[ReferenceType, None] = {}
        self.named = self.found = self.cited = 0
        self.numbers: set[int] = set()

    def see(self, reference: DocumentReference) -> None:
        self._types[reference.reference_type] = None
        if self._reference.summary is None and reference.summary is not None:
            self._reference = self._reference.model_copy(update={"summary": reference.summary})

    def use(self) -> SourceUse:
        return SourceUse(self._reference, tuple(self._types), self.named, self.found, self.cited, tuple(sorted(self.numbers)))
