"""Finds remembered facts."""

from typing import Annotated

from zkchat_cli.memory.memory import Memory
from zkchat_cli.text.numbers import plural
from zkchat_cli.tools.base import ToolOutput, declare_tool

DEFAULT_LIMIT = 5
MOST_FACTS = 20


def retrieve_from_smart_memory(
    memory: Memory,
    query: Annotated[str, "words to search for"],
    limit: Annotated[int, f"1 to {MOST_FACTS}, default {DEFAULT_LIMIT}"] = DEFAULT_LIMIT,
) -> ToolOutput:
    """Search what was remembered: facts with key, date and source, and notes that are often
    cited.
    """
    limit = min(max(limit, 1), MOST_FACTS)
    found = memory.rank(query, compute=True)
    memories = [each.prompt_line.removeprefix("- ") for each in found[:limit]]
    outcome = plural(len(memories), "memory", "memories")
    if not found:
        return ToolOutput(note="Nothing is remembered about that.", outcome=outcome)
    more = ""
    if len(found) > limit:
        more = f"{len(found) - limit} more fit the query less well."
    return ToolOutput(data={"memories": memories}, note=more, outcome=outcome)


TOOL = declare_tool(retrieve_from_smart_memory, scope="memory", verb="recalled")
