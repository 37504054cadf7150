"""Renames the conversation."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import Topic, declare_command
from zkchat_cli.text.words import replace_surrogates


def rename(session: ZkChatSession, argument: str) -> str:
    """Rename this conversation."""
    title = " ".join(replace_surrogates(argument).split())
    session.stored_state().update(title=title)
    return f"Renamed to “{title}”."


COMMAND = declare_command(rename, Topic.CONVERSATION, order=110, argument="TITLE")
