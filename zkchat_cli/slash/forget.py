"""/forget: delete a fact, with what it replaced."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if not argument:
        raise UsageError("forget what?", "/forget KEY; /memory lists the keys.")
    fact = session.memory.forget(argument)
    return CommandResult(f"Forgotten: {fact.content} ({fact.key})")


def _keys(session: ZkChatSession) -> list[str]:
    return session.memory.fact_keys()


COMMAND = SlashCommand("forget", "delete a fact that was remembered", _run, "KEY", _keys)
