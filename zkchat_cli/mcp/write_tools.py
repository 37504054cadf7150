"""The tools of the chat that change notes, for other programs. Their client shows each change to
the user, who accepts or declines it (`change_approval`). What is made is the change that was shown.
"""

import inspect
from functools import partial
from typing import Annotated, Any, TypedDict

import anyio
from mcp import types
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from zkchat_cli.errors import VaultError
from zkchat_cli.mcp.change_approval import ChangeApproval
from zkchat_cli.mcp.server import NoteServer
from zkchat_cli.memory.memory_paths import MemoryPaths
from zkchat_cli.text.sanitize import reveal_invisible
from zkchat_cli.tools import load_tools
from zkchat_cli.tools.base import Tool, read_parameters
from zkchat_cli.vault.edit.approval import mark_memory_file
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.vault import Vault

CHANGES_NOTES = types.ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)
# Most characters of a change that a client can be expected to show
LONGEST_DIFF = 100_000
# Changes that can be taken back, the last first
MOST_KEPT = 50
TAKE_BACK = "Take back the last change that was made here. The user is asked first."


class ChangeMade(TypedDict):
    done: str
    note: str | None
    paths: tuple[str, ...]


def add_write_tools(
    server: NoteServer,
    vault: Vault,
    memory_paths: MemoryPaths,
    approval: ChangeApproval | None = None,
) -> None:
    """Add the tools that change notes to a server, and one that takes the last change back. A
    change of a file in `memory_paths` is shown with a warning.
    """
    editing = _ApprovedEditing(vault, memory_paths, approval or ChangeApproval())
    for tool in load_tools(unsafe=True):
        if tool.writes:
            _add_write_tool(server, tool, editing)
    server.add_tool(
        editing.take_back, name="undo_change", description=TAKE_BACK, annotations=CHANGES_NOTES
    )


class _ApprovedEditing:
    """Makes proposed changes after the user has accepted them, and knows how to take them back."""

    def __init__(self, vault: Vault, memory_paths: MemoryPaths, approval: ChangeApproval) -> None:
        self._vault = vault
        self._memory_paths = memory_paths
        self._approval = approval
        self._made: list[Change] = []

    async def call(
        self, tool: Tool, arguments: dict[str, Any], context: Context[Any, Any]
    ) -> ChangeMade | types.InputRequiredResult:
        """Make the change that a tool proposes, or ask about it first. Raises ToolError with the
        reason if it is not made.
        """
        output = await anyio.to_thread.run_sync(partial(tool.call, arguments, self._vault))
        change = output.change
        assert change is not None
        made = await self._make(change, context)
        if not isinstance(made, types.InputRequiredResult):
            self._made = [*self._made[1 - MOST_KEPT :], change]
        return made

    async def take_back(self, context: Context[Any, Any]) -> ChangeMade | types.InputRequiredResult:
        """Make the change that undoes the last one, or ask about it first. Raises ToolError."""
        if not self._made:
            raise ToolError("There is no change to take back since the server was started.")
        last = self._made[-1]
        change = await anyio.to_thread.run_sync(self._vault.editor.reverse, last)
        made = await self._make(change, context)
        if not isinstance(made, types.InputRequiredResult):
            self._made.remove(last)
        return made

    async def _make(
        self, change: Change, context: Context[Any, Any]
    ) -> ChangeMade | types.InputRequiredResult:
        marked = mark_memory_file(change, self._memory_paths.first_among(change.paths))
        question = await anyio.to_thread.run_sync(_question, marked)
        decision = await self._approval.ask(context, question)
        if isinstance(decision, types.InputRequiredResult):
            return decision
        if not decision.allowed:
            raise ToolError(f"{decision.reason}.")
        # A cancelled call waits until this is done: half a change is no change
        await anyio.to_thread.run_sync(self._vault.editor.apply, change)
        return {"done": marked.summary, "note": marked.note or None, "paths": marked.paths}


def _question(change: Change) -> str:
    """A change as the user is shown it. Raises VaultError if nobody could read it."""
    if len(change.diff) > LONGEST_DIFF:
        raise VaultError(
            f"{change.summary}: too large to be shown for approval",
            "Make it in `zkchat chat --unsafe`.",
        )
    shown = (
        f"Change your notes: {reveal_invisible(change.summary)}?",
        change.note,
        reveal_invisible(change.diff),
    )
    return "\n\n".join(filter(None, shown))


def _add_write_tool(server: NoteServer, tool: Tool, editing: _ApprovedEditing) -> None:
    """Add a tool under the name and with the arguments that it has in the chat."""

    async def make(
        *, context: Context[Any, Any], **arguments: Any
    ) -> ChangeMade | types.InputRequiredResult:
        return await editing.call(tool, arguments, context)

    _add_parameters(make, _described_parameters(tool))
    server.add_tool(make, name=tool.name, description=tool.description, annotations=CHANGES_NOTES)


def _described_parameters(tool: Tool) -> list[inspect.Parameter]:
    """The arguments of a tool in the form in which the SDK reads them; optional ones may be
    null.
    """
    described = []
    for each in read_parameters(tool.run):
        kind = each.annotation
        default: Any = inspect.Parameter.empty
        if not each.is_required:
            kind |= None
            default = None
        described.append(
            inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=Annotated[kind, Field(description=each.description)],
            )
        )
    return described


def _add_parameters(function: Any, described: list[inspect.Parameter]) -> None:
    """Make a function that takes any arguments declare these: the SDK reads the signature."""
    signature = inspect.signature(function)
    own = [each for each in signature.parameters.values() if each.kind is each.KEYWORD_ONLY]
    parameters = [*described, *own]
    function.__signature__ = signature.replace(parameters=parameters)
    function.__annotations__ = {each.name: each.annotation for each in parameters}
    function.__annotations__["return"] = signature.return_annotation
