"""/forget: delete a remembered fact.

/memory lists the keys.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _forget(session: ZkChatSession, argument: str) -> CommandResult:
    fact = session.memory.forget(argument)
    return CommandResult(f"Forgotten: {fact.content} ({fact.key})")


COMMAND = SlashCommand(_forget, "KEY", lambda session: session.memory.fact_keys())
