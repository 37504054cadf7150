"""/help: the commands and keys."""

from zkchat_cli import slash
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand

KEYS = (
    ("Enter", "send; Alt+Enter or Ctrl+J begins a new line"),
    ("Tab", "complete /commands and their arguments, [[notes#headings, @files"),
    ("Ctrl+R", "search what you typed before; Up on an empty line goes back to it"),
    ("Ctrl+X Ctrl+E", "write in your editor"),
    ("Ctrl+C", "stop an answer and keep what came; clear the line; twice on an empty line: leave"),
    ("Ctrl+D", "leave, on an empty line"),
)


def _run(session: ZkChatSession, argument: str) -> Outcome:  # noqa: ARG001  every command has this shape
    rows = [(f"/{c.name} {c.argument}".strip(), c.help) for c in slash.commands()]
    rows += KEYS
    width = max(len(left) for left, _ in rows)
    return Outcome("\n".join(f"  {left:<{width}}  {right}" for left, right in rows))


COMMAND = SlashCommand("help", "the commands and keys", _run)
