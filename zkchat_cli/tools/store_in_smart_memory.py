"""Remember a fact beyond this conversation; it replaces a fact with the same key."""

from zkchat_cli.memory.memory import Memory
from zkchat_cli.tools.base import Arguments, Tool, ToolOutput, text


def _run(arguments: Arguments, memory: Memory) -> ToolOutput:
    update = memory.remember(arguments["content"], key=arguments.get("key", ""), source="model")
    data: dict[str, object] = {"remembered": update.fact.content, "key": update.fact.key}
    if update.replaced is not None and update.replaced.content != update.fact.content:
        data["replaces"] = update.replaced.content
    return ToolOutput(
        data=data,
        note=f"The user can take it back with /forget {update.fact.key}, or zkchat memory forget {update.fact.key}.",
        outcome=f"remembered as {update.fact.key}",
    )


TOOL = Tool(
    name="store_in_smart_memory",
    description="Remember a fact for later conversations, when asked to or when it will matter again.",
    parameters={
        "content": text("one sentence that stands by itself"),
        "key": text("what it is about, as roof-deadline; replaces the fact with this key"),
    },
    required=("content",),
    run=_run,
    scope="memory",
)
