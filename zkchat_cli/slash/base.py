"""What a slash command is, and what it returns. Commands do not print: the chat, a pipe, the window
and editors run the same code.
"""

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.chat import numbered_turns
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.events import Event
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.references.provenance import Exchange, last_exchange
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.text import StyledLine

Lines = Iterable[StyledLine]
MAX_OPENING = 60


class YesNoQuestion(NamedTuple):
    """A question with the action that a yes runs. In a pipe, the user has to type
    `command_without_asking` instead.
    """

    text: str
    run: "Callable[[], CommandResult]"
    command_without_asking: str


class NoteToOpen(NamedTuple):
    """A note to open in an editor at a line (from 1); `text` is shown where there is no editor."""

    file: Path
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What to show, and what the chat does next: ask, run a turn, switch to another session, or
    quit.

    Where the lines depend on the width, `lines` has them for 80 columns, and `render` returns them
    for any. `input_text` is to be edited.
    """

    text: str = ""
    render: Callable[[int], Sequence[StyledLine]] | None = None
    lines: Sequence[StyledLine] = ()
    session: ZkChatSession | None = None
    quit: bool = False
    turn: Generator[Event, None, None] | None = None
    question: YesNoQuestion | None = None
    clipboard: str | None = None
    open_note: NoteToOpen | None = None
    input_text: str = ""


RunCommand = Callable[[ZkChatSession, str], CommandResult | str | Lines]
ListValues = Callable[[ZkChatSession], Sequence[str] | Mapping[str, str]]


class SlashCommand(NamedTuple):
    run: RunCommand
    name: str
    argument: str
    help: str
    details: str
    values: ListValues

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.argument}".rstrip()


DECLARED: dict[str, SlashCommand] = {}
"""By name: the commands in the files that have been imported."""


def slash_command(
    argument: str = "", values: ListValues = lambda _: ()
) -> Callable[[RunCommand], RunCommand]:
    """Declare a function as the command with its name, less a `_` at the end. The first line of its
    docstring is the command's help, and the rest is what `/help NAME` adds.

    `argument` is shown by the help: `TEXT` is required, `[TEXT]` is not. `values` returns
    completions for it, with descriptions if they are a mapping; they are computed in completion's
    own thread, so that may be slow.
    """

    def declare(run: RunCommand) -> RunCommand:
        name = run.__name__.removesuffix("_")
        title, _, details = (inspect.getdoc(run) or "").partition("\n\n")
        title = " ".join(title.split())
        title = title[:1].lower() + title[1:].rstrip(".")
        DECLARED[name] = SlashCommand(run, name, argument, title, " ".join(details.split()), values)
        return run

    return declare


def find_question(session: ZkChatSession, number: str = "") -> numbered_turns.TurnPart:
    """The question of turn `number` (default: the last). Raises UsageError that names the valid
    turns.
    """
    return numbered_turns.resolve_turn(
        session.history, f"{number or numbered_turns.LAST} question"
    )[0]


def last_answer(session: ZkChatSession) -> Exchange:
    """The last answer with its question. Raises UsageError if there is none."""
    if (last := last_exchange(session.history)) is None:
        raise UsageError("there is no answer yet", "Ask something first.")
    return last


def opening(message: ZkChatMessage) -> str:
    return truncate(message.display_text, MAX_OPENING)


def complete_turns(parts: Iterable[numbered_turns.TurnPart]) -> dict[str, str]:
    return {str(each.turn): opening(each.message) for each in reversed(list(parts))}


def complete_questions(session: ZkChatSession) -> dict[str, str]:
    return complete_turns(
        each for each in numbered_turns.list_turn_parts(session.history) if each.part == "question"
    )
