"""/help: the commands by what they are for, and the keys; `/help NAME` one command in detail."""

import textwrap
from collections.abc import Iterable, Sequence

from zkchat_cli import slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, CompletionValue, SlashCommand
from zkchat_cli.views.text import StyledLine, styled_line

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("This conversation", ("undo", "redo", "retry", "edit", "continue", "branches", "clear", "copy", "save", "export", "rename")),
    ("What the model sees", ("context", "compact", "show", "pin", "unpin", "priority", "strategy", "tokens")),
    ("What answers rest on", ("sources", "refs", "why", "open", "search")),
    ("Memory", ("memory", "remember", "forget")),
    ("Other conversations", ("new", "sessions", "resume")),
    ("Who answers, and how", ("model", "agent", "solve", "config", "verbose")),
)
"""Most used first; a command that no group names stands in the last one."""
REST = "The chat"
KEYS = (
    ("Enter", "send; Alt+Enter or Ctrl+J begins a new line"),
    ("Tab", "complete /commands and their arguments, [[notes#headings, @files"),
    ("Ctrl+R", "search what you typed before; Up on an empty line goes back to it"),
    ("Ctrl+X Ctrl+E", "write in your editor"),
    ("Ctrl+C", "stop an answer and keep what came; clear the line; twice on an empty line: leave"),
    ("Ctrl+D", "leave, on an empty line"),
)


LEFT = 22
"""Columns for a command and its argument; one that takes more has a line to itself."""
NARROW = 60
"""Columns below which what a command does stands below it, not beside it."""
UNBROKEN = 10_000


def _run(session: ZkChatSession, argument: str) -> CommandResult:  # noqa: ARG001  every command has this shape
    if argument:
        return CommandResult(lines=list(_detail(slash.find(argument.removeprefix("/")))))
    commands = slash.commands()

    def fitted(width: int) -> str:
        return "\n".join(_overview(commands, width))

    return CommandResult(fitted(UNBROKEN), fitted, paged=True)


def _overview(commands: Sequence[SlashCommand], width: int) -> Iterable[str]:
    by_name = {command.name: command for command in commands}
    groups = [(title, [by_name.pop(name) for name in names if name in by_name]) for title, names in GROUPS]
    for title, group in (*groups, (REST, list(by_name.values()))):
        if group:
            yield title
            yield from (row for c in group for row in _row(f"/{c.name} {c.argument}".rstrip(), c.help, width))
    yield "Keys"
    yield from (row for key, what in KEYS for row in _row(key, what, width))
    yield from textwrap.wrap("/help NAME says more of a command. The beginning of its name will do.", max(20, width))


def _row(left: str, right: str, width: int) -> Iterable[str]:
    if width < NARROW:
        yield from textwrap.wrap(left, max(20, width), initial_indent="  ", subsequent_indent="    ")
        yield from textwrap.wrap(right, max(20, width), initial_indent=" " * 6, subsequent_indent=" " * 6)
        return
    below = textwrap.wrap(right, width - LEFT - 4)
    if len(left) > LEFT:
        yield f"  {left}"
    else:
        yield f"  {left:<{LEFT}}  {below.pop(0)}"
    yield from (f"{'':<{LEFT + 4}}{each}" for each in below)


def _detail(command: SlashCommand) -> Iterable[StyledLine]:
    yield styled_line(f"/{command.name} {command.argument}".rstrip(), "bold")
    yield styled_line(f"  {command.help}", indent=2)
    if command.more:
        yield styled_line(f"  {command.more}", indent=2)


def _names(session: ZkChatSession) -> list[str]:  # noqa: ARG001  every command has this shape
    return [CompletionValue(command.name, command.help) for command in slash.commands()]


COMMAND = SlashCommand("help", "the commands and keys, or more of one command", _run, "[command]", _names)
