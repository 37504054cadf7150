"""The interface of a tool: a function of its scope (the notes or memory) and the model's arguments,
described by its signature.
"""

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

from zkchat_cli.errors import StoreError, UsageError, VaultError
from zkchat_cli.memory.memory import Memory
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.vault.vault import Vault

if TYPE_CHECKING:
    from zkchat_cli.vault.edit.transaction import Change

Scope = Literal["notes", "memory", "conversation", "server"]
# Characters of a link or a title in a result
MAX_SHOWN = 200
JSON_TYPES = {str: "string", int: "integer"}
Note = Annotated[str, "path or wikilink"]


class ToolArgumentError(Exception):
    """A wrong tool call; the text tells the model how to correct it."""


class ToolOutput(NamedTuple):
    """The result of a tool: citable chunks, of which the last are dropped if there is no room,
    other data, a note for the model (what was left out, how to get it), and the `outcome` in a few
    words for the user, unless the number of chunks says it.
    """

    chunks: tuple[ContentChunk, ...] = ()
    data: Mapping[str, object] = MappingProxyType({})
    note: str = ""
    outcome: str = ""
    # The change that a writing tool proposes; the caller asks for approval and applies it
    change: "Change | None" = None


class Tool(NamedTuple):
    name: str
    description: str
    schema: Mapping[str, Any]  # JSON schema of all arguments
    # Gets the Vault, or the Memory if the `scope` is not the notes, and the arguments by their
    # names
    run: Callable[..., ToolOutput]
    scope: Scope = "notes"
    """Memory tools exist only with `context.memory_integration` on. A tool of another program's
    `server` gets the arguments as they are: the server checks them, and the user is asked before it
    runs.
    """
    # Whether it changes notes. It exists only with --unsafe.
    writes: bool = False

    @property
    def descriptor(self) -> dict[str, Any]:
        """In the OpenAI function form."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.schema,
            },
        }

    def call(
        self, arguments: Mapping[str, Any], vault: Vault, memory: Memory | None = None
    ) -> ToolOutput:
        """Check the arguments against the schema and run. Raises ToolArgumentError for errors the
        model can correct.
        """
        if self.scope == "server":
            return self.run(arguments)
        parameters = self.schema["properties"]
        missing = [
            name
            for name in self.schema["required"]
            if arguments.get(name) is None or not str(arguments[name]).strip()
        ]
        if missing:
            raise ToolArgumentError(f"{self.name} needs {', '.join(missing)}")
        given = {name: value for name, value in arguments.items() if value is not None}
        for name, value in given.items():
            if name not in parameters:
                raise ToolArgumentError(
                    f"{self.name} has no argument {name!r:.60}; it has {', '.join(parameters)}"
                )
            expected = parameters[name]["type"]
            if JSON_TYPES.get(type(value)) != expected:
                raise ToolArgumentError(
                    f"{self.name}: {name} must be of type {expected}, not {value!r:.60}"
                )
        if self.scope != "notes" and memory is None:
            raise ToolArgumentError(f"{self.name} needs memory, and this conversation has none")
        try:
            return self.run(vault if self.scope == "notes" else memory, **given)
        except (VaultError, StoreError, UsageError) as e:
            raise ToolArgumentError(f"{e.message}. {e.hint}".strip()) from e


def declare_tool(
    run: Callable[..., ToolOutput], *, scope: Scope = "notes", writes: bool = False
) -> Tool:
    """The tool that a function describes by its docstring and its parameters after the first, each
    with a type and a text.
    """
    properties = {}
    required = []
    for parameter in list(inspect.signature(run).parameters.values())[1:]:
        kind, meaning = get_args(parameter.annotation)
        properties[parameter.name] = {
            "type": JSON_TYPES[(get_args(kind) or (kind,))[0]],
            "description": meaning,
        }
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    schema = {"type": "object", "properties": properties, "required": required}
    # A docstring is wrapped for readers of the code; each line break would cost the model a token.
    description = " ".join((run.__doc__ or "").split())
    return Tool(run.__name__, description, schema, run, scope, writes)
