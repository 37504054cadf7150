"""/remember: remember a fact in later conversations; `NAME: VALUE` replaces the old value.

The fact is sent with messages that it is relevant to. /memory lists all facts, /forget KEY deletes one.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _remember(session: ZkChatSession, argument: str) -> CommandResult:
    update = session.memory.remember(argument)
    text = f"Remembered as {update.fact.key}: {update.fact.content}"
    if update.replaced is not None and update.replaced.content != update.fact.content:
        text += f"\nIt replaces the fact of {update.replaced.created_at[:10]}: {update.replaced.content}"
    return CommandResult(text)


COMMAND = SlashCommand(_remember, "TEXT")
