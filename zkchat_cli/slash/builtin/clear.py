"""Clears the context of the conversation."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import Topic, declare_command
from zkchat_cli.slash.lookups import questions_in
from zkchat_cli.text.numbers import plural


def clear(session: ZkChatSession, _: str) -> str:
    """Clear the context of this conversation; the log stays.

    Cleared messages can still be recalled and searched, and /redo or /branches restores them. /new
    starts another conversation.
    """
    state = session.stored_state()
    cleared = session.history
    if not cleared:
        return "The context is already empty."
    state.undo_to(None)
    turns = plural(len(questions_in(cleared)), "turn")
    return f"Context cleared: {turns} no longer sent. The log stays; /redo restores the context."


COMMAND = declare_command(clear, Topic.CONVERSATION, order=70, in_editors=False)
