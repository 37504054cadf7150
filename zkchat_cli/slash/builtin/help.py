"""Describes the commands and keys."""

from collections.abc import Iterator

from zkchat_cli import slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import Lines, SlashCommand, Topic, declare_command
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

KEYS = (
    ("Enter", "send; Alt+Enter or Ctrl+J starts a new line"),
    ("Tab", "complete /commands and their arguments, [[notes#headings, @files, #tags"),
    ("! COMMAND", "run a shell command, and offer its output for the next message"),
    ("Ctrl+R", "search the input history; Up on an empty line goes back in it"),
    ("Ctrl+X Ctrl+E", "write in your editor"),
    (
        "Ctrl+C",
        "stop an answer and keep what arrived; clear the line; twice on an empty line: quit",
    ),
    ("Ctrl+D", "quit, on an empty line"),
)


def help_(_: ZkChatSession, argument: str) -> Lines:
    """List the commands and keys, or describe one command."""
    if argument:
        yield from _description_lines(slash.find(argument.removeprefix("/")))
        return
    for topic, commands in slash.commands_by_topic().items():
        yield styled_line(topic.value, "bold")
        for command in commands:
            yield _row(command.usage, command.help)
    yield styled_line("Keys", "bold")
    for keys, meaning in KEYS:
        yield _row(keys, meaning)
    yield styled_line(
        "/help NAME describes one command. A unique prefix of a name is enough.", indent=0
    )


def _description_lines(command: SlashCommand) -> Iterator[StyledLine]:
    yield styled_line(command.usage, "bold")
    for text in (command.help, command.details):
        if text:
            yield styled_line(f"  {text}", indent=2)


def _row(left: str, right: str) -> StyledLine:
    return StyledLine((StyledSpan(f"  {left}", "cyan"),), (StyledSpan(right),), indent=6)


def _names(_: ZkChatSession) -> dict[str, str]:
    return {command.name: command.help for command in slash.commands()}


COMMAND = declare_command(
    help_, Topic.HELP, order=10, argument="[command]", values=_names, priority=4
)
