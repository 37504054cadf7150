"""The tools of the chat that change notes, for other programs. Their client shows each change to
the user, who accepts or declines it.
"""

import inspect
from typing import Annotated, Any, TypedDict

from mcp import types
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel, BeforeValidator, Field

from zkchat_cli.errors import VaultError
from zkchat_cli.mcp.server import NoteServer
from zkchat_cli.memory.memory_paths import MemoryPaths
from zkchat_cli.text.sanitize import reveal_invisible
from zkchat_cli.tools import load_tools
from zkchat_cli.tools.base import Tool, read_parameters
from zkchat_cli.vault.edit.approval import DECLINED, mark_memory_file
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.vault import Vault

CHANGES_NOTES = types.ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)
# Most characters of a change that a client can be expected to show
LONGEST_DIFF = 100_000


def _is_true(answer: object) -> bool:
    return answer is True


class Approval(BaseModel):
    """The form that the user gets. Only `true` in its field is a yes: clients also send forms that
    the user has not filled in, and pydantic would read "yes" and 1 as true.
    """

    approve: Annotated[bool, BeforeValidator(_is_true)] = Field(
        title="Make this change", description="Whether to make the change that is shown."
    )


class ChangeMade(TypedDict):
    done: str
    note: str | None
    paths: tuple[str, ...]


def add_write_tools(server: NoteServer, vault: Vault, memory_paths: MemoryPaths) -> None:
    """Add the tools that change notes to a server. A change of a file in `memory_paths` is shown
    with a warning.
    """
    for tool in load_tools(unsafe=True):
        if tool.writes:
            _add_write_tool(server, tool, vault, memory_paths)


def _add_write_tool(
    server: NoteServer, tool: Tool, vault: Vault, memory_paths: MemoryPaths
) -> None:
    """The proposal and the question are resolvers of the SDK, because the newest revision of the
    protocol asks in the answer to a call, and older ones during it. What is made is the change that
    was shown: the question is asked again if the note has changed meanwhile.
    """

    def propose(**arguments: Any) -> Change:
        change = tool.call(arguments, vault).change
        assert change is not None
        if len(change.diff) > LONGEST_DIFF:
            raise VaultError(
                f"{change.summary}: too large to be shown for approval",
                "Make it in `zkchat chat --unsafe`.",
            )
        return mark_memory_file(change, memory_paths.first_among(change.paths))

    def ask(change: Annotated[Change, Resolve(propose)]) -> Elicit[Approval]:
        shown = (
            f"Change your notes: {reveal_invisible(change.summary)}?",
            change.note,
            reveal_invisible(change.diff),
        )
        return Elicit("\n\n".join(filter(None, shown)), Approval)

    def make(
        *,
        change: Annotated[Change, Resolve(propose)],
        answer: Annotated[ElicitationResult[Approval], Resolve(ask)],
        **_: Any,
    ) -> ChangeMade:
        if not isinstance(answer, AcceptedElicitation) or not answer.data.approve:
            raise ToolError(f"{DECLINED.reason}.")
        vault.editor.apply(change)
        return {"done": change.summary, "note": change.note or None, "paths": change.paths}

    described = _described_parameters(tool)
    for function in (propose, make):
        _add_parameters(function, described)
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
