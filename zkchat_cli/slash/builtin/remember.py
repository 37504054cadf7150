"""Remembers a fact."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import Topic, declare_command
from zkchat_cli.views.stored_items import fact_update_text


def remember(session: ZkChatSession, argument: str) -> str:
    """Remember a fact in later conversations; `NAME: VALUE` replaces the old value.

    The fact is sent with messages that it is relevant to. /memory lists all facts, /forget KEY
    deletes one.
    """
    fact, replaced = session.memory.remember(argument)
    text = fact_update_text(fact, replaced)
    if session.store.persistent:
        return text
    return f"{text}\nIt is lost when you quit: this chat is not stored."


COMMAND = declare_command(remember, Topic.MEMORY, order=20, argument="TEXT")
