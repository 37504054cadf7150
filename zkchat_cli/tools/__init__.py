"""Registry: what the model may call. Each file has the tools of a topic and declares `TOOLS`, see `base`."""

import sys

from zkchat_cli import registry
from zkchat_cli.tools.base import Tool


def load_tools(*, unsafe: bool = False) -> list[Tool]:
    """The tools of a conversation by name; with `unsafe` those that write notes too."""
    package = sys.modules[__name__]
    tools: list[Tool] = [tool for name in registry.names(package) for tool in registry.load(package, name, "TOOLS")]
    return sorted((tool for tool in tools if unsafe or not tool.writes), key=lambda tool: tool.name)
