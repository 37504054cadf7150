"""Excerpts of notes as small models read them best: as text below their numbers, not as JSON. Pure.

With the same 20 questions SmolLM2-135M cited a passage in 13 answers instead of 4, and the prompts were shorter. Large models cite well
from JSON, in which no text of a note can look like the number of another excerpt; here such a line is indented.
"""

import re
from collections.abc import Mapping
from typing import Any

from zkchat_cli.llm.base import Request
from zkchat_cli.models import PromptMessage
from zkchat_cli.references.chunk_format import parse_tool_result

SMALL_WINDOW = 16_384
"""Tokens of a window up to which a model counts as small, and passages are found before the question: tools would fill it."""
_LIKE_A_NUMBER = re.compile(r"^(?=\[\d+\])", re.MULTILINE)


def with_plain_excerpts(request: Request) -> Request:
    """The request with the documents of its messages as text, if its window is small."""
    if request.window is None or request.window > SMALL_WINDOW:
        return request
    return request._replace(messages=tuple(_in_plain_text(m) if m.kind == "documents" else m for m in request.messages))


def _in_plain_text(message: PromptMessage) -> PromptMessage:
    if (found := parse_tool_result(message.content)) is None:
        return message
    before, result = found
    texts = "\n\n".join(map(_plain_text, result["excerpts"]))
    return message.model_copy(update={"content": f"{before}\n{texts}"})


def _plain_text(excerpt: Mapping[str, Any]) -> str:
    place = " › ".join(str(excerpt[name]) for name in ("title", "heading") if excerpt.get(name))
    return f"[{excerpt['source']}] {place}\n{_LIKE_A_NUMBER.sub(' ', excerpt['text'])}"
