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
from zkchat_cli.text.numbers import read_whole_number
from zkchat_cli.vault.vault import Vault

if TYPE_CHECKING:
    from zkchat_cli.vault.edit.transaction import Change

Scope = Literal["notes", "memory", "conversation", "server"]
# The icon that an editor shows for a call, in the terms of the Agent Client Protocol
EditorKind = Literal["read", "search", "other"]
# Most characters of a link or a title in a result
MAX_SHOWN = 200
JSON_TYPES = {str: "string", int: "integer"}
Note = Annotated[str, "path or wikilink"]


class ToolArgumentError(Exception):
    """A wrong tool call. The text tells the model how to correct it."""


class ToolOutput(NamedTuple):
    """The result of a tool.

    The `chunks` can be cited; the last ones are dropped if there is no room. The `note` tells the
    model what was left out and how to get it. The `outcome` describes the result for the user in a
    few words, if the number of chunks does not.
    """

    chunks: tuple[ContentChunk, ...] = ()
    data: Mapping[str, object] = MappingProxyType({})
    note: str = ""
    outcome: str = ""
    # The change that a writing tool proposes; the caller asks for approval and applies it
    change: "Change | None" = None


class ToolParameter(NamedTuple):
    """An argument of a tool, as the signature of its function declares it."""

    name: str
    annotation: Any
    description: str
    default: Any
    is_required: bool

    @property
    def json_type(self) -> str:
        """The type in a JSON schema; an optional one has the type of its value."""
        alternatives = get_args(self.annotation) or (self.annotation,)
        return JSON_TYPES[alternatives[0]]


class Tool(NamedTuple):
    """What the model may call, and how calls are shown."""

    name: str
    description: str
    # JSON schema of all arguments
    schema: Mapping[str, Any]
    # Called with the Vault, or with the Memory if the `scope` is not the notes, and the arguments
    # by name
    run: Callable[..., ToolOutput]
    scope: Scope = "notes"
    """Memory tools exist only with `context.memory_integration` on. A tool of another program's
    `server` gets the arguments as they are: the server checks them, and the user is asked before it
    runs.
    """
    # Whether it changes notes. It exists only with --unsafe.
    writes: bool = False
    # What a call did, in the past tense, for the line below an answer; if empty, the tool's name is
    # shown
    verb: str = ""
    editor_kind: EditorKind = "other"
    # Whether it is offered even if there is no room for all tools
    core: bool = False

    @property
    def descriptor(self) -> dict[str, Any]:
        """The tool in the OpenAI function form."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.schema,
            },
        }

    @property
    def short_descriptor(self) -> dict[str, Any]:
        """The same without the arguments, for a model that knows them."""
        function = {"name": self.name, "description": self.description}
        return {"type": "function", "function": function}

    def call(
        self, arguments: Mapping[str, Any], vault: Vault, memory: Memory | None = None
    ) -> ToolOutput:
        """Check the arguments against the schema and run the tool.

        Raises ToolArgumentError for errors that the model can correct.
        """
        if self.scope == "server":
            return self.run(arguments)
        given = self._check_arguments(arguments)
        if self.scope != "notes" and memory is None:
            raise ToolArgumentError(f"{self.name} needs memory, and this conversation has none")
        subject = vault if self.scope == "notes" else memory
        try:
            return self.run(subject, **given)
        except (VaultError, StoreError, UsageError) as e:
            raise ToolArgumentError(f"{e.message}. {e.hint}".strip()) from e

    def _check_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that have a value. Raises ToolArgumentError for missing and wrong ones."""
        missing = [name for name in self.schema["required"] if _is_blank(arguments.get(name))]
        if missing:
            raise ToolArgumentError(f"{self.name} needs {', '.join(missing)}")
        parameters = self.schema["properties"]
        given = {name: value for name, value in arguments.items() if value is not None}
        for name, value in given.items():
            if name not in parameters:
                raise ToolArgumentError(
                    f"{self.name} has no argument {name!r:.60}; it has {', '.join(parameters)}"
                )
            expected = parameters[name]["type"]
            if expected == "integer":
                value = given[name] = read_whole_number(value)
            if JSON_TYPES.get(type(value)) != expected:
                raise ToolArgumentError(
                    f"{self.name}: {name} must be of type {expected}, not {value!r:.60}"
                )
        return given


def _is_blank(value: object) -> bool:
    return value is None or not str(value).strip()


def declare_tool(
    run: Callable[..., ToolOutput],
    *,
    scope: Scope = "notes",
    writes: bool = False,
    verb: str = "",
    editor_kind: EditorKind = "other",
    core: bool = False,
) -> Tool:
    """The tool that a function describes by its docstring and its parameters after the first, each
    with a type and a text.
    """
    parameters = read_parameters(run)
    schema = {
        "type": "object",
        "properties": {
            each.name: {"type": each.json_type, "description": each.description}
            for each in parameters
        },
        "required": [each.name for each in parameters if each.is_required],
    }
    # A docstring is wrapped for readers of the code; each line break would cost the model a token.
    description = " ".join((run.__doc__ or "").split())
    return Tool(
        name=run.__name__,
        description=description,
        schema=schema,
        run=run,
        scope=scope,
        writes=writes,
        verb=verb,
        editor_kind=editor_kind,
        core=core,
    )


def read_parameters(run: Callable[..., ToolOutput]) -> list[ToolParameter]:
    """The arguments of a tool's function, without the first, which is the vault or the memory."""
    _, *declared = inspect.signature(run).parameters.values()
    parameters = []
    for parameter in declared:
        annotation, description = get_args(parameter.annotation)
        is_required = parameter.default is parameter.empty
        parameters.append(
            ToolParameter(parameter.name, annotation, description, parameter.default, is_required)
        )
    return parameters
