"""/continue: go on with an answer that was cut by its length, or stopped."""

from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand


def _run(session: ZkChatSession, argument: str) -> Outcome:  # noqa: ARG001  every command has this shape
    return Outcome(turn=session.go_on())


COMMAND = SlashCommand("continue", "go on with an answer that was cut or stopped", _run)
