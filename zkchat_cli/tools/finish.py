"""End an agent run because the goal is met or cannot be met."""

from zkchat_cli.tools.base import Arguments, Tool, ToolOutput, text


def _run(arguments: Arguments, _: object) -> ToolOutput:
    return ToolOutput(data={"finished": True, "unmet": arguments.get("unmet", "").strip()})


TOOL = Tool(
    name="finish",
    description="End the work on the goal, once it is met or you are sure that it cannot be.",
    parameters={
        "answer": text("the whole answer for the user, with citations"),
        "unmet": text("what of the goal is not met, and why; empty if all of it is"),
    },
    required=("answer",),
    run=_run,
    scope="run",
)
