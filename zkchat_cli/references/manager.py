"""One numbering for every chunk a conversation has brought in, whatever the tool, however many rounds and turns.

The model cites `[n]`; so n must mean one thing for as long as the conversation lives. The same chunk keeps its number, a chunk whose text
changed gets a new one (its id is another), and the numbers are stored with the messages, so that resuming, compaction and undo keep them.
"""

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence

from zkchat_cli.models import ContentChunk, DocumentReference, ZkChatMessage
from zkchat_cli.words import shorten

SNIPPET_LENGTH = 160
LONGEST_TITLE = 200
FRAME = 8
"""Tokens of the JSON around a result's excerpts."""
MOST_CHARACTERS = 30
"""Characters per token beyond which a text is taken to be too long without counting it; prose has four."""
CUT = "\n\n<!-- cut: too long for the context window -->"
"""A comment, so that nobody takes it for the note's own words."""


class ReferenceManager:
    """Numbers chunks and finds them again. Built from the log (`of`), it goes on where the conversation stopped."""

    def __init__(self) -> None:
        self._by_number: dict[int, ContentChunk] = {}
        self._numbers: dict[str, int] = {}
        self._calls: dict[str, tuple[int, ...]] = {}
        self._highest = 0

    @classmethod
    def of(cls, log: Iterable[ZkChatMessage]) -> "ReferenceManager":
        """A manager that knows every chunk of every message in `log`, branches included: a number is never given twice."""
        manager = cls()
        for message in log:
            if message.chunks:
                manager._know(message.tool_call_id or message.id, message.chunks)
        return manager

    def copy(self) -> "ReferenceManager":
        """Another that goes on from here, for trying out what numbers would be given."""
        other = ReferenceManager()
        other._by_number, other._numbers = dict(self._by_number), dict(self._numbers)
        other._calls, other._highest = dict(self._calls), self._highest
        return other

    def extract_referenceable_chunks(self, call_id: str, chunks: Sequence[ContentChunk]) -> tuple[ContentChunk, ...]:
        """The chunks of one tool response with their numbers, new ones counted on from the highest so far."""
        numbered = []
        for chunk in chunks:
            number = self._numbers.setdefault(chunk.id, self._highest + 1)
            self._highest = max(self._highest, number)
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
        """What one tool call brought in, in its order; of calls that share an id (only an import can hold such), the newest."""
        return tuple(self._by_number[n] for n in self._calls.get(call_id, ()))

    def _know(self, call_id: str, chunks: Sequence[ContentChunk]) -> None:
        """A number below 1 or given before to another chunk (only an import can hold such) keeps its first meaning."""
        numbers = []
        for chunk in chunks:
            if chunk.number is not None and chunk.number > 0 and self._by_number.setdefault(chunk.number, chunk).id == chunk.id:
                self._numbers.setdefault(chunk.id, chunk.number)
                self._highest = max(self._highest, chunk.number)
                numbers.append(chunk.number)
        self._calls[call_id] = tuple(numbers)


def present(chunks: Sequence[ContentChunk], data: Mapping[str, object], note: str = "") -> str:
    """A tool's result as the model reads it: JSON with non-ASCII text as it is (escapes would cost tokens)."""
    document: dict[str, object] = dict(data)
    if chunks:
        document["excerpts"] = [_excerpt(chunk) for chunk in chunks]
    if note:
        document["note"] = note
    return json.dumps(document, ensure_ascii=False)


def _excerpt(chunk: ContentChunk) -> dict[str, object]:
    return {
        "source": chunk.number,
        "path": chunk.relative_path,
        "title": shorten(chunk.title, LONGEST_TITLE),
        "heading": chunk.heading and shorten(chunk.heading, LONGEST_TITLE),
        "lines": f"{chunk.start_line}-{chunk.end_line}",
        "text": chunk.text,
    }


def reduce_to_fit(chunks: Sequence[ContentChunk], room: int, count: Callable[[str], int]) -> tuple[ContentChunk, ...]:
    """As many of the chunks, from the first, as `room` tokens take; the first is cut and marked when it alone is too long.

    Nothing is kept when there is not even room for some words of the first.
    """
    kept: list[ContentChunk] = []
    room -= FRAME
    for chunk in chunks:
        tokens = cost(chunk, count) if len(chunk.text) < MOST_CHARACTERS * room else room + 1
        if tokens > room:
            break
        room -= tokens
        kept.append(chunk)
    if not kept and chunks and (start := _start_of(chunks[0], room, count)):
        kept.append(start)
    return tuple(kept)


def cost(chunk: ContentChunk, count: Callable[[str], int]) -> int:
    """The tokens that a chunk takes among a result's excerpts."""
    return count(json.dumps(_excerpt(chunk), ensure_ascii=False)) + 1


def _start_of(chunk: ContentChunk, room: int, count: Callable[[str], int]) -> ContentChunk | None:
    """As much of the chunk as fits, under an id of its own: another text is another chunk, with a number of its own."""

    def start(length: int) -> ContentChunk:
        text = chunk.text[:length].rstrip()
        lines = {"text": text + CUT, "end_line": chunk.start_line + text.count("\n")}
        return chunk.model_copy(update={"id": f"{chunk.id}:{length}", **lines})

    longest = bisect_right(range(min(len(chunk.text), MOST_CHARACTERS * max(room, 0))), room, key=lambda n: cost(start(n + 1), count))
    return start(longest) if longest else None


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
    first = (r.model_copy(update={"number": numbers.get(r.relative_path)}) if r.relative_path and not r.numbers else r for r in named)
    return (*first, *(r for r in found if r.relative_path not in paths))
