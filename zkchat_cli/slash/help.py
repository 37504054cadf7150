"""/help: the commands by what they are for, and the keys; `/help NAME` one command in detail."""

from collections.abc import Iterable, Sequence

from zkchat_cli import slash
from zkchat_cli.lines import Line, Span, line
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Offer, Outcome, SlashCommand

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
    ("Tab", "complete /commands and [[notes"),
    ("Ctrl+R", "search what you typed before"),
    ("Ctrl+C", "stop an answer and keep what came; clear the line; twice on an empty line: leave"),
    ("Ctrl+D", "leave, on an empty line"),
)


def _run(session: ZkChatSession, argument: str) -> Outcome:  # noqa: ARG001  every command has this shape
    if argument:
        return Outcome(lines=list(_detail(slash.find(argument.removeprefix("/")))))
    return Outcome(lines=list(_overview(slash.commands())), paged=True)


def _overview(commands: Sequence[SlashCommand]) -> Iterable[Line]:
    by_name = {command.name: command for command in commands}
    for title, names in GROUPS:
        yield from _group(title, [by_name.pop(name) for name in names if name in by_name])
    yield from _group(REST, list(by_name.values()))
    yield line("Keys", "bold")
    yield from (Line((Span(f"  {key}"),), (Span(what),)) for key, what in KEYS)
    yield line("/help NAME says more of a command. A beginning of its name will do.", "dim")


def _group(title: str, commands: Sequence[SlashCommand]) -> Iterable[Line]:
    if commands:
        yield line(title, "bold")
        yield from (Line((Span("  "), Span(f"/{c.name} {c.argument}".rstrip(), "cyan")), (Span(c.help),)) for c in commands)


def _detail(command: SlashCommand) -> Iterable[Line]:
    yield line(f"/{command.name} {command.argument}".rstrip(), "bold")
    yield line(f"  {command.help}", indent=2)
    if command.more:
        yield line(f"  {command.more}", indent=2)


def _names(session: ZkChatSession) -> list[str]:  # noqa: ARG001  every command has this shape
    return [Offer(command.name, command.help) for command in slash.commands()]


COMMAND = SlashCommand("help", "the commands and keys, or more of one command", _run, "[command]", _names)
