"""Drawer: one slash command per file, each declaring `COMMAND`. A command gets the session and its argument and answers with an Outcome.

Commands do not print and do not know the screen; so the interactive chat, a piped one and tests run the same.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from zkchat_cli.chat import pins
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.events import Event
from zkchat_cli.models import ConversationSummary
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views import conversation_list
from zkchat_cli.views.text import StyledLine


@dataclass(frozen=True, slots=True)
class Confirm:
    """Something that is done only when the user says yes to `question`. `unasked` is the command that says so beforehand, for a chat in
    which nobody can be asked.
    """

    question: str
    run: "Callable[[], CommandResult]"
    unasked: str


@dataclass(frozen=True, slots=True)
class PickItem:
    """One of several things to pick: `value` is what it is, `shown` how it is listed, `about` what is told of it besides."""

    value: str
    shown: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Pick:
    """Something to pick from; `run` gets the value of what was picked. Where nobody can pick, the outcome's lines are shown."""

    title: str
    choices: Sequence[PickItem]
    run: "Callable[[str], CommandResult]"


@dataclass(frozen=True, slots=True)
class NoteToOpen:
    """A note to open: the file, the line (from 1), and its text, for where nothing opens files."""

    file: Path
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What to show, and what the chat does next: ask for a yes, run a turn, go on (with another session, if given) or leave.

    `fitted` makes the text for a screen of so many columns, where there is one. What is `paged` may be longer than the screen, and is read
    through a pager there. `copied` goes to the clipboard; `typed` into the input line, for the user to change and send.
    """

    text: str = ""
    fitted: Callable[[int], str] | None = None
    lines: Sequence[StyledLine] = ()
    paged: bool = False
    session: ZkChatSession | None = None
    leave: bool = False
    turn: Generator[Event, None, None] | None = None
    confirm: Confirm | None = None
    pick: Pick | None = None
    copied: str | None = None
    opening: NoteToOpen | None = None
    typed: str = ""


class CompletionValue(str):
    """A value of an argument, with what is told of it beside: a conversation's id with its title."""

    __slots__ = ("about",)
    about: str

    def __new__(cls, value: str, about: str = "") -> "CompletionValue":
        made = super().__new__(cls, value)
        made.about = about
        return made


@dataclass(frozen=True, slots=True)
class SlashCommand:
    name: str
    help: str
    run: Callable[[ZkChatSession, str], CommandResult]
    argument: str = ""
    """How the argument is called in help, as `[instructions]`; empty when there is none."""
    values: Callable[[ZkChatSession], Sequence[str]] | None = None
    """What the argument may be, for completion; an `Offer` says more of itself. Not asked on the main thread: it may take its time."""
    more: str = ""
    """What `/help NAME` says besides, in whole sentences."""


def resumed(session: ZkChatSession, prefix: str) -> CommandResult:
    """Go on with another conversation, named by its id or the beginning of it."""
    other = session.open_conversation(prefix)
    title = truncate(other.conversation.title or other.conversation.id, conversation_list.LONGEST_TITLE)
    return CommandResult(f"Going on with “{title}”, {len(other.history)} messages.", session=other)


def to_resume(session: ZkChatSession, known: Sequence[ConversationSummary]) -> Pick | None:
    """Conversations to go on with one of; None where there is none."""
    choices = [PickItem(each.id, conversation_list.name(each), f"{conversation_list.facts(each)}, {each.id}") for each in known]
    return Pick("go on with", choices, lambda id_: resumed(session, id_)) if choices else None


def question(session: ZkChatSession, number: str = "") -> pins.TurnPart:
    """The question of turn `number`, which may be `last`, as may be left out. Raises UsageError that names the turns there are."""
    return pins.resolve_turn(session.history, f"{number or pins.LAST} question")[0]


def questions(session: ZkChatSession) -> list[str]:
    """For completion: the turns' numbers with what was asked, the last first."""
    return turns(each for each in pins.list_turn_parts(session.history) if each.part == "question")


def turns(found: Iterable[pins.TurnPart]) -> list[str]:
    """For completion: the numbers of turns with what they begin with, the last first."""
    begun = {each.turn: each.message.display_text for each in reversed(list(found))}
    return [CompletionValue(str(turn), truncate(text, 60)) for turn, text in begun.items()]
