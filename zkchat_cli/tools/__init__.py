"""Registry: what the model may call. Each file declares `TOOL`, see `base`."""

import sys

from zkchat_cli import registry
from zkchat_cli.tools.base import FINISH, Tool


def load_tools(*, unsafe: bool = False) -> list[Tool]:
    """The tools of a conversation by name; with `unsafe` those that write notes too. Agent runs add `finish`."""
    tools: list[Tool] = registry.load_all(sys.modules[__name__], "TOOL")
    return [tool for tool in tools if tool.scope != "run" and (unsafe or not tool.writes)]


def load_finish_tool() -> Tool:
    """The tool that ends an agent run."""
    tool: Tool = registry.load(sys.modules[__name__], FINISH, "TOOL")
    return tool
