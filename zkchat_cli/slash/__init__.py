"""Drawer: one slash command per file, each declaring `COMMAND`. A command gets the session and its argument and answers with an Outcome.

Commands do not print and do not know the screen; so the interactive chat, a piped one and tests run the same.
"""

import difflib
import sys

from zkchat_cli import registry
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, SlashCommand

MOST_USED_FIRST = (
    *("help", "context", "refs", "compact", "undo", "redo", "retry", "edit", "continue", "branches", "pin", "unpin", "priority", "search"),
    *("show", "sources", "why", "open", "new", "clear", "sessions", "resume", "rename", "export", "save", "copy", "model", "agent"),
    *("solve", "strategy", "memory", "remember", "forget", "tokens", "config", "verbose", "quit"),
)
"""One that is not named here comes after these."""


def names() -> list[str]:
    """All commands, most used first."""
    order = {name: i for i, name in enumerate(MOST_USED_FIRST)}
    return sorted(registry.names(sys.modules[__name__]), key=lambda name: (order.get(name, len(order)), name))


def commands() -> list[SlashCommand]:
    return [registry.load(sys.modules[__name__], name, "COMMAND") for name in names()]


def is_command(line: str) -> bool:
    """Whether a line is meant as a command: a slash and a word. `/etc/hosts is …` is not."""
    word = (line.split(maxsplit=1) or [""])[0]
    return word.startswith("/") and (word == "/" or word[1:].isalpha())


def run(line: str, session: ZkChatSession) -> CommandResult:
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
    command: SlashCommand = registry.load(sys.modules[__name__], matches[0], "COMMAND")
    return command
