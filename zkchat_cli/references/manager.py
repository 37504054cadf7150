"""Chunks as the model reads them: one numbering for a conversation, and numbered excerpts, of which
it gets those that fit. Pure.

The model cites `[n]`, so n must mean the same chunk for the whole conversation. The same chunk
keeps its number, and a chunk whose text changed gets a new one. The numbers are stored with the
messages, so that resuming, compaction and undo keep them.

A chunk's relevance is its rank within its own call, because scores of different searches cannot be
compared.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.truncate import truncate

Count = Callable[[str], int]  # tokens of a text
LONGEST_TITLE = 200
# Citations are parsed up to nine digits
MAX_NUMBER = 999_999_999
# Tokens of the JSON around a result's excerpts
FRAME_TOKENS = 8
# Begins the note of a result about what did not fit into the window
NO_ROOM = "Left out, because there is no room for them"
# A comment, so that it cannot be mistaken for the note's own words
CUT_MARK = "\n\n<!-- cut: too long for the context window -->"
# Characters of a text that are shown at least: a few words
MIN_CHARACTERS = 60
# A text with more characters per token of room is too long without counting; prose has about four
MAX_CHARACTERS_PER_TOKEN = 30
_LIKE_A_NUMBER = re.compile(r"^(?=\[\d+\])", re.MULTILINE)
# How far back to look for a space to cut at. Scripts without spaces are cut anywhere.
_LONGEST_WORD = 40


def format_tool_result(
    chunks: Sequence[ContentChunk], data: Mapping[str, object], note: str = ""
) -> str:
    """A tool's result as JSON. Non-ASCII text is not escaped, because escapes cost tokens."""
    document: dict[str, object] = dict(data)
    if chunks:
        document["excerpts"] = [_excerpt(chunk) for chunk in chunks]
    if note:
        document["note"] = note
    return json.dumps(document, ensure_ascii=False)


def format_as_text(chunks: Sequence[ContentChunk]) -> str:
    """Excerpts as text below their numbers, as small models read them best. With the same 20
    questions SmolLM2-135M cited a passage in 13 answers instead of 4, and the prompts were shorter.
    Large models cite well from JSON, in which no text of a note can look like the number of another
    excerpt; here such a line is indented.
    """
    texts: list[str] = []
    for chunk in chunks:
        place = " › ".join(
            truncate(name, LONGEST_TITLE) for name in (chunk.title, chunk.heading) if name
        )
        texts.append(f"[{chunk.number}] {place}\n{_LIKE_A_NUMBER.sub(' ', chunk.text)}")
    return "\n\n".join(texts)


def parse_tool_result(content: str) -> tuple[str, dict[str, Any]] | None:
    """The text before a result and the result, which is one line, the last; None unless it has
    excerpts with numbers and texts.
    """
    before, _, line = content.rpartition("\n")
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    excerpts = document.get("excerpts") if isinstance(document, dict) else None
    if not isinstance(excerpts, list) or not all(
        isinstance(each, dict)
        and isinstance(each.get("source"), int)
        and isinstance(each.get("text"), str)
        for each in excerpts
    ):
        return None
    return before, document


def _excerpt(chunk: ContentChunk) -> dict[str, object]:
    return {
        "source": chunk.number,
        "path": chunk.relative_path,
        "title": truncate(chunk.title, LONGEST_TITLE),
        "heading": chunk.heading and truncate(chunk.heading, LONGEST_TITLE),
        "lines": f"{chunk.start_line}-{chunk.end_line}",
        "text": chunk.text,
    }


def chunk_tokens(chunk: ContentChunk, count: Count) -> int:
    """The tokens of a chunk among a result's excerpts, whatever its number will be."""
    return count(json.dumps({**_excerpt(chunk), "source": MAX_NUMBER}, ensure_ascii=False)) + 1


def truncate_chunk(chunk: ContentChunk, room: int, count: Count) -> ContentChunk:
    """The beginning of a chunk that fits `room` tokens, marked as cut; a few words even if they do
    not fit. It gets its own id, because another text is another chunk with another number. Less
    room gives a prefix of what more room gives. At most about twice the result is counted, however
    long the text is.
    """
    most = len(chunk.text) - 1
    fits = min(MIN_CHARACTERS, most)
    reach = fits
    while reach < most and chunk_tokens(_prefix(chunk, reach), count) <= room:
        fits = reach
        reach = min(2 * reach, most)
    longer = range(fits + 1, reach + 1)
    return _prefix(
        chunk,
        fits
        + bisect_right(
            longer, room, key=lambda length: chunk_tokens(_prefix(chunk, length), count)
        ),
    )


def _prefix(chunk: ContentChunk, length: int) -> ContentChunk:
    """The first `length` characters of a chunk or fewer, cut after a word if possible."""
    border = max(chunk.text.rfind(white, max(0, length - _LONGEST_WORD), length) for white in " \n")
    text = chunk.text[: border if border > 0 else length].rstrip()
    lines = {"text": text + CUT_MARK, "end_line": chunk.start_line + text.count("\n")}
    return chunk.model_copy(update={"id": f"{chunk.id}:{len(text)}", **lines})


