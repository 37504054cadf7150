"""Remembers a fact."""

from typing import Annotated

from zkchat_cli.memory.memory import Memory
from zkchat_cli.tools.base import ToolOutput, declare_tool


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


TOOL = declare_tool(store_in_smart_memory, scope="memory", verb="remembered")
