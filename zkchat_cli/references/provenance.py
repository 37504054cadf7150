"""Where the documents of a conversation came from and how they were used: named by the user, found
by a tool, cited in an answer.

Chunks are aggregated to documents, each once with the numbers of all its chunks. Notes related to
those of an answer are offered after every answer, before the next prompt is drawn, so only links
are looked at (under 2 ms a note; the search by words and meaning takes 40).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate, islice
from posixpath import basename, splitext
from typing import NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.models.citations import Citation
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import content_stems, fold
from zkchat_cli.vault.links.graph import RANK_CONSTANT, RelatedNote
from zkchat_cli.vault.links.wikilinks import possible_names, split_target, strip_suffix, write_link
from zkchat_cli.vault.vault import Vault

SNIPPET_LENGTH = 160


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
    turn: int
    citation: Citation


class FoundByTool(NamedTuple):
    """The excerpts of a document that a message found, by their ranks among all excerpts `of` that
    message.
    """

    turn: int
    message: ZkChatMessage
    excerpts: dict[int, ContentChunk]
    of: int


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
    earlier = reversed(messages)
    answer = next(
        (m for m in earlier if m.role == "assistant" and m.content.strip() and not m.tool_calls),
        None,
    )
    question = next((m for m in earlier if m.role == "user"), None)
    return Exchange(question, answer) if answer else None


def trace_documents(messages: Sequence[ZkChatMessage]) -> dict[str, Provenance]:
    """Every document that these messages name or find, by its key, in the order of first
    mentions.
    """
    documents: dict[str, Provenance] = {}
    for turn, message in _with_turns(messages):
        mentioned = {document_key(reference) for reference in message.references}
        passages = [
            chunk
            for chunk in message.chunks
            if message.role == "tool" or chunk.relative_path not in mentioned
        ]
        found = aggregate_documents(passages)
        for reference in (*message.references, *found):
            document = documents.setdefault(key := document_key(reference), Provenance(key))
            document.references.append(reference)
            if reference.reference_type == "memory":
                document.remembered.append(MemoryMention(turn, reference))
            elif message.role == "user" and reference not in found:
                document.named.append(DocumentMention(turn, message, reference))
        excerpts_of: defaultdict[str, dict[int, ContentChunk]] = defaultdict(dict)
        for rank, chunk in enumerate(passages, 1):
            excerpts_of[chunk.relative_path][rank] = chunk
        for path, excerpts in excerpts_of.items():
            documents[path].found.append(FoundByTool(turn, message, excerpts, len(passages)))
        for citation in message.citations:
            if citation.relative_path in documents:
                documents[citation.relative_path].cited.append(TurnCitation(turn, citation))
    return documents


def find_citations(number: int, messages: Sequence[ZkChatMessage]) -> list[TurnCitation]:
    """Every citation of the chunk with this number, with its turn."""
    return [
        TurnCitation(turn, citation)
        for turn, m in _with_turns(messages)
        for citation in m.citations
        if citation.number == number
    ]


def matching_documents(text: str, messages: Iterable[ZkChatMessage]) -> tuple[str, ...]:
    """The keys of the documents that `text` may mean: a path, a name, a title or a link, in any
    case. A path takes precedence over a name, so that every document can be selected.
    """
    bare = text.strip().removeprefix("!").removeprefix("[[").removesuffix("]]")
    wanted = {
        fold(text.strip()),
        fold(bare),
        fold(bare.partition("|")[0].partition("#")[0].strip()),
    }
    names_of: dict[str, dict[str, None]] = {}
    for message in messages:
        for reference in message.references:
            names_of.setdefault(document_key(reference), {}).update(
                dict.fromkeys((reference.wikilink, reference.wikilink.strip("![]")))
            )
        for chunk in message.chunks:
            names_of.setdefault(chunk.relative_path, {})[chunk.title] = None
    exact = [key for key in names_of if wanted & {fold(key), fold(splitext(key)[0])}]
    near = [
        key
        for key, names in names_of.items()
        if wanted & {fold(basename(key)), fold(splitext(basename(key))[0]), *map(fold, names)}
    ]
    return tuple(exact or near)


def document_key(reference: DocumentReference) -> str:
    """A document's path, or the text of a broken link."""
    return reference.relative_path or reference.wikilink


def _with_turns(messages: Sequence[ZkChatMessage]) -> Iterator[tuple[int, ZkChatMessage]]:
    """Each message with the number of its turn, counted by user messages."""
    return zip(
        accumulate(int(message.role == "user") for message in messages), messages, strict=True
    )


