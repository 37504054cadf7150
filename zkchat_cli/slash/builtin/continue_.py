"""Continues an answer."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, Topic, declare_command


def continue_(session: ZkChatSession, _: str) -> CommandResult:
    """Continue an answer that was cut off or stopped."""
    return CommandResult(turn=session.continue_answer())


COMMAND = declare_command(continue_, Topic.CONVERSATION, order=50)
