"""/quit: leave; everything is stored."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:  # noqa: ARG001  every command has this shape
    return CommandResult(leave=True)


COMMAND = SlashCommand("quit", "leave; everything is stored", _run)
