"""The interface of a tool: a name, a descriptor in the OpenAI function form, and `run`.

A tool gets the model's arguments and its scope (the notes or memory) and returns a ToolOutput. For wrong arguments it raises
ToolArgumentError, which goes back to the model as a short error. Tools are plain values, so the offline provider loads no model library.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from zkchat_cli.errors import StoreError, UsageError, VaultError
from zkchat_cli.memory.memory import Memory
from zkchat_cli.models import ContentChunk
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.vault import Vault

Arguments = Mapping[str, Any]
MAX_POSITION = 10**9
"""Larger than any line number or note count."""


class ToolArgumentError(Exception):
    """A wrong tool call; the text tells the model how to correct it."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The result of a tool: citable chunks, other data, a note for the model (what was left out, how to get it), and the `outcome` in a few
    words for the user, unless the number of chunks says it.

    If there is no room for all chunks, the last ones are dropped.
    """

    chunks: tuple[ContentChunk, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict)
    note: str = ""
    outcome: str = ""
    change: Change | None = None
    """The change that a writing tool proposes; the caller asks for approval and applies it."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    parameters: Mapping[str, Mapping[str, str]]
    """JSON schema of each argument."""
    required: tuple[str, ...]
    run: Callable[[Arguments, Any], ToolOutput]
    """Gets the arguments and the Vault, or the Memory if the `scope` is not the notes."""
    scope: Literal["notes", "memory", "conversation"] = "notes"
    """Memory tools exist only with `context.memory_integration` on."""
    writes: bool = False
    """Whether it changes notes. It exists only with --unsafe."""

    @property
    def descriptor(self) -> dict[str, Any]:
        schema = {"type": "object", "properties": {k: dict(v) for k, v in self.parameters.items()}, "required": list(self.required)}
        return {"type": "function", "function": {"name": self.name, "description": self.description, "parameters": schema}}

    def call(self, arguments: Arguments, vault: Vault, memory: Memory | None = None) -> ToolOutput:
        """Check the arguments against the schema and run. Raises ToolArgumentError for errors the model can correct."""
        missing = [name for name in self.required if _is_empty(arguments.get(name))]
        if missing:
            raise ToolArgumentError(f"{self.name} needs {', '.join(missing)}")
        for name, value in arguments.items():
            if name not in self.parameters:
                raise ToolArgumentError(f"{self.name} has no argument {name!r:.60}; it has {', '.join(self.parameters)}")
            expected = self.parameters[name]["type"]
            if value is not None and not _has_type(value, expected):
                raise ToolArgumentError(f"{self.name}: {name} must be of type {expected}, not {value!r:.60}")
        if self.scope != "notes" and memory is None:
            raise ToolArgumentError(f"{self.name} needs memory, which this conversation does not have")
        try:
            return self.run({k: v for k, v in arguments.items() if v is not None}, vault if self.scope == "notes" else memory)
        except (VaultError, StoreError, UsageError) as e:
            raise ToolArgumentError(f"{e.message}. {e.hint}".strip()) from e


def text(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


def number(description: str) -> dict[str, str]:
    return {"type": "integer", "description": description}


NOTE = text("path or wikilink")


def clamp_limit(arguments: Arguments, default: int, most: int) -> tuple[int, str]:
    """The requested limit, from 1 to `most`, and a note if the request was larger."""
    limit = arguments.get("limit", default)
    return max(1, min(most, limit)), f"{most} is the maximum." if limit > most else ""


def clamp_position(arguments: Arguments, name: str, default: int) -> int:
    """The requested line or offset, limited to numbers of a sane size."""
    value: int = arguments.get(name, default)
    return max(-MAX_POSITION, min(MAX_POSITION, value))


def join_notes(*notes: str) -> str:
    return " ".join(note for note in notes if note)


def plural(number: int, one: str, many: str = "") -> str:
    """`1 note`, `3 notes`, `no notes`."""
    return f"1 {one}" if number == 1 else f"{number or 'no'} {many or one + 's'}"


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _has_type(value: object, expected: str) -> bool:
    return isinstance(value, str) if expected == "string" else isinstance(value, int) and not isinstance(value, bool)
