"""Chunks as the model reads them: numbered excerpts in JSON, what each takes in tokens, and the marked start of one that is too long."""

import json
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

from zkchat_cli.models import ContentChunk
from zkchat_cli.text.truncate import truncate

Count = Callable[[str], int]
"""Tokens of a text."""
LONGEST_TITLE = 200
MAX_NUMBER = 999_999_999
"""A citation is read to nine digits."""
FRAME_TOKENS = 8
"""Tokens of the JSON around a result's excerpts."""
CUT_MARK = "\n\n<!-- cut: too long for the context window -->"
"""A comment, so that nobody takes it for the note's own words."""
MIN_CHARACTERS = 60
"""Characters of a text that are worth showing when there is no room for more: some words."""
_LONGEST_WORD = 40
"""How far back to look for a space to cut at; scripts without any are cut where the room ends."""


def format_tool_result(chunks: Sequence[ContentChunk], data: Mapping[str, object], note: str = "") -> str:
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
        "title": truncate(chunk.title, LONGEST_TITLE),
        "heading": chunk.heading and truncate(chunk.heading, LONGEST_TITLE),
        "lines": f"{chunk.start_line}-{chunk.end_line}",
        "text": chunk.text,
    }


def chunk_tokens(chunk: ContentChunk, count: Count) -> int:
    """The tokens that a chunk takes among a result's excerpts, whatever number it will get."""
    return count(json.dumps({**_excerpt(chunk), "source": MAX_NUMBER}, ensure_ascii=False)) + 1


def truncate_chunk(chunk: ContentChunk, room: int, count: Count) -> ContentChunk:
    """As much of a chunk as `room` tokens take, marked, and at least some words of it, if they take more.

    It has an id of its own: another text is another chunk, with another number. What less room shows is the beginning of what more shows,
    and never more than about twice of that is counted, however long the text is.
    """
    most = len(chunk.text) - 1
    fits = min(MIN_CHARACTERS, most)
    reach = fits
    while reach < most and chunk_tokens(_start(chunk, reach), count) <= room:
        fits, reach = reach, min(2 * reach, most)
    longer = range(fits + 1, reach + 1)
    return _start(chunk, fits + bisect_right(longer, room, key=lambda length: chunk_tokens(_start(chunk, length), count)))


def min_chunk_tokens(chunk: ContentChunk, count: Count) -> int:
    """The tokens that some words of a chunk take."""
    return chunk_tokens(_start(chunk, min(MIN_CHARACTERS, len(chunk.text) - 1)), count)


def _start(chunk: ContentChunk, length: int) -> ContentChunk:
    """The first characters of a chunk, up to `length`, cut behind a word where there is one."""
    border = max(chunk.text.rfind(white, max(0, length - _LONGEST_WORD), length) for white in " \n")
    text = chunk.text[: border if border > 0 else length].rstrip()
    lines = {"text": text + CUT_MARK, "end_line": chunk.start_line + text.count("\n")}
    return chunk.model_copy(update={"id": f"{chunk.id}:{len(text)}", **lines})
