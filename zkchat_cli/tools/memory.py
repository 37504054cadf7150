"""Search and remember what outlasts the prompt: facts, and what was said."""

from typing import Annotated

from zkchat_cli.memory.memory import MAX_RECALLED_MESSAGES, Memory
from zkchat_cli.text.numbers import plural
from zkchat_cli.tools.base import ToolOutput, declare_tool

Words = Annotated[str, "words to search for"]
DEFAULT_LIMIT = 5
MOST_FACTS = 20


def recall_conversation(
    memory: Memory,
    query: Words,
    limit: Annotated[int, f"1 to {MAX_RECALLED_MESSAGES}, default {DEFAULT_LIMIT}"] = DEFAULT_LIMIT,
) -> ToolOutput:
    """Search everything said in this conversation, including what was summarized, and in earlier
    ones.
    """
    found = [*memory.search_conversations(query, min(max(limit, 1), MAX_RECALLED_MESSAGES))]
    if not found:
        return ToolOutput(
            note="No message is about that. Try fewer or other words.", outcome="no message found"
        )
    return ToolOutput(
        data={"said": found},
        note="To cite a note named here, read it first.",
        outcome=plural(len(found), "message"),
    )


def retrieve_from_smart_memory(
    memory: Memory,
    query: Words,
    limit: Annotated[int, f"1 to {MOST_FACTS}, default {DEFAULT_LIMIT}"] = DEFAULT_LIMIT,
) -> ToolOutput:
    """Search what was remembered: facts with key, date and source, and notes that are often
    cited.
    """
    limit = min(max(limit, 1), MOST_FACTS)
    found = memory.rank(query, compute=True)
    if not found:
        return ToolOutput(
            note="Nothing is remembered about that.", outcome=plural(0, "memory", "memories")
        )
    more = f"{len(found) - limit} more fit the query less well." if len(found) > limit else ""
    memories = [each.prompt_line.removeprefix("- ") for each in found[:limit]]
    return ToolOutput(
        data={"memories": memories}, note=more, outcome=plural(len(memories), "memory", "memories")
    )


def store_in_smart_memory(
    memory: Memory,
    content: Annotated[str, "one sentence that stands by itself"],
    key: Annotated[str, "what it is about, as roof-deadline; replaces the fact with this key"] = "",
) -> ToolOutput:
    """Remember a fact for later conversations, when asked to or when it will matter again."""
    fact, replaced = memory.remember(content, key=key, source="model")
    data: dict[str, object] = {"remembered": fact.content, "key": fact.key}
    if replaced is not None and replaced.content != fact.content:
        data["replaces"] = replaced.content
    note = f"The user can take it back with /forget {fact.key}, or zkchat memory forget {fact.key}."
    return ToolOutput(data=data, note=note, outcome=f"remembered as {fact.key}")


TOOLS = [
    declare_tool(recall_conversation, scope="conversation"),
    declare_tool(retrieve_from_smart_memory, scope="memory"),
    declare_tool(store_in_smart_memory, scope="memory"),
]