def reduce_to_fit(
    calls: Sequence[Sequence[ContentChunk]], room: int, count: Count
) -> tuple[tuple[ContentChunk, ...], ...]:
    """The chunks of each call, in its own order, that take at most `room` tokens together. The
    least relevant are dropped first; less room always gives a subset. The best chunk of each call
    stays, truncated if need be. Only if there is no room for a few words of each, the last calls
    get nothing.
    """
    found = [call for call, chunks in enumerate(calls) if chunks]
    room -= FRAME_TOKENS * len(found)
    best = {call: _chunk_cost(calls[call][0], room, count) for call in found}
    kept: list[list[int]] = [[] for _ in calls]
    if sum(best.values()) > room:
        least = {
            call: min(cost, chunk_tokens(_prefix(calls[call][0], MIN_CHARACTERS), count))
            for call, cost in best.items()
        }
        fits = sum(least.values()) <= room
        shares = (
            dict(zip(best, share_evenly([*best.values()], room, [*least.values()]), strict=True))
            if fits
            else least
        )
        while shares and sum(shares.values()) > room:
            shares.popitem()
        first = {call: calls[call][0] for call in shares}
        cut = {
            call: first[call] if best[call] <= share else truncate_chunk(first[call], share, count)
            for call, share in shares.items()
        }
        return tuple((cut[call],) if call in cut else () for call in range(len(calls)))
    for call, rank in rank_chunks(calls):
        room -= _chunk_cost(calls[call][rank], room, count) if rank else best[call]
        if room < 0:
            break
        kept[call].append(rank)
    return tuple(
        tuple(chunks[rank] for rank in sorted(ranks))
        for chunks, ranks in zip(calls, kept, strict=True)
    )


def rank_chunks(calls: Sequence[Sequence[ContentChunk]]) -> list[tuple[int, int]]:
    """Call and rank of every chunk, the most relevant first."""
    rounds = sorted(
        (rank, call) for call, chunks in enumerate(calls) for rank in range(len(chunks))
    )
    seen: set[str] = set()
    first: list[tuple[int, int]] = []
    repeated: list[tuple[int, int]] = []
    for rank, call in rounds:
        id_ = calls[call][rank].id
        (repeated if rank and id_ in seen else first).append((call, rank))
        seen.add(id_)
    return first + repeated


def share_evenly(wanted: Sequence[int], room: int, least: Sequence[int]) -> list[int]:
    """Equal shares of `room`, but no share above its `wanted` or below its `least`; the sum of
    `least` must fit. With more room no share gets smaller.
    """

    def shares(level: int) -> list[int]:
        return [min(want, max(low, level)) for want, low in zip(wanted, least, strict=True)]

    return shares(bisect_right(range(room + 1), room, key=lambda level: sum(shares(level))) - 1)


def _chunk_cost(chunk: ContentChunk, room: int, count: Count) -> int:
    """The chunk's tokens; for a text that cannot fit, any number above `room`."""
    return (
        chunk_tokens(chunk, count)
        if len(chunk.text) <= MAX_CHARACTERS_PER_TOKEN * room
        else max(room, 0) + 1
    )


# Larger numbers come only from imports; numbering never continues from one
_MAX_COUNTED = MAX_NUMBER // 10


class ReferenceManager:
    """Numbers chunks, and finds them by number."""

    def __init__(self) -> None:
        # The chunks by number, each with the score of the first call that found it
        self._chunks: dict[int, ContentChunk] = {}
        # By what makes a chunk the same: its id would do, but imports have anything
        self._numbers: dict[tuple[str, str, str], int] = {}
        self._highest = 0

    @classmethod
    def from_log(cls, log: Iterable[ZkChatMessage]) -> "ReferenceManager":
        """The manager of a stored conversation. It knows the chunks of all branches, so that no
        number is used twice.
        """
        manager = cls()
        for message in log:
            if message.role == "user" or message.tool_call_id is not None:
                manager._add(message.chunks)
        return manager

    def snapshot(self) -> "ReferenceManager":
        """An independent copy, to see which numbers chunks would get, or to number anew from it."""
        other = ReferenceManager()
        other._chunks = {**self._chunks}
        other._numbers = {**self._numbers}
        other._highest = self._highest
        return other

    def extract_referenceable_chunks(
        self, chunks: Sequence[ContentChunk]
    ) -> tuple[ContentChunk, ...]:
        """The chunks of one tool response or user message with their numbers, known ones or the
        next free ones.
        """
        numbered = []
        for chunk in chunks:
            identity = chunk.id, chunk.relative_path, chunk.text
            if identity not in self._numbers:
                self._highest += 1
                while self._highest in self._chunks:
                    self._highest += 1
                self._numbers[identity] = self._highest
            numbered.append(chunk.model_copy(update={"number": self._numbers[identity]}))
        self._add(numbered)
        return tuple(numbered)

    def chunk(self, number: int) -> ContentChunk | None:
        return self._chunks.get(number)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of all chunks, sorted."""
        return tuple(sorted(self._chunks))

    def _add(self, chunks: Iterable[ContentChunk]) -> None:
        """Store the numbered chunks of a call. Imported chunks without a number, with an impossible
        one or with that of another chunk are left out.
        """
        for chunk in chunks:
            number = chunk.number
            identity = (chunk.id, chunk.relative_path, chunk.text)
            if number is None or not 0 < number <= MAX_NUMBER:
                continue
            if number in self._chunks and self._numbers.get(identity) != number:
                continue
            self._chunks.setdefault(number, chunk)
            self._numbers.setdefault(identity, number)
            if number <= _MAX_COUNTED:
                self._highest = max(self._highest, number)
