"""Remember a fact beyond this conversation; it replaces a fact with the same key."""

from typing import Annotated

from zkchat_cli.memory.memory import Memory
from zkchat_cli.tools.base import ToolOutput, declare_tool


def store_in_smart_memory(
    memory: Memory,
    content: Annotated[str, "one sentence that stands by itself"],
    key: Annotated[str, "what it is about, as roof-deadline; replaces the fact with this key"] = "",
) -> ToolOutput:
    """Remember a fact for later conversations, when asked to or when it will matter again."""
    update = memory.remember(content, key=key, source="model")
    data: dict[str, object] = {"remembered": update.fact.content, "key": update.fact.key}
    if update.replaced is not None and update.replaced.content != update.fact.content:
        data["replaces"] = update.replaced.content
    note = f"The user can take it back with /forget {update.fact.key}, or zkchat memory forget {update.fact.key}."
    return ToolOutput(data=data, note=note, outcome=f"remembered as {update.fact.key}")


TOOL = declare_tool(store_in_smart_memory, scope="memory")