def aggregate_documents(
    chunks: Iterable[ContentChunk],
    summary: Callable[[str], str | None] = lambda _: None,
    link_name: Callable[[str], str] = strip_suffix,
) -> tuple[DocumentReference, ...]:
    """The documents of `chunks`, each with the text of its first chunk; `summary` describes a path,
    `link_name` is its name in links.
    """
    by_path: defaultdict[str, list[ContentChunk]] = defaultdict(list)
    for chunk in chunks:
        by_path[chunk.relative_path].append(chunk)
    numbers_of = {
        path: tuple(dict.fromkeys(each.number for each in own if each.number is not None))
        for path, own in by_path.items()
    }
    return tuple(
        DocumentReference(
            wikilink=write_link(path, link_name(path)),
            relative_path=path,
            reference_type="search",
            summary=summary(path),
            context_snippet=truncate(own[0].text, SNIPPET_LENGTH),
            number=next(iter(numbers_of[path]), None),
            numbers=numbers_of[path],
            heading=own[0].heading,
        )
        for path, own in by_path.items()
    )


def link_names(references: Iterable[DocumentReference]) -> Callable[[str], str]:
    """The name of a file in links, by its path: as these references have it if they link to it by
    its name, else the path.
    """
    names: dict[str, str] = {}
    for reference in references:
        path = reference.relative_path
        link = reference.wikilink
        if path is not None and reference.status == "found" and link.startswith("[["):
            target = split_target(link.strip("[]"))[0]
            if target in possible_names(path):
                names.setdefault(path, target)
    return lambda path: names.get(path) or strip_suffix(path)


def merge_references(
    named: Sequence[DocumentReference], found: Sequence[DocumentReference]
) -> tuple[DocumentReference, ...]:
    """The documents that the user named, then those that only tools found, each once with all its
    numbers.
    """
    by_path = {r.relative_path: r for r in found}
    paths = {r.relative_path for r in named}
    merged: list[DocumentReference] = []
    for reference in named:
        if also := by_path.get(reference.relative_path):
            numbers = tuple(dict.fromkeys((*reference.numbers, *also.numbers)))
            reference = reference.model_copy(
                update={"numbers": numbers, "number": numbers[0] if numbers else None}
            )
        merged.append(reference)
    return (*merged, *(r for r in found if r.relative_path not in paths))


# Notes of an answer that related ones are looked up for
MAX_NOTES = 5
MAX_RELATED = 8
MAX_OFFERED = 3
# A direct link to one of the notes cited, or common neighbours that say as much
MIN_RELATION = 1.0


def find_related(vault: Vault, exchange: Exchange) -> list[RelatedNote]:
    """The notes most related to those of the answer by links, words and meaning, or to the question
    if there are none; best first.
    """
    used = used_notes(exchange)
    if not used and exchange.question is not None:
        return vault.graph.notes_about(exchange.question.content, MAX_RELATED)
    scores: dict[str, float] = defaultdict(float)
    found: dict[str, RelatedNote] = {}
    for path in used[:MAX_NOTES]:
        with suppress(VaultError):  # deleted since
            for rank, note in enumerate(
                vault.graph.related_notes(path, MAX_RELATED + len(used)), 1
            ):
                scores[note.chunk.relative_path] += 1 / (RANK_CONSTANT + rank)
                found.setdefault(note.chunk.relative_path, note)
    return [
        found[path] for path in sorted(scores, key=lambda path: -scores[path]) if path not in used
    ][:MAX_RELATED]


def offer_related(vault: Vault, exchange: Exchange) -> list[str]:
    """The paths of a few notes that are linked with those of the answer and about the same: found
    in its turn, or named in its words.
    """
    used = used_notes(exchange)
    languages = vault.languages()
    scores: dict[str, float] = defaultdict(float)
    for path in used[:MAX_NOTES]:
        for related, relation in vault.graph.related_by_links(path).items():
            scores[related] += relation.score
    found = {reference.relative_path for reference in exchange.answer.references}
    stems = set(
        content_stems(
            f"{exchange.question.content if exchange.question else ''}\n{exchange.answer.content}",
            languages,
        )
    )

    def is_about_the_same(path: str) -> bool:
        name = set(content_stems(vault.link_name(path), languages))
        return path in found or (bool(name) and name <= stems)

    near = (
        path
        for path in sorted(scores, key=lambda path: -scores[path])
        if scores[path] >= MIN_RELATION and path not in used
    )
    return list(islice(filter(is_about_the_same, near), MAX_OFFERED))


def used_notes(exchange: Exchange) -> list[str]:
    """The notes that the answer cites, then those that the question names."""
    question = exchange.question.references if exchange.question else ()
    paths = [citation.relative_path for citation in exchange.answer.citations] + [
        reference.relative_path for reference in question
    ]
    return list(dict.fromkeys(filter(None, paths)))
