"""Search what was remembered: facts with key, date and source, and notes that are often cited."""

from typing import Annotated

from zkchat_cli.memory.memory import Memory
from zkchat_cli.text.numbers import plural
from zkchat_cli.tools.base import ToolOutput, WordsToSearch, declare_tool

DEFAULT_LIMIT, MOST = 5, 20


def retrieve_from_smart_memory(
    memory: Memory, query: WordsToSearch, limit: Annotated[int, f"1 to {MOST}, default {DEFAULT_LIMIT}"] = DEFAULT_LIMIT
) -> ToolOutput:
    limit = min(max(limit, 1), MOST)
    found = memory.rank(query, compute=True)
    if not found:
        return ToolOutput(note="Nothing is remembered about that.", outcome=plural(0, "memory", "memories"))
    more = f"{len(found) - limit} more fit the query less well." if len(found) > limit else ""
    memories = [each.prompt_line.removeprefix("- ") for each in found[:limit]]
    return ToolOutput(data={"memories": memories}, note=more, outcome=plural(len(memories), "memory", "memories"))


TOOL = declare_tool(retrieve_from_smart_memory, scope="memory")
