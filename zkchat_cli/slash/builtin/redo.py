"""Restores undone turns."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import Topic, declare_command
from zkchat_cli.slash.lookups import opening, parse_turn_count, questions_in


def redo(session: ZkChatSession, argument: str) -> str:
    """Restore what was undone or cleared.

    It works until the next message or the end of the chat; later, /branches goes back to it.
    """
    state = session.stored_state()
    count = parse_turn_count(argument)
    before = len(session.history)
    if not state.can_redo:
        raise UsageError(
            "there is nothing to redo", "/branches shows all messages of this conversation."
        )
    state.redo(count)
    restored = session.history[before:]
    last = (questions_in(restored) or restored)[-1]
    turns = len(questions_in(session.history))
    return f"Restored. The conversation now ends with turn {turns}: “{opening(last)}”"


COMMAND = declare_command(redo, Topic.CONVERSATION, order=20, argument="[N]")
