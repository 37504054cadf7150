"""Drawer: what the model may call. Each file declares `TOOL`: a name, a descriptor in the OpenAI function form, and `run`.

A tool gets the model's arguments as they came and what it is `of`, the notes or memory, and answers with a Finding; wrong arguments are a
ToolMistake, which goes back to the model as a short error that it can correct. Tools are plain values of our own, so that the offline
provider never loads a model library.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from zkchat_cli.errors import StoreError, UsageError, VaultError
from zkchat_cli.memory.memory import Memory
from zkchat_cli.models import ContentChunk
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.vault import Vault

FINISH = "finish"

MAX_POSITION = 10**9
"""No note has as many lines, no vault as many notes."""


class ToolArgumentError(Exception):
    """The model called a tool wrongly: the text tells it how to do better."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool found: chunks that can be cited, other data, a note (what was left out, how to get it), and for who watches what came of
    it in a few words, where the number of chunks does not say that.

    The chunks that matter most come first, or those of a note in its order: when there is no room for all, the last ones go.
    """

    chunks: tuple[ContentChunk, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict)
    note: str = ""
    outcome: str = ""
    change: Change | None = None
    """What a tool that writes proposes; whoever runs it has it approved, and makes it."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    parameters: Mapping[str, Mapping[str, Any]]
    """JSON schema of each argument."""
    required: tuple[str, ...]
    run: Callable[[Mapping[str, Any], Any], ToolOutput]
    """Gets the arguments and the Vault; or, where the tool is not `of` the notes, the Memory."""
    parallel: bool = True
    """Whether it only reads, so that several such calls may run at once. What is of memory does not: its store belongs to one thread."""
    scope: Literal["notes", "memory", "conversation", "run"] = "notes"
    """What it is about. A tool of memory is not there while `context.memory_integration` is off; one of a run is only there in agent runs,
    and ends the turn, of which its argument `answer` is the answer."""
    writes: bool = False
    """Whether it proposes changes to the notes. It is there only with --unsafe, and runs alone."""

    @property
    def descriptor(self) -> dict[str, Any]:
        schema = {"type": "object", "properties": {k: dict(v) for k, v in self.parameters.items()}, "required": list(self.required)}
        return {"type": "function", "function": {"name": self.name, "description": self.description, "parameters": schema}}

    def call(self, arguments: Mapping[str, Any], vault: Vault, memory: Memory | None = None) -> ToolOutput:
        """Check the arguments against the schema and run. Raises ToolMistake for what the model can correct."""
        missing = [name for name in self.required if _is_empty(arguments.get(name))]
        if missing:
            raise ToolArgumentError(f"{self.name} needs {', '.join(missing)}")
        for name, value in arguments.items():
            if name not in self.parameters:
                raise ToolArgumentError(f"{self.name} has no argument {name!r:.60}; it has {', '.join(self.parameters)}")
            wanted = self.parameters[name]["type"]
            if value is not None and not _is(value, wanted):
                raise ToolArgumentError(f"{self.name}: {name} must be of type {wanted}, not {value!r:.60}")
        if self.scope != "notes" and memory is None:
            raise ToolArgumentError(f"{self.name} is of no use here: there is no memory")
        try:
            return self.run({k: v for k, v in arguments.items() if v is not None}, vault if self.scope == "notes" else memory)
        except (VaultError, StoreError, UsageError) as e:
            raise ToolArgumentError(f"{e.message}. {e.hint}".strip()) from e


def clamp_limit(arguments: Mapping[str, Any], default: int, most: int) -> tuple[int, str]:
    """The limit that a call asks for, from 1 to `most`, and a note when it asked for more than there is to be had at once."""
    wanted = arguments.get("limit", default)
    return max(1, min(most, wanted)), f"{most} is the most at once." if wanted > most else ""


def clamp_position(arguments: Mapping[str, Any], name: str, default: int) -> int:
    """A line or an offset that a call asks for, kept to numbers that can be shown."""
    asked: int = arguments.get(name, default)
    return max(-MAX_POSITION, min(MAX_POSITION, asked))


def join_notes(*notes: str) -> str:
    """The notes that say something, as one."""
    return " ".join(note for note in notes if note)


def plural(number: int, one: str, many: str = "") -> str:
    """`1 note`, `3 notes`, `no notes`."""
    return f"1 {one}" if number == 1 else f"{number or 'no'} {many or one + 's'}"


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _is(value: object, wanted: str) -> bool:
    return isinstance(value, str) if wanted == "string" else isinstance(value, int) and not isinstance(value, bool)
