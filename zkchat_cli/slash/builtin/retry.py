"""Asks the last question again."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, Topic, declare_command
from zkchat_cli.slash.lookups import find_question


def retry(session: ZkChatSession, _: str) -> CommandResult:
    """Ask the last question again.

    The previous answer stays: /branches goes back to it.
    """
    return CommandResult(turn=session.ask_again(find_question(session).message))


COMMAND = declare_command(retry, Topic.CONVERSATION, order=30)
