"""Drawer: one slash command per file, each declaring `COMMAND`. A command gets the session and its argument and answers with an Outcome.

Commands do not print and do not know the screen; so the interactive chat, a piped one and tests run the same.
"""

import difflib
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from zkchat_cli import conversations, drawer, marking
from zkchat_cli.errors import UsageError
from zkchat_cli.events import Event
from zkchat_cli.lines import Line
from zkchat_cli.models import Overview
from zkchat_cli.session import ZkChatSession
from zkchat_cli.words import shorten

MOST_USED_FIRST = (
    *("help", "context", "refs", "compact", "undo", "redo", "retry", "edit", "continue", "branches", "pin", "unpin", "priority", "search"),
    *("show", "sources", "why", "open", "new", "clear", "sessions", "resume", "rename", "export", "save", "copy", "model", "agent"),
    *("solve", "strategy", "memory", "remember", "forget", "tokens", "config", "verbose", "quit"),
)
"""One that is not named here comes after these."""


@dataclass(frozen=True, slots=True)
class Confirm:
    """Something that is done only when the user says yes to `question`. `unasked` is the command that says so beforehand, for a chat in
    which nobody can be asked.
    """

    question: str
    run: "Callable[[], Outcome]"
    unasked: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several things to pick: `value` is what it is, `shown` how it is listed, `about` what is told of it besides."""

    value: str
    shown: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Pick:
    """Something to pick from; `run` gets the value of what was picked. Where nobody can pick, the outcome's lines are shown."""

    title: str
    choices: Sequence[Choice]
    run: "Callable[[str], Outcome]"


@dataclass(frozen=True, slots=True)
class Opening:
    """A note to open: the file, the line (from 1), and its text, for where nothing opens files."""

    file: Path
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to show, and what the chat does next: ask for a yes, run a turn, go on (with another session, if given) or leave.

    `fitted` makes the text for a screen of so many columns, where there is one. What is `paged` may be longer than the screen, and is read
    through a pager there. `copied` goes to the clipboard; `typed` into the input line, for the user to change and send.
    """

    text: str = ""
    fitted: Callable[[int], str] | None = None
    lines: Sequence[Line] = ()
    paged: bool = False
    session: ZkChatSession | None = None
    leave: bool = False
    turn: Generator[Event, None, None] | None = None
    confirm: Confirm | None = None
    pick: Pick | None = None
    copied: str | None = None
    opening: Opening | None = None
    typed: str = ""


class Offer(str):
    """A value of an argument, with what is told of it beside: a conversation's id with its title."""

    __slots__ = ("about",)
    about: str

    def __new__(cls, value: str, about: str = "") -> "Offer":
        made = super().__new__(cls, value)
        made.about = about
        return made


@dataclass(frozen=True, slots=True)
class SlashCommand:
    name: str
    help: str
    run: Callable[[ZkChatSession, str], Outcome]
    argument: str = ""
    """How the argument is called in help, as `[instructions]`; empty when there is none."""
    values: Callable[[ZkChatSession], Sequence[str]] | None = None
    """What the argument may be, for completion; an `Offer` says more of itself. Not asked on the main thread: it may take its time."""
    more: str = ""
    """What `/help NAME` says besides, in whole sentences."""


def resumed(session: ZkChatSession, prefix: str) -> Outcome:
    """Go on with another conversation, named by its id or the beginning of it."""
    other = session.other(prefix)
    title = shorten(other.conversation.title or other.conversation.id, conversations.LONGEST_TITLE)
    return Outcome(f"Going on with “{title}”, {len(other.history)} messages.", session=other)


def to_resume(session: ZkChatSession, known: Sequence[Overview]) -> Pick | None:
    """Conversations to go on with one of; None where there is none."""
    choices = [Choice(each.id, conversations.name(each), f"{conversations.facts(each)}, {each.id}") for each in known]
    return Pick("go on with", choices, lambda id_: resumed(session, id_)) if choices else None


def names() -> list[str]:
    """All commands, most used first."""
    order = {name: i for i, name in enumerate(MOST_USED_FIRST)}
    return sorted(drawer.names(sys.modules[__name__]), key=lambda name: (order.get(name, len(order)), name))


def commands() -> list[SlashCommand]:
    return [drawer.take(sys.modules[__name__], name, "COMMAND") for name in names()]


def is_command(line: str) -> bool:
    """Whether a line is meant as a command: a slash and a word. `/etc/hosts is …` is not."""
    word = (line.split(maxsplit=1) or [""])[0]
    return word.startswith("/") and (word == "/" or word[1:].isalpha())


def run(line: str, session: ZkChatSession) -> Outcome:
    """Run `/name argument`; a unique prefix of the name will do. Raises UsageError that names the nearest commands."""
    word, argument = (*line.strip().removeprefix("/").split(maxsplit=1), "", "")[:2]
    return find(word).run(session, argument.strip())


def find(word: str) -> SlashCommand:
    """The command of this name or unique prefix. Raises UsageError that names the nearest commands."""
    word = word.lower()
    known = names()
    matches = [word] if word in known else [name for name in known if word and name.startswith(word)]
    if len(matches) != 1:
        near = matches or difflib.get_close_matches(word, known, n=3, cutoff=0.4)
        problem = f"/{word} could be several commands" if matches else f"there is no command /{word}"
        raise UsageError(
            problem, f"Nearest: {', '.join('/' + name for name in near)}. All of them: /help" if near else "All of them: /help"
        )
    command: SlashCommand = drawer.take(sys.modules[__name__], matches[0], "COMMAND")
    return command


def question(session: ZkChatSession, number: str = "") -> marking.Numbered:
    """The question of turn `number`, which may be `last`, as may be left out. Raises UsageError that names the turns there are."""
    return marking.meant(session.history, f"{number or marking.LAST} question")[0]


def questions(session: ZkChatSession) -> list[str]:
    """For completion: the turns' numbers with what was asked, the last first."""
    return turns(each for each in marking.numbered(session.history) if each.part == "question")


def turns(found: Iterable[marking.Numbered]) -> list[str]:
    """For completion: the numbers of turns with what they begin with, the last first."""
    begun = {each.turn: each.message.typed for each in reversed(list(found))}
    return [Offer(str(turn), shorten(text, 60)) for turn, text in begun.items()]
