"""Starts another conversation."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, Topic, declare_command


def new(session: ZkChatSession, _: str) -> CommandResult:
    """Start a new conversation."""
    text = "Started a new conversation."
    if session.history:
        id_ = session.conversation.id
        where = f"({id_}) is lost when you quit: this chat is not stored"
        if session.store.persistent:
            where = f"is stored as {id_}"
        text += f" The previous one {where}."
    return CommandResult(text, session=session.open_conversation())


COMMAND = declare_command(new, Topic.OTHER_CONVERSATIONS, order=10, in_editors=False)
