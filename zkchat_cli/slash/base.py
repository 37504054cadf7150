"""What a slash command is, and what it returns. Commands do not print: the chat, a pipe, the window
and editors run the same code.
"""

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.events import Event
from zkchat_cli.vault.edit.approval import Decision
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.views.text import StyledLine

Lines = Iterable[StyledLine]


class Topic(Enum):
    """The topics of `/help`, in the order in which it lists them."""

    SOURCES = "Check an answer"
    CONTEXT = "See and shrink the context"
    CONVERSATION = "Change or keep this conversation"
    OTHER_CONVERSATIONS = "Switch to another conversation"
    MEMORY = "Remember across conversations"
    SETTINGS = "Choose the model and settings"
    HELP = "Get help or leave"


class YesNoQuestion(NamedTuple):
    """A question, and the action to run after a yes.

    A pipe cannot ask: its user must type `command_without_asking` instead.
    """

    text: str
    run: "Callable[[], CommandResult]"
    command_without_asking: str


class ChangeProposal(NamedTuple):
    """A change of notes to show and to ask about, and the action to run with the user's decision.

    A pipe cannot ask: its user must type `command_without_asking` instead.
    """

    change: Change
    decide: "Callable[[Decision], CommandResult]"
    command_without_asking: str


class ChoiceOption(NamedTuple):
    """An option of a list: its value, and what is shown for it."""

    value: str
    label: str
    description: str = ""


class ListQuestion(NamedTuple):
    """A list to choose from, below a `note`, and the action to run with the chosen value. Where
    nobody can choose, the result's text and lines are shown instead.
    """

    title: str
    options: "Sequence[ChoiceOption]"
    run: "Callable[[str], CommandResult]"
    note: "Sequence[StyledLine]" = ()


class NoteToOpen(NamedTuple):
    """A note to open in an editor at a line (from 1); `text` is shown if there is no editor."""

    file: Path
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What to show, and what the chat does next: ask, run a turn, switch to another session, or
    quit.

    `then` is the command that follows a turn with an answer: /solve runs one turn after another.

    If the lines depend on the width, `lines` has them for 80 columns, and `render` returns them for
    any width. `input_text` is put into the input line for editing.
    """

    text: str = ""
    render: Callable[[int], Sequence[StyledLine]] | None = None
    lines: Sequence[StyledLine] = ()
    session: ZkChatSession | None = None
    quit: bool = False
    turn: Generator[Event, None, None] | None = None
    then: "Callable[[], CommandResult] | None" = None
    question: YesNoQuestion | None = None
    proposal: ChangeProposal | None = None
    choice: ListQuestion | None = None
    clipboard: str | None = None
    open_note: NoteToOpen | None = None
    input_text: str = ""


RunCommand = Callable[[ZkChatSession, str], CommandResult | str | Lines]
ListValues = Callable[[ZkChatSession], Sequence[str] | Mapping[str, str]]


def no_values(_session: ZkChatSession) -> Sequence[str]:
    """The completions of a command that has none."""
    return ()


class SlashCommand(NamedTuple):
    """A command for `/help`, completion and editors, and the function that runs it."""

    run: RunCommand
    name: str
    # What the help shows after the name: `TEXT` is required, `[TEXT]` is not
    argument: str
    # What it does, in one line that begins in lower case
    help: str
    # What `/help NAME` adds
    details: str
    # Completions of the argument, with descriptions if they are a mapping. They are computed on
    # completion's own thread, so they may take a while
    values: ListValues
    topic: Topic
    # Position in the topic; positions are in steps of ten, so that others fit between
    order: int
    # Completion offers the commands with the highest priority first
    priority: int
    # Whether editors offer it; for the others they have their own way
    in_editors: bool

    @property
    def usage(self) -> str:
        """The command as it is typed: `/edit [N [new text]]`"""
        return f"/{self.name} {self.argument}".rstrip()

    @property
    def needs_argument(self) -> bool:
        """Whether the command cannot run without an argument."""
        return bool(self.argument) and not self.argument.startswith("[")


def declare_command(
    run: RunCommand,
    topic: Topic,
    *,
    order: int,
    argument: str = "",
    values: ListValues = no_values,
    priority: int = 0,
    in_editors: bool = True,
) -> SlashCommand:
    """The command with the name of a function, less a `_` at the end. The first paragraph of its
    docstring is the command's help, and the rest is what `/help NAME` adds.
    """
    name = run.__name__.removesuffix("_")
    title, _, details = (inspect.getdoc(run) or "").partition("\n\n")
    title = " ".join(title.split()).rstrip(".")
    return SlashCommand(
        run=run,
        name=name,
        argument=argument,
        help=title[:1].lower() + title[1:],
        details=" ".join(details.split()),
        values=values,
        topic=topic,
        order=order,
        priority=priority,
        in_editors=in_editors,
    )


class FirstWord(NamedTuple):
    """The first word of a text and the text after it, without the blanks between the two."""

    word: str
    rest: str


def split_first_word(text: str) -> FirstWord:
    """The first word of an argument and the rest; both may be empty."""
    match text.split(maxsplit=1):
        case [word, rest]:
            return FirstWord(word, rest)
        case [word]:
            return FirstWord(word, rest="")
        case _:
            return FirstWord(word="", rest="")
