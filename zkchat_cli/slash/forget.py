"""/forget: delete a fact, with what it replaced."""

from zkchat_cli.errors import UsageError
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand


def _run(session: ZkChatSession, argument: str) -> Outcome:
    if not argument:
        raise UsageError("forget what?", "/forget KEY; /memory lists the keys.")
    fact = session.keeper.forget(argument)
    return Outcome(f"Forgotten: {fact.content} ({fact.key})")


def _keys(session: ZkChatSession) -> list[str]:
    return session.keeper.keys()


COMMAND = SlashCommand("forget", "delete a fact that was remembered", _run, "KEY", _keys)
