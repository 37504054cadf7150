"""Numbered excerpts of notes as the model reads them, in JSON or as text. Pure."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.references.manager import MAX_NUMBER
from zkchat_cli.text.truncate import truncate

Count = Callable[[str], int]  # tokens of a text
LONGEST_TITLE = 200
_LIKE_A_NUMBER = re.compile(r"^(?=\[\d+\])", re.MULTILINE)


class ParsedResult(NamedTuple):
    """The document of a tool's result, and what the message says before it."""

    before: str
    document: dict[str, Any]


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
    """Excerpts as text below their numbers, the form that small models read best.

    With the same 20 questions SmolLM2-135M cited a passage in 13 answers instead of 4, and the
    prompts were shorter. Large models cite well from JSON, in which no text of a note can look like
    the number of another excerpt; here such a line is indented.
    """
    texts: list[str] = []
    for chunk in chunks:
        names = [truncate(name, LONGEST_TITLE) for name in (chunk.title, chunk.heading) if name]
        place = " › ".join(names)
        texts.append(f"[{chunk.number}] {place}\n{_LIKE_A_NUMBER.sub(' ', chunk.text)}")
    return "\n\n".join(texts)


def parse_tool_result(content: str) -> ParsedResult | None:
    """The result in a message: its last line. None unless it has excerpts with numbers and
    texts.
    """
    before, _, line = content.rpartition("\n")
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    excerpts = document.get("excerpts") if isinstance(document, dict) else None
    if not isinstance(excerpts, list) or not all(map(_is_excerpt, excerpts)):
        return None
    return ParsedResult(before, document)


def _is_excerpt(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("source"), int)
        and isinstance(value.get("text"), str)
    )


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
    excerpt = {**_excerpt(chunk), "source": MAX_NUMBER}
    return count(json.dumps(excerpt, ensure_ascii=False)) + 1
