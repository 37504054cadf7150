"""The order of the words on the command line, before Typer reads them.

Typer takes the options of the root only before the command, and those of a command only after it.
We take both anywhere: `zkchat -m MODEL ask …`, `zkchat ask … --verbose`, and `zkchat -c` for the
chat. `zkchat @AGENT …` and `zkchat --show-context …` ask a question.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from zkchat_cli.cli import typer_adapter
from zkchat_cli.cli.commands import COMMANDS

GLOBAL_OPTIONS = ("--no-color", "--verbose")
"""Options that every command accepts: they are moved to the front, where the root declares them."""
ROOT_OPTIONS = ("--version", "--help", "-h", "--install-completion", "--show-completion")
"""Options of the root; any other option before a command belongs to the chat."""
DEFAULT_COMMAND = "chat"
# The command for a line that begins with a mention, or has this option and no command
QUESTION_COMMAND = "ask"
QUESTION_OPTION = "--show-context"
MENTION = "@"


class GivenArguments(NamedTuple):
    """The words of a command line, in three groups.

    They are the options of the root, the words from `--` on, which are arguments in any case, and
    the others.
    """

    global_options: list[str]
    words: list[str]
    literal: list[str]


def split_arguments(arguments: Sequence[str]) -> GivenArguments:
    """The words of a command line, by group."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    before = arguments[:end]
    return GivenArguments(
        global_options=[word for word in before if word in GLOBAL_OPTIONS],
        words=[word for word in before if word not in GLOBAL_OPTIONS],
        literal=list(arguments[end:]),
    )


def with_command(words: list[str]) -> list[str]:
    """The words with their command in front; without one they are the chat's, or a question for
    `ask` if they mention an agent or a file first, or ask for the context. Options of the root and
    the names of commands stay in front. `--resume` without an id becomes `--continue`.
    """
    words = _replace_bare_resume(words)
    if _begins_with_command(words):
        return words
    is_question = QUESTION_OPTION in words
    position = _command_position(words, QUESTION_COMMAND if is_question else DEFAULT_COMMAND)
    leading = words[:position]
    rest = words[position:]
    if rest and rest[0] in COMMANDS.names():
        return [*rest, *leading]
    if is_question or (rest and rest[0].startswith(MENTION)):
        return [QUESTION_COMMAND, *words]
    return [DEFAULT_COMMAND, *words]


def _begins_with_command(words: list[str]) -> bool:
    """Whether the first word is an option of the root, or may be the name of a command."""
    if not words:
        return False
    return words[0] in ROOT_OPTIONS or not words[0].startswith(("-", MENTION))


def _replace_bare_resume(words: list[str]) -> list[str]:
    """The words with `--continue` for a `--resume` without an id, because Typer has no options with
    an optional value.
    """
    replaced: list[str] = []
    end = "-"
    for word, following in pairwise([*words, end]):
        has_no_id = following.startswith("-")
        replaced.append("--continue" if word == "--resume" and has_no_id else word)
    return replaced


def _command_position(words: list[str], name: str) -> int:
    """The position of the first word that is neither an option of the command with this name nor
    the value of one.
    """
    command: Any = typer_adapter.build_command(COMMANDS.load(name))
    with_value: set[str] = set()
    for option in command.params:
        if not getattr(option, "is_flag", False):
            with_value.update(option.opts)
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in with_value else 1
    return position
