"""Slash commands: finds the command that a line of the chat names, and runs it.

The commands are the files of `builtin`; each says itself where `/help` lists it.
"""

import difflib
from functools import cache

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.registry import Registry
from zkchat_cli.slash import builtin
from zkchat_cli.slash.base import CommandResult, SlashCommand, Topic, split_first_word

COMMANDS: Registry[SlashCommand] = Registry(builtin.__name__, "COMMAND")
# How similar the name of a command must be to be suggested: `/hlep` is near `/help`, `/nonsense`
# near nothing
NEAR = 0.6
MOST_NEAR = 3


@cache
def commands() -> tuple[SlashCommand, ...]:
    """All commands, the most used first, then the others in the order of `/help`."""
    return tuple(sorted(COMMANDS.load_all(), key=_completion_order))


def commands_by_topic() -> dict[Topic, list[SlashCommand]]:
    """All commands in the order of `/help`."""
    found: dict[Topic, list[SlashCommand]] = {topic: [] for topic in Topic}
    for command in sorted(commands(), key=lambda command: command.order):
        found[command.topic].append(command)
    return found


def _completion_order(command: SlashCommand) -> tuple[int, int, int]:
    return -command.priority, list(Topic).index(command.topic), command.order


def is_command(line: str) -> bool:
    """Whether a line is a command: a slash and a word. `/etc/hosts is …` is a message."""
    word, _ = split_first_word(line)
    return word.startswith("/") and (word == "/" or word[1:].isalpha())


def run_line(line: str, session: ZkChatSession) -> CommandResult:
    """Run a command, or begin the turn of a message. Raises UsageError as both do."""
    if is_command(line):
        return run(line, session)
    return CommandResult(turn=session.send(line))


def run(line: str, session: ZkChatSession) -> CommandResult:
    """Run `/name argument`. Raises UsageError for an unknown name, and for an argument that is
    missing or not taken.
    """
    word, argument = split_first_word(line.strip().removeprefix("/"))
    command = find(word)
    if argument and not command.argument:
        raise UsageError(
            f"/{command.name} takes no argument", f"/{command.name} alone will {command.help}."
        )
    if not argument and command.needs_argument:
        raise UsageError(
            f"/{command.name} needs {command.argument}",
            command.details or f"/help {command.name} describes it.",
        )
    result = command.run(session, argument)
    if isinstance(result, CommandResult):
        return result
    if isinstance(result, str):
        return CommandResult(result)
    return CommandResult(lines=[*result])


def find(word: str) -> SlashCommand:
    """The command with this name or unique prefix. Raises UsageError that names the nearest
    ones.
    """
    word = word.lower()
    names = COMMANDS.names()
    if word in names:
        return COMMANDS.load(word)
    matches = [name for name in names if word and name.startswith(word)]
    if len(matches) == 1:
        return COMMANDS.load(matches[0])
    if matches:
        in_order = [command.name for command in commands() if command.name in matches]
        raise _not_a_command(f"/{word} is ambiguous", in_order)
    nearest = difflib.get_close_matches(word, names, n=MOST_NEAR, cutoff=NEAR)
    raise _not_a_command(f"unknown command /{word}", nearest)


def _not_a_command(problem: str, suggestions: list[str]) -> UsageError:
    hint = "/help lists all commands."
    if suggestions:
        named = ", ".join(f"/{name}" for name in suggestions)
        hint = f"Did you mean {named}? {hint}"
    return UsageError(problem, hint)
