"""Tools for the model, and tools for other programs over the Model Context Protocol.

A tool is one file that declares `TOOL`. Those in `builtin` are offered to the model in a
conversation, those in `served` to the programs that `zkchat mcp` serves. `as_mojentic` gives the
first to a program that uses mojentic.
"""

from typing import TYPE_CHECKING

from zkchat_cli.registry import Registry
from zkchat_cli.tools import builtin, served
from zkchat_cli.tools.base import Tool

if TYPE_CHECKING:
    from zkchat_cli.llm.gateways.function_tool import FunctionTool
    from zkchat_cli.references.manager import ReferenceManager
    from zkchat_cli.tools.served_tool import ServedTool
    from zkchat_cli.vault.edit.approval import Approve
    from zkchat_cli.vault.vault import Vault

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


def as_mojentic(
    vault: "Vault",
    *,
    approve: "Approve | None" = None,
    references: "ReferenceManager | None" = None,
) -> "list[FunctionTool]":
    """The tools for notes as `LLMTool`s of mojentic, for the model of any program that uses it.

    With `approve`, tools that change notes are there, too: it decides about each change.
    `references` numbers the excerpts in the results, and knows afterwards what `[1]` cites.
    """
    # Deferred: this imports mojentic, which takes a second
    from zkchat_cli.tools.note_tool_caller import make_mojentic_tools

    return make_mojentic_tools(load_tools(unsafe=approve is not None), vault, approve, references)
