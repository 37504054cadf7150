"""Tools for the model, and tools for other programs over the Model Context Protocol.

A tool is one file that declares `TOOL`. Those in `builtin` are offered to the model in a
conversation, those in `served` to the programs that `zkchat mcp` serves.
"""

from typing import TYPE_CHECKING

from zkchat_cli.registry import Registry
from zkchat_cli.tools import builtin, served
from zkchat_cli.tools.base import Tool

if TYPE_CHECKING:
    from zkchat_cli.tools.served_tool import ServedTool

BUILTIN_TOOLS: Registry[Tool] = Registry(builtin.__name__, "TOOL")
SERVED_TOOLS: "Registry[ServedTool]" = Registry(served.__name__, "TOOL")


def load_tools(*, unsafe: bool = False) -> list[Tool]:
    """The tools for conversations, sorted by name; with `unsafe` also those that change notes."""
    return [tool for tool in BUILTIN_TOOLS.load_all() if unsafe or not tool.writes]


def load_served_tools() -> "list[ServedTool]":
    """The read-only tools for other programs, most used first."""
    return sorted(SERVED_TOOLS.load_all(), key=lambda tool: tool.order)


def find_tool(name: str) -> Tool | None:
    """The built-in tool of that name; None for other names, because tools of MCP servers have no
    file.
    """
    if name not in BUILTIN_TOOLS.names():
        return None
    return BUILTIN_TOOLS.load(name)
