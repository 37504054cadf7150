"""Anthropic's own citations: excerpts of notes become search results that Claude can cite, and its citations become marks like all others.

An excerpt is sent line by line, so that a citation names the lines it means. It is written into the answer as `[3]`, behind the cited line
in quotation marks if that is short: then it is verified to the letter, like any quotation.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from zkchat_cli.references.chunk_format import parse_tool_result

LONGEST_QUOTE = 160
"""Characters of a cited line that are quoted in the answer."""
SEARCH_RESULTS_REFUSED = re.compile(r"search_result|citations", re.IGNORECASE)
"""The wording of a server that does not know search results."""
_NUMBER = re.compile(r"\[(\d{1,9})\]")
_QUOTE_MARKS = re.compile('[“”„«»‹›"「」『』|`]')
_LINE = re.compile(r".*\S.*(?:\n\s*)*")

Block = dict[str, Any]


def search_result_blocks(text: str) -> list[Block] | None:
    """A text that ends with a search result, with a block for each excerpt of that; None if it has none that can be cited."""
    before, result = parse_tool_result(text) or ("", {})
    excerpts = result.pop("excerpts", [])
    if not excerpts or not all(each["text"].strip() for each in excerpts):
        return None
    rest = json.dumps(result, ensure_ascii=False) if result else ""
    return [*text_blocks(f"{before}\n{rest}" if before else rest), *map(_search_result, excerpts)]


def citation_marks(text: str, citations: Iterable[Mapping[str, Any]]) -> str:
    """What to write behind a part of an answer for the citations that came with it, unless it has these marks itself."""
    marks: dict[str, str] = {}
    for citation in citations:
        number = _NUMBER.match(str(citation.get("title") or ""))
        if citation.get("type") == "search_result_location" and number and number[0] not in text and number[0] not in marks:
            quote = str(citation.get("cited_text") or "").strip()
            is_short = quote and len(quote) <= LONGEST_QUOTE and "\n" not in quote and not _QUOTE_MARKS.search(quote)
            marks[number[0]] = f"(“{quote}” {number[0]})" if is_short and quote not in text else number[0]
    return "".join(f" {mark}" for mark in marks.values())


def _search_result(excerpt: Mapping[str, Any]) -> Block:
    names = [str(excerpt[key]) for key in ("title", "heading") if excerpt.get(key)]
    return {
        "type": "search_result",
        "source": f"{excerpt.get('path')}:{excerpt.get('lines')}",
        "title": f"[{excerpt['source']}] {' › '.join(names)}",
        "content": [{"type": "text", "text": line} for line in _LINE.findall(excerpt["text"].lstrip("\n"))],
        "citations": {"enabled": True},
    }


def text_blocks(text: str) -> list[Block]:
    return [{"type": "text", "text": text}] if text.strip() else []
