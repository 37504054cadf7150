"""Finds what was said, in this conversation and in earlier ones."""

from typing import Annotated

from zkchat_cli.memory.memory import MAX_RECALLED_MESSAGES, Memory
from zkchat_cli.text.numbers import plural
from zkchat_cli.tools.base import ToolOutput, declare_tool

DEFAULT_LIMIT = 5


def recall_conversation(
    memory: Memory,
    query: Annotated[str, "words to search for"],
    limit: Annotated[int, f"1 to {MAX_RECALLED_MESSAGES}, default {DEFAULT_LIMIT}"] = DEFAULT_LIMIT,
) -> ToolOutput:
    """Search everything said in this conversation, including what was summarized, and in earlier
    ones.
    """
    limit = min(max(limit, 1), MAX_RECALLED_MESSAGES)
    found = list(memory.search_conversations(query, limit))
    if not found:
        return ToolOutput(
            note="No message is about that. Try fewer or other words.", outcome="no message found"
        )
    return ToolOutput(
        data={"said": found},
        note="To cite a note named here, read it first.",
        outcome=plural(len(found), "message"),
    )


TOOL = declare_tool(recall_conversation, scope="conversation", verb="recalled")
