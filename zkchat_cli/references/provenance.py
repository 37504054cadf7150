"""The origin and the uses of the documents in a conversation: named by the user, found by a tool,
cited in an answer.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from posixpath import basename, splitext
from typing import NamedTuple

from zkchat_cli.models.citations import Citation
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.references.documents import aggregate_documents, document_key
from zkchat_cli.text.case_folder import fold


class DocumentMention(NamedTuple):
    """A message of the user that names a document or links to it."""

    turn: int
    message: ZkChatMessage
    reference: DocumentReference


class MemoryMention(NamedTuple):
    """A turn that got a document from memory, with the reference of its answer."""

    turn: int
    reference: DocumentReference


class TurnCitation(NamedTuple):
    """A citation with the number of its turn."""

    turn: int
    citation: Citation


class FoundByTool(NamedTuple):
    """The excerpts of a document that a message found, by their ranks among all that it found;
    `total` is the number of these.
    """

    turn: int
    message: ZkChatMessage
    excerpts: dict[int, ContentChunk]
    total: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """Every use of one document in a conversation. `key`: its path, or the text of a broken link;
    `references`: all mentions of it.
    """

    key: str
    references: list[DocumentReference] = field(default_factory=list)
    named: list[DocumentMention] = field(default_factory=list)
    found: list[FoundByTool] = field(default_factory=list)
    cited: list[TurnCitation] = field(default_factory=list)
    remembered: list[MemoryMention] = field(default_factory=list)

    @property
    def has_path(self) -> bool:
        """Whether it was a file of the vault when it was mentioned."""
        return any(reference.relative_path for reference in self.references)


class Exchange(NamedTuple):
    """An answer and its question; None if an imported log begins with an answer."""

    question: ZkChatMessage | None
    answer: ZkChatMessage


def last_exchange(messages: Sequence[ZkChatMessage]) -> Exchange | None:
    """The newest answer with text, and its question."""
    answer: ZkChatMessage | None = None
    for message in reversed(messages):
        if answer is not None and message.role == "user":
            return Exchange(message, answer)
        if answer is None and message.is_answer:
            answer = message
    return Exchange(None, answer) if answer else None


def trace_documents(messages: Sequence[ZkChatMessage]) -> dict[str, Provenance]:
    """Every document that these messages name or find, by its key, in the order of first
    mentions.
    """
    documents: dict[str, Provenance] = {}
    for turn, message in with_turns(messages):
        passages = _found_passages(message)
        found = aggregate_documents(passages)
        for reference in (*message.references, *found):
            key = document_key(reference)
            document = documents.setdefault(key, Provenance(key))
            document.references.append(reference)
            if reference.reference_type == "memory":
                document.remembered.append(MemoryMention(turn, reference))
            elif message.role == "user" and reference not in found:
                document.named.append(DocumentMention(turn, message, reference))
        for path, excerpts in _rank_by_document(passages).items():
            documents[path].found.append(FoundByTool(turn, message, excerpts, len(passages)))
        for citation in message.citations:
            if citation.relative_path in documents:
                documents[citation.relative_path].cited.append(TurnCitation(turn, citation))
    return documents


def _found_passages(message: ZkChatMessage) -> list[ContentChunk]:
    """The chunks of a message that a search found, without those of documents that the user
    named.
    """
    if message.role == "tool":
        return list(message.chunks)
    named = {document_key(reference) for reference in message.references}
    return [chunk for chunk in message.chunks if chunk.relative_path not in named]


def _rank_by_document(passages: Iterable[ContentChunk]) -> dict[str, dict[int, ContentChunk]]:
    """The passages of each document by their ranks among all of these passages."""
    excerpts: defaultdict[str, dict[int, ContentChunk]] = defaultdict(dict)
    for rank, chunk in enumerate(passages, 1):
        excerpts[chunk.relative_path][rank] = chunk
    return excerpts


def find_citations(number: int, messages: Sequence[ZkChatMessage]) -> list[TurnCitation]:
    """Every citation of the chunk with this number, with its turn."""
    found: list[TurnCitation] = []
    for turn, message in with_turns(messages):
        same_number = [each for each in message.citations if each.number == number]
        found += [TurnCitation(turn, citation) for citation in same_number]
    return found


def matching_documents(text: str, messages: Iterable[ZkChatMessage]) -> tuple[str, ...]:
    """The keys of the documents that `text` may mean: a path, a name, a title or a link, in any
    case. A path takes precedence over a name, so that every document can be selected.
    """
    link = text.strip().removeprefix("!").removeprefix("[[").removesuffix("]]")
    target = link.partition("|")[0].partition("#")[0].strip()
    wanted = {fold(text.strip()), fold(link), fold(target)}
    exact: list[str] = []
    near: list[str] = []
    for key, names in _document_names(messages).items():
        if wanted.intersection(_folded_spellings(key)):
            exact.append(key)
        elif wanted.intersection((*_folded_spellings(basename(key)), *map(fold, names))):
            near.append(key)
    return tuple(exact or near)


def _folded_spellings(path: str) -> tuple[str, str]:
    """A path with and without its suffix, without case and accents."""
    stem, _ = splitext(path)
    return fold(path), fold(stem)


def _document_names(messages: Iterable[ZkChatMessage]) -> dict[str, set[str]]:
    """The names of each document in these messages, in links and as titles, by its key."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    for message in messages:
        for reference in message.references:
            names[document_key(reference)] |= {reference.wikilink, reference.wikilink.strip("![]")}
        for chunk in message.chunks:
            names[chunk.relative_path].add(chunk.title)
    return names


def with_turns(messages: Sequence[ZkChatMessage]) -> Iterator[tuple[int, ZkChatMessage]]:
    """Each message with the number of its turn, counted by user messages."""
    turn = 0
    for message in messages:
        if message.role == "user":
            turn += 1
        yield turn, message
