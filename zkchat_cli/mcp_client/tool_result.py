"""Reads the result of an MCP server's tool for the model."""

import json
from typing import Any

from zkchat_cli.text.numbers import plural
from zkchat_cli.text.sanitize import sanitize
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import ToolArgumentError, ToolOutput

# Most characters of a result; the model gets as many of them as its window has room for
MAX_RESULT = 1_000_000
# Most characters of an error
MAX_ERROR = 1000


def read_tool_result(name: str, result: Any) -> ToolOutput:
    """The text of a result, and a note about parts that are not text.

    Raises ToolArgumentError with the server's own sentence if the call failed.
    """
    found = (_block_text(block) for block in result.content)
    texts = [text for text in found if text is not None]
    others = len(result.content) - len(texts)
    if not texts and result.structured_content is not None:
        texts = [json.dumps(result.structured_content, ensure_ascii=False)]
    text = "\n".join(texts)
    if result.is_error:
        problem = sanitize(text) or "it failed and says nothing"
        raise ToolArgumentError(f"{name}: {truncate(problem, MAX_ERROR)}")
    notes = []
    if others:
        notes.append(f"{plural(others, 'part')} left out: not text")
    if len(text) > MAX_RESULT:
        notes.append(f"the result is cut after {MAX_RESULT:,} characters")
    return ToolOutput(
        data={"result": sanitize(text[:MAX_RESULT]).split("\n")},
        note=". ".join(notes),
        outcome=f"{len(text):,} characters",
    )


def _block_text(block: Any) -> str | None:
    """The text of one part of a result: a text, an embedded file or a link; None for an image."""
    if block.type == "resource_link":
        return f"{block.name}: {block.uri}"
    text: str | None = getattr(getattr(block, "resource", block), "text", None)
    return text
