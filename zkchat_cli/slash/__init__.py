"""Drawer: one slash command per file, each declaring `COMMAND`. A command gets the session and its argument and answers with an Outcome.

Commands do not print and do not know the screen; so the interactive chat, a piped one and tests run the same.
"""

import difflib
import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from zkchat_cli import drawer
from zkchat_cli.errors import UsageError
from zkchat_cli.events import Event
from zkchat_cli.lines import Line
from zkchat_cli.session import ZkChatSession

MOST_USED_FIRST = (
    *("help", "context", "refs", "compact", "continue", "pin", "unpin", "priority", "sources", "why", "new", "export", "save", "model"),
    *("memory", "remember", "forget", "verbose", "quit"),
)


@dataclass(frozen=True, slots=True)
class Confirm:
    """Something that is done only when the user says yes to `question`. `unasked` is the command that says so beforehand, for a chat in
    which nobody can be asked.
    """

    question: str
    run: "Callable[[], Outcome]"
    unasked: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to show, and what the chat does next: ask for a yes, run a turn, go on (with another session, if given) or leave.

    `fitted` makes the text for a screen of so many columns, where there is one.
    """

    text: str = ""
    fitted: Callable[[int], str] | None = None
    lines: Sequence[Line] = ()
    session: ZkChatSession | None = None
    leave: bool = False
    turn: Generator[Event, None, None] | None = None
    confirm: Confirm | None = None


@dataclass(frozen=True, slots=True)
class SlashCommand:
    name: str
    help: str
    run: Callable[[ZkChatSession, str], Outcome]
    argument: str = ""
    """How the argument is called in help, as `[instructions]`; empty when there is none."""
    values: Callable[[ZkChatSession], Sequence[str]] | None = None
    """What the argument may be, for completion. It may take its time: it is not asked on the main thread."""


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
    word = word.lower()
    known = names()
    matches = [word] if word in known else [name for name in known if word and name.startswith(word)]
    if len(matches) != 1:
        near = matches or difflib.get_close_matches(word, known, n=3, cutoff=0.4) or known
        problem = f"/{word} could be several commands" if matches else f"there is no command /{word}"
        raise UsageError(problem, f"Nearest: {', '.join('/' + name for name in near)}. All of them: /help")
    command: SlashCommand = drawer.take(sys.modules[__name__], matches[0], "COMMAND")
    return command.run(session, argument.strip())
