"""/retry: ask the last question again.

The previous answer stays: /branches goes back to it.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _retry(session: ZkChatSession, _: str) -> CommandResult:
    return CommandResult(turn=session.ask_again(base.find_question(session).message))


COMMAND = SlashCommand(_retry)
