"""/continue: let the model finish an answer that was cut off or stopped."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:  # noqa: ARG001  every command has this signature
    return CommandResult(turn=session.continue_answer())


COMMAND = SlashCommand("continue", "continue an answer that was cut off or stopped", _run)
