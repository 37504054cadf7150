"""One numbering for every chunk a conversation has brought in, whatever the tool, however many rounds and turns.

The model cites `[n]`; so n must mean one thing for as long as the conversation lives. The same chunk keeps its number, a chunk whose text
changed gets a new one (its id is another), and the numbers are stored with the messages, so that resuming, compaction and undo keep them.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from zkchat_cli.models import ContentChunk, DocumentReference, ZkChatMessage
from zkchat_cli.words import shorten

CHUNK_OVERHEAD = 50
"""Tokens of a chunk's path, title, heading and lines in a tool result."""
SNIPPET_LENGTH = 160
CUT = " [… cut: too long for the context window]"


class ReferenceManager:
    """Numbers chunks and finds them again. Built from the log (`of`), it goes on where the conversation stopped."""

    def __init__(self) -> None:
        self._by_number: dict[int, ContentChunk] = {}
        self._numbers: dict[str, int] = {}
        self._calls: dict[str, tuple[int, ...]] = {}

    @classmethod
    def of(cls, log: Iterable[ZkChatMessage]) -> "ReferenceManager":
        """A manager that knows every chunk of every message in `log`, branches included: a number is never given twice."""
        manager = cls()
        for message in log:
            if message.tool_call_id is not None and message.chunks:
                manager._know(message.tool_call_id, message.chunks)
        return manager

    def extract_referenceable_chunks(self, call_id: str, chunks: Sequence[ContentChunk]) -> tuple[ContentChunk, ...]:
        """The chunks of one tool response with their numbers, new ones counted on from the highest so far."""
        numbered = []
        for chunk in chunks:
            number = self._numbers.get(chunk.id) or max(self._by_number, default=0) + 1
            numbered.append(chunk.model_copy(update={"number": number}))
            self._know(call_id, numbered)
        return tuple(numbered)

    def chunk(self, number: int) -> ContentChunk | None:
        return self._by_number.get(number)

    @property
    def chunks(self) -> tuple[ContentChunk, ...]:
        """All chunks, by number."""
        return tuple(self._by_number[n] for n in sorted(self._by_number))

    def chunks_of_call(self, call_id: str) -> tuple[ContentChunk, ...]:
        return tuple(self._by_number[n] for n in self._calls.get(call_id, ()))

    def _know(self, call_id: str, chunks: Sequence[ContentChunk]) -> None:
        for chunk in chunks:
            if chunk.number is not None:
                self._by_number[chunk.number] = chunk
                self._numbers[chunk.id] = chunk.number
        self._calls[call_id] = tuple(c.number for c in chunks if c.number is not None)


def present(chunks: Sequence[ContentChunk], data: Mapping[str, object], note: str = "") -> str:
    """A tool's result as the model reads it: JSON with non-ASCII text as it is (escapes would cost tokens)."""
    document: dict[str, object] = dict(data)
    if chunks:
        document["excerpts"] = [
            {
                "source": chunk.number,
                "path": chunk.relative_path,
                "title": chunk.title,
                "heading": chunk.heading,
                "lines": f"{chunk.start_line}-{chunk.end_line}",
                "text": chunk.text,
            }
            for chunk in chunks
        ]
    if note:
        document["note"] = note
    return json.dumps(document, ensure_ascii=False)


def reduce_to_fit(chunks: Sequence[ContentChunk], room: int, count: Callable[[str], int]) -> tuple[ContentChunk, ...]:
    """As many of the chunks, from the first, as `room` tokens take; at least the first, cut and marked when it alone is too long."""
    kept: list[ContentChunk] = []
    for chunk in chunks:
        cost = count(chunk.text) + CHUNK_OVERHEAD if len(chunk.text) < 30 * room else room + 1
        if cost > room:
            break
        room -= cost
        kept.append(chunk)
    if not kept and chunks:
        kept.append(chunks[0].model_copy(update={"text": chunks[0].text[: max(0, room - CHUNK_OVERHEAD)] + CUT}))
    return tuple(kept)


def documents_of(chunks: Iterable[ContentChunk], summary: Callable[[str], str | None]) -> tuple[DocumentReference, ...]:
    """The documents that chunks come from, each once, with number and heading of its first chunk; `summary` says what a path is about."""
    references: dict[str, DocumentReference] = {}
    for chunk in chunks:
        if chunk.relative_path not in references:
            references[chunk.relative_path] = DocumentReference(
                wikilink=f"[[{chunk.title}]]",
                relative_path=chunk.relative_path,
                reference_type="search",
                summary=summary(chunk.relative_path),
                context_snippet=shorten(chunk.text, SNIPPET_LENGTH),
                number=chunk.number,
                heading=chunk.heading,
            )
    return tuple(references.values())


def merge(named: tuple[DocumentReference, ...], found: tuple[DocumentReference, ...]) -> tuple[DocumentReference, ...]:
    """The documents the user named, then those that tools brought in, each once; a named one that was read has its number."""
    numbers = {r.relative_path: r.number for r in found}
    paths = {r.relative_path for r in named}
    first = (r.model_copy(update={"number": numbers.get(r.relative_path)}) if r.relative_path else r for r in named)
    return (*first, *(r for r in found if r.relative_path not in paths))
