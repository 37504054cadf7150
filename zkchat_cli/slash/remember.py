"""/remember: remember a fact in later conversations; `NAME: VALUE` replaces the old value.

The fact is sent with messages that it is relevant to. /memory lists all facts, /forget KEY deletes one.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _remember(session: ZkChatSession, argument: str) -> CommandResult:
    return CommandResult(session.memory.remember(argument).description)


COMMAND = SlashCommand(_remember, "TEXT")
