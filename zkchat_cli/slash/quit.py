"""/quit: leave; everything is stored."""

from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand


def _run(session: ZkChatSession, argument: str) -> Outcome:  # noqa: ARG001  every command has this shape
    return Outcome(leave=True)


COMMAND = SlashCommand("quit", "leave; everything is stored", _run)
