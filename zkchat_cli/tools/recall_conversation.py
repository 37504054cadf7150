"""Search this conversation and earlier ones: who said what, when, and which notes it cites."""

from zkchat_cli.memory.memory import MAX_RECALLED_MESSAGES, Memory
from zkchat_cli.tools.base import Arguments, Tool, ToolOutput, clamp_limit, join_notes, number, plural, text

DEFAULT_LIMIT = 5


def _run(arguments: Arguments, memory: Memory) -> ToolOutput:
    limit, clamped = clamp_limit(arguments, DEFAULT_LIMIT, MAX_RECALLED_MESSAGES)
    found = memory.search_conversations(arguments["query"], limit)
    if not found:
        return ToolOutput(note="No message is about that. Try fewer or other words.", outcome="no message found")
    return ToolOutput(
        data={"said": found}, note=join_notes(clamped, "To cite a note named here, read it first."), outcome=plural(len(found), "message")
    )


TOOL = Tool(
    name="recall_conversation",
    description="Search all that was said in this conversation, what was summarised too, and in earlier ones.",
    parameters={"query": text("words to search for"), "limit": number(f"1 to {MAX_RECALLED_MESSAGES}, default {DEFAULT_LIMIT}")},
    required=("query",),
    run=_run,
    scope="conversation",
)
