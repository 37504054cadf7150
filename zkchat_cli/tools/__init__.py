"""Registry: what the model may call. Each file declares `TOOL`, see `base`."""

import sys

from zkchat_cli import registry
from zkchat_cli.tools.base import Tool


def load_tools(*, unsafe: bool = False) -> list[Tool]:
    """The tools of a conversation by name; with `unsafe` those that write notes too."""
    package = sys.modules[__name__]
    tools: list[Tool] = [registry.load(package, name, "TOOL") for name in registry.names(package)]
    return [tool for tool in tools if unsafe or not tool.writes]
