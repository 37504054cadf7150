"""Where the documents of a conversation came from and how they were used: named by the user, found by a tool, cited in an answer.

Chunks are aggregated to documents, each once with the numbers of all its chunks. Pure: from the messages of a branch to values.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from posixpath import basename, splitext
from typing import Any

from zkchat_cli.models import Citation, ContentChunk, DocumentReference, ReferenceType, ZkChatMessage
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import fold

SNIPPET_LENGTH = 160


@dataclass(frozen=True, slots=True)
class NamedByUser:
    """A user message that names the document or links to it, and the `chunks` of it that the message put into the prompt."""

    turn: int
    message_id: str
    reference: DocumentReference
    chunks: tuple[ContentChunk, ...]


@dataclass(frozen=True, slots=True)
class FoundByTool:
    """An excerpt that a tool call found: number `rank` of `of`."""

    turn: int
    message_id: str
    tool: str
    arguments: Mapping[str, Any]
    chunk: ContentChunk
    rank: int
    of: int


@dataclass(frozen=True, slots=True)
class CitedInAnswer:
    """A citation and the turn of its answer."""

    turn: int
    message_id: str
    citation: Citation


@dataclass(frozen=True, slots=True)
class Provenance:
    """Every use of one document in a conversation. `key`: its path, or the text of a broken link."""

    key: str
    named: tuple[NamedByUser, ...]
    found: tuple[FoundByTool, ...]
    cited: tuple[CitedInAnswer, ...]


@dataclass(frozen=True, slots=True)
class SourceUse:
    """How often a document is named in messages, found by calls and cited in answers, and the numbers of its chunks.

    `reference`: its first mention, with the first summary there is.
    """

    reference: DocumentReference
    types: tuple[ReferenceType, ...]
    named: int
    found: int
    cited: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """An answer and its question; None if an imported log begins with an answer."""

    question: ZkChatMessage | None
    answer: ZkChatMessage


def last_exchange(messages: Sequence[ZkChatMessage]) -> Exchange | None:
    """The newest answer with text, and its question."""
    for at in range(len(messages) - 1, -1, -1):
        answer = messages[at]
        if answer.role == "assistant" and answer.content.strip() and not answer.tool_calls:
            return Exchange(next((m for m in reversed(messages[:at]) if m.role == "user"), None), answer)
    return None


def trace_document(key: str, messages: Iterable[ZkChatMessage]) -> Provenance:
    """Every use of the document with this `key` (a path, or the text of a broken link) in these messages."""
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
    """Every citation of the chunk with this number."""
    return tuple(
        CitedInAnswer(turn, m.id, citation) for turn, m in _with_turns(messages) for citation in m.citations if citation.number == number
    )


def count_source_uses(messages: Iterable[ZkChatMessage]) -> tuple[SourceUse, ...]:
    """Every document that these messages name, find or cite, in the order of first mentions."""
    mentions: dict[str, list[DocumentReference]] = {}
    named, found, cited = Counter[str](), Counter[str](), Counter[str]()
    numbers: dict[str, set[int]] = {}
    for message in messages:
        for reference in message.references:
            mentions.setdefault(key := document_key(reference), []).append(reference)
            named[key] += message.role == "user"
        for reference in aggregate_documents(message.chunks, lambda _: None) if message.role == "tool" else ():
            mentions.setdefault(key := document_key(reference), []).append(reference)
            found[key] += 1
        for chunk in message.chunks:
            if chunk.relative_path in mentions and chunk.number is not None:
                numbers.setdefault(chunk.relative_path, set()).add(chunk.number)
        for citation in message.citations:
            if citation.relative_path in mentions:
                cited[citation.relative_path] += max(1, len(citation.spans))
    return tuple(
        SourceUse(
            reference=every[0].model_copy(update={"summary": next((r.summary for r in every if r.summary is not None), None)}),
            types=tuple(dict.fromkeys(reference.reference_type for reference in every)),
            named=named[key],
            found=found[key],
            cited=cited[key],
            numbers=tuple(sorted(numbers.get(key, ()))),
        )
        for key, every in mentions.items()
    )


def matching_documents(text: str, messages: Iterable[ZkChatMessage]) -> tuple[str, ...]:
    """The keys of the documents that `text` may mean: a path, a name, a title or a link, in any case.

    A path takes precedence over a name, so that every document can be selected.
    """
    bare = text.strip().removeprefix("!").removeprefix("[[").removesuffix("]]")
    wanted = {fold(text.strip()), fold(bare), fold(bare.partition("|")[0].partition("#")[0].strip())}
    names_of: dict[str, dict[str, None]] = {}
    for message in messages:
        for reference in message.references:
            names_of.setdefault(document_key(reference), {}).update(dict.fromkeys((reference.wikilink, reference.wikilink.strip("![]"))))
        for chunk in message.chunks:
            names_of.setdefault(chunk.relative_path, {})[chunk.title] = None
    exact = [key for key in names_of if wanted & {fold(key), fold(splitext(key)[0])}]
    near = [key for key, names in names_of.items() if wanted & {fold(basename(key)), fold(splitext(basename(key))[0]), *map(fold, names)}]
    return tuple(exact or near)


def document_key(reference: DocumentReference) -> str:
    """A document's path, or the text of a broken link."""
    return reference.relative_path or reference.wikilink


def _with_turns(messages: Iterable[ZkChatMessage]) -> Sequence[tuple[int, ZkChatMessage]]:
    """Each message with the number of its turn, counted by user messages."""
    messages = tuple(messages)
    return list(zip(accumulate(int(message.role == "user") for message in messages), messages, strict=True))


def aggregate_documents(chunks: Iterable[ContentChunk], summary: Callable[[str], str | None]) -> tuple[DocumentReference, ...]:
    """The documents of `chunks`, each with the title and text of its first chunk; `summary` describes a path."""
    firsts: dict[str, ContentChunk] = {}
    numbers_of: dict[str, dict[int, None]] = {}
    for chunk in chunks:
        firsts.setdefault(chunk.relative_path, chunk)
        numbers = numbers_of.setdefault(chunk.relative_path, {})
        if chunk.number is not None:
            numbers[chunk.number] = None
    return tuple(_reference(first, tuple(numbers_of[path]), summary(path)) for path, first in firsts.items())


def _reference(first: ContentChunk, numbers: tuple[int, ...], summary: str | None) -> DocumentReference:
    return DocumentReference(
        wikilink=f"[[{first.title}]]",
        relative_path=first.relative_path,
        reference_type="search",
        summary=summary,
        context_snippet=truncate(first.text, SNIPPET_LENGTH),
        number=numbers[0] if numbers else None,
        numbers=numbers,
        heading=first.heading,
    )


def merge_references(named: Sequence[DocumentReference], found: Sequence[DocumentReference]) -> tuple[DocumentReference, ...]:
    """The documents that the user named, then those that only tools found, each once with all its numbers."""
    by_path = {r.relative_path: r for r in found}
    paths = {r.relative_path for r in named}
    return (*(_with_numbers(r, by_path.get(r.relative_path)) for r in named), *(r for r in found if r.relative_path not in paths))


def _with_numbers(named: DocumentReference, found: DocumentReference | None) -> DocumentReference:
    if found is None:
        return named
    numbers = tuple(dict.fromkeys((*named.numbers, *found.numbers)))
    return named.model_copy(update={"numbers": numbers, "number": numbers[0] if numbers else None})
