"""The tools that change notes: those of the chat. The client shows each change to the user, who accepts or declines it.

The proposal and the question are resolvers of the SDK, since the newest revision of the protocol asks in the answer to a call, and older
ones during it. What is made is the change that was shown: the question is asked again if the note has changed meanwhile.
"""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from zkchat_cli.errors import VaultError
from zkchat_cli.mcp.results import MadeChange
from zkchat_cli.mcp.server import NoteServer
from zkchat_cli.memory.memory_paths import MemoryPaths
from zkchat_cli.text.sanitize import reveal_invisible
from zkchat_cli.tools import load_tools
from zkchat_cli.tools.base import JSON_TYPES, Tool
from zkchat_cli.vault.approval import DECLINED, mark_memory_file
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.vault import Vault

CHANGES_NOTES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)
LONGEST_DIFF = 100_000
"""Characters of a change that a client can be expected to show."""
TYPES = {name: kind for kind, name in JSON_TYPES.items()}


class Approval(BaseModel):
    """The form that the user gets: it has no fields, and accepting it approves the change."""


def add_write_tools(server: NoteServer, vault: Vault, memory_paths: MemoryPaths) -> None:
    """Add every tool that changes notes."""
    for tool in load_tools(unsafe=True):
        if tool.writes:
            _add_tool(server, tool, vault, memory_paths)


def _add_tool(server: NoteServer, tool: Tool, vault: Vault, memory_paths: MemoryPaths) -> None:
    parameters = [_parameter(tool, name, schema) for name, schema in tool.parameters.items()]

    def propose(**arguments: Any) -> Change:
        change = tool.call({name: value for name, value in arguments.items() if value is not None}, vault).change
        assert change is not None
        if len(change.diff) > LONGEST_DIFF:
            raise VaultError(f"{change.summary}: too large to be shown for approval", "Make it in `zkchat chat --unsafe`.")
        return mark_memory_file(change, memory_paths.first_among(change.paths))

    _set_signature(propose, parameters)

    def ask(change: Annotated[Change, Resolve(propose)]) -> Elicit[Approval]:
        shown = (f"Change your notes: {change.summary}?", change.note, reveal_invisible(change.diff))
        return Elicit("\n\n".join(filter(None, shown)), Approval)

    def make(
        change: Annotated[Change, Resolve(propose)], answer: Annotated[ElicitationResult[Approval], Resolve(ask)], **_: Any
    ) -> MadeChange:
        if not isinstance(answer, AcceptedElicitation):
            raise ToolError(f"{DECLINED.reason}.")
        vault.editor.apply(change)
        return MadeChange(done=change.summary, note=change.note or None, paths=list(change.paths))

    _set_signature(make, [*parameters, *_named_parameters(make)])
    server.add_tool(make, name=tool.name, description=tool.description, annotations=CHANGES_NOTES)


def _parameter(tool: Tool, name: str, schema: Any) -> inspect.Parameter:
    kind: Any = TYPES[schema["type"]] if name in tool.required else TYPES[schema["type"]] | None
    default = inspect.Parameter.empty if name in tool.required else None
    annotation = Annotated[kind, Field(description=schema["description"])]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _named_parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    parameters = inspect.signature(function).parameters.values()
    return [each.replace(kind=each.KEYWORD_ONLY) for each in parameters if each.kind is not each.VAR_KEYWORD]


def _set_signature(function: Any, parameters: list[inspect.Parameter]) -> None:
    """Give a function of any keywords the parameters that the SDK reads from it."""
    returns = inspect.signature(function).return_annotation
    function.__signature__ = inspect.Signature(parameters, return_annotation=returns)
    function.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": returns}
