"""/continue: go on with an answer that was cut by its length, or stopped."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:  # noqa: ARG001  every command has this shape
    return CommandResult(turn=session.continue_answer())


COMMAND = SlashCommand("continue", "go on with an answer that was cut or stopped", _run)
