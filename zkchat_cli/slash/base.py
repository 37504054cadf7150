"""What a slash command is, and what it returns.

Commands do not print and do not know the screen, so the interactive chat, a piped chat and tests run the same code.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from zkchat_cli.chat import pins
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.events import Event
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.text import StyledLine


@dataclass(frozen=True, slots=True)
class Confirm:
    """An action that runs only after a yes to `question`. In a pipe, the user has to type `command_without_asking` instead."""

    question: str
    run: "Callable[[], CommandResult]"
    command_without_asking: str


@dataclass(frozen=True, slots=True)
class NoteToOpen:
    """A note to open in an editor at a line (from 1); `text` is shown where there is no editor."""

    file: Path
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What to show, and what the chat does next: ask, run a turn, switch to another session, or quit.

    `render` returns the lines for a screen of that many columns, where they depend on the width. A `paged` result goes through the pager
    if it is longer than the screen. `input_text` goes into the input line, for the user to edit and send.
    """

    text: str = ""
    render: Callable[[int], Sequence[StyledLine]] | None = None
    lines: Sequence[StyledLine] = ()
    paged: bool = False
    session: ZkChatSession | None = None
    quit: bool = False
    turn: Generator[Event, None, None] | None = None
    confirm: Confirm | None = None
    clipboard: str | None = None
    open_note: NoteToOpen | None = None
    input_text: str = ""


class CompletionValue(str):
    """A completion with a description beside it: the id of a conversation with its title."""

    __slots__ = ("description",)
    description: str

    def __new__(cls, value: str, description: str = "") -> "CompletionValue":
        made = super().__new__(cls, value)
        made.description = description
        return made


@dataclass(frozen=True, slots=True)
class SlashCommand:
    name: str
    help: str
    run: Callable[[ZkChatSession, str], CommandResult]
    argument: str = ""
    """The argument as help shows it (`[instructions]`); empty if the command takes none."""
    values: Callable[[ZkChatSession], Sequence[str]] | None = None
    """Completions for the argument. Called in completion's own thread, so it may be slow."""
    details: str = ""
    """Whole sentences that `/help NAME` adds."""


def find_question(session: ZkChatSession, number: str = "") -> pins.TurnPart:
    """The question of turn `number` (default: the last). Raises UsageError that names the valid turns."""
    return pins.resolve_turn(session.history, f"{number or pins.LAST} question")[0]


def complete_questions(session: ZkChatSession) -> list[str]:
    return complete_turns(each for each in pins.list_turn_parts(session.history) if each.part == "question")


def complete_turns(parts: Iterable[pins.TurnPart]) -> list[str]:
    """The numbers of turns with how they begin, newest first."""
    beginnings = {each.turn: each.message.display_text for each in reversed(list(parts))}
    return [CompletionValue(str(turn), truncate(text, 60)) for turn, text in beginnings.items()]
