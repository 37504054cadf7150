"""Registry of slash commands: each module declares the `COMMANDS` of a topic."""

import difflib
import sys

from zkchat_cli import registry
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, SlashCommand

_TOPICS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Context", ("context",)),
    ("Sources", ("documents", "sources")),
    ("This conversation", ("turns", "exports")),
    ("Conversations", ("conversations",)),
    ("Memory", ("memory",)),
    ("Model and settings", ("settings", "agent")),
    ("Chat", ("help",)),
)
"""The modules of each topic, in the order of `/help`."""
_FIRST = ("help", "context", "refs", "compact")
"""The most used commands, which completion offers first."""


def topics() -> list[tuple[str, list[SlashCommand]]]:
    """The commands by topic, in the order of `/help`."""
    package = sys.modules[__name__]
    return [(topic, [command for name in modules for command in registry.load(package, name, "COMMANDS")]) for topic, modules in _TOPICS]


def commands() -> list[SlashCommand]:
    """All commands: the most used first, then by topic."""
    by_topic = [command for _, group in topics() for command in group]
    return sorted(by_topic, key=lambda command: _FIRST.index(command.name) if command.name in _FIRST else len(_FIRST))


def is_command(line: str) -> bool:
    """Whether a line is a command: a slash and a word. `/etc/hosts is …` is a message."""
    word = (line.split(maxsplit=1) or [""])[0]
    return word.startswith("/") and (word == "/" or word[1:].isalpha())


def run(line: str, session: ZkChatSession) -> CommandResult:
    """Run `/name argument`. Raises UsageError for an unknown name."""
    word, argument = (*line.strip().removeprefix("/").split(maxsplit=1), "", "")[:2]
    return find(word).run(session, argument.strip())


def find(word: str) -> SlashCommand:
    """The command with this name or unique prefix. Raises UsageError that names the nearest ones."""
    word = word.lower()
    known = {command.name: command for command in commands()}
    matches = [word] if word in known else [name for name in known if word and name.startswith(word)]
    if len(matches) == 1:
        return known[matches[0]]
    nearest = ", ".join(f"/{name}" for name in matches or difflib.get_close_matches(word, known, n=3, cutoff=0.4))
    problem = f"/{word} is ambiguous" if matches else f"unknown command /{word}"
    raise UsageError(problem, f"Did you mean {nearest}? /help lists all commands." if nearest else "/help lists all commands.")
