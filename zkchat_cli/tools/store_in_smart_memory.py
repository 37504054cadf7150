"""Remember a fact beyond this conversation; one of the same key is replaced."""

from collections.abc import Mapping
from typing import Any

from zkchat_cli.memory.memory import Memory
from zkchat_cli.tools.base import Tool, ToolOutput


def _run(arguments: Mapping[str, Any], memory: Memory) -> ToolOutput:
    kept = memory.remember(arguments["content"], key=arguments.get("key", ""), source="model")
    data: dict[str, object] = {"remembered": kept.fact.content, "key": kept.fact.key}
    if kept.replaced is not None and kept.replaced.content != kept.fact.content:
        data["replaces"] = kept.replaced.content
    return ToolOutput(
        data=data,
        note=f"The user can take it back with /forget {kept.fact.key}, or zkchat memory forget {kept.fact.key}.",
        outcome=f"remembered as {kept.fact.key}",
    )


TOOL = Tool(
    name="store_in_smart_memory",
    description="Remember a fact for later conversations, when asked to or when it will matter again.",
    parameters={
        "content": {"type": "string", "description": "one sentence that stands by itself"},
        "key": {"type": "string", "description": "what it is about, as roof-deadline; replaces the fact with this key"},
    },
    required=("content",),
    run=_run,
    parallel=False,
    scope="memory",
)
