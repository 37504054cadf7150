"""/forget: delete a remembered fact, with the versions it replaced."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _forget(session: ZkChatSession, argument: str) -> CommandResult:
    if not argument:
        raise UsageError("which fact?", "/forget KEY; /memory lists the keys.")
    fact = session.memory.forget(argument)
    return CommandResult(f"Forgotten: {fact.content} ({fact.key})")


COMMAND = SlashCommand("forget", "delete a remembered fact", _forget, "KEY", lambda session: session.memory.fact_keys())
