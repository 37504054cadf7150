"""/quit: leave the chat."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:  # noqa: ARG001  every command has this signature
    return CommandResult(quit=True)


COMMAND = SlashCommand("quit", "leave the chat; the conversation stays stored", _run)
