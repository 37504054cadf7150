"""Search the remembered facts, with keys, dates and sources, and often-cited notes."""

from zkchat_cli.memory.memory import Memory
from zkchat_cli.tools.base import Arguments, Tool, ToolOutput, clamp_limit, join_notes, number, plural, text

DEFAULT_LIMIT, MOST = 5, 20


def _run(arguments: Arguments, memory: Memory) -> ToolOutput:
    limit, clamped = clamp_limit(arguments, DEFAULT_LIMIT, MOST)
    found = memory.rank(arguments["query"])
    if not found:
        return ToolOutput(note="Nothing is remembered about that.", outcome=plural(0, "memory", "memories"))
    more = f"{len(found) - limit} more share fewer words with the query." if len(found) > limit else ""
    memories = [each.item.prompt_line.removeprefix("- ") for each in found[:limit]]
    return ToolOutput(data={"memories": memories}, note=join_notes(clamped, more), outcome=plural(len(memories), "memory", "memories"))


TOOL = Tool(
    name="retrieve_from_smart_memory",
    description="Search what was remembered: facts with key, date and source, and notes that are often cited.",
    parameters={"query": text("words to search for"), "limit": number(f"1 to {MOST}, default {DEFAULT_LIMIT}")},
    required=("query",),
    run=_run,
    scope="memory",
)
