"""Registry of slash commands. Each file has the commands of a topic of `/help`, as functions
decorated with `slash_command`.
"""

import difflib
import importlib

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import DECLARED, CommandResult, SlashCommand

GROUPS = {
    "Check an answer": ("sources", "refs sources ground check why related open search"),
    "See and shrink the context": ("context", "context compact show pin unpin strategy tokens"),
    "Change or keep this conversation": (
        "conversation",
        "undo redo retry edit continue branches clear copy save export rename",
    ),
    "Switch to another conversation": ("conversation", "new sessions resume"),
    "Remember across conversations": ("memory", "memory remember forget"),
    "Choose the model and settings": ("settings", "model agent config mcp verbose"),
    "Get help or leave": ("help", "help quit"),
}
"""By topic, in the order of `/help`: the file that has its commands, and their names."""
# How similar the name of a command must be to be suggested: `/hlep` is near `/help`, `/nonsense`
# near nothing
NEAR = 0.6
_FIRST = ("help", "context", "refs", "compact")  # the most used commands
_FILES = dict.fromkeys(_FIRST, "") | {
    name: file for file, names in GROUPS.values() for name in names.split()
}
"""The file of each command: the most used first, as completion offers them, then by topic."""


def commands() -> list[SlashCommand]:
    return [_load(name) for name in _FILES]


def _load(name: str) -> SlashCommand:
    importlib.import_module(f"{__name__}.{_FILES[name]}")
    return DECLARED[name]


def is_command(line: str) -> bool:
    """Whether a line is a command: a slash and a word. `/etc/hosts is …` is a message."""
    word = (line.split(maxsplit=1) or [""])[0]
    return word.startswith("/") and (word == "/" or word[1:].isalpha())


def run_line(line: str, session: ZkChatSession) -> CommandResult:
    """Run a command, or begin the turn of a message. Raises UsageError as both do."""
    return run(line, session) if is_command(line) else CommandResult(turn=session.send(line))


def run(line: str, session: ZkChatSession) -> CommandResult:
    """Run `/name argument`. Raises UsageError for an unknown name, and for an argument that is
    missing or not taken.
    """
    word, argument = (*line.strip().removeprefix("/").split(maxsplit=1), "", "")[:2]
    command = find(word)
    if argument and not command.argument:
        raise UsageError(
            f"/{command.name} takes no argument", f"/{command.name} alone will {command.help}."
        )
    if not argument and command.argument and not command.argument.startswith("["):
        raise UsageError(
            f"/{command.name} needs {command.argument}",
            command.details or f"/help {command.name} describes it.",
        )
    result = command.run(session, argument)
    if isinstance(result, CommandResult):
        return result
    return CommandResult(result) if isinstance(result, str) else CommandResult(lines=[*result])


def find(word: str) -> SlashCommand:
    """The command with this name or unique prefix. Raises UsageError that names the nearest
    ones.
    """
    word = word.lower()
    matches = (
        [word] if word in _FILES else [name for name in _FILES if word and name.startswith(word)]
    )
    if len(matches) == 1:
        return _load(matches[0])
    nearest = ", ".join(
        f"/{name}" for name in matches or difflib.get_close_matches(word, _FILES, n=3, cutoff=NEAR)
    )
    problem = f"/{word} is ambiguous" if matches else f"unknown command /{word}"
    raise UsageError(
        problem,
        f"Did you mean {nearest}? /help lists all commands."
        if nearest
        else "/help lists all commands.",
    )
