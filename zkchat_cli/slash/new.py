"""/new: begin another conversation; this one stays as it is."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:  # noqa: ARG001  every command has this shape
    id_ = session.conversation.id
    where = f"is stored as {id_}" if session.parts.store.persistent else f"is {id_} until you leave: this chat is not stored"
    kept = f" The last one {where}." if session.history else ""
    return CommandResult(f"A new conversation.{kept}", session=session.other())


COMMAND = SlashCommand("new", "begin another conversation", _run)
