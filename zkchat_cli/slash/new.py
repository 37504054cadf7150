"""/new: begin another conversation; this one stays stored."""

from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand


def _run(session: ZkChatSession, argument: str) -> Outcome:  # noqa: ARG001  every command has this shape
    kept = f" The last one is stored as {session.conversation.id}." if session.history else ""
    return Outcome(f"A new conversation.{kept}", session=session.other())


COMMAND = SlashCommand("new", "begin another conversation", _run)
