"""Removes the pin of a turn."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.fixed_messages import is_fixed
from zkchat_cli.slash import numbered_turns
from zkchat_cli.slash.base import Topic, declare_command
from zkchat_cli.slash.lookups import complete_turns


def unpin(session: ZkChatSession, argument: str) -> str:
    """Stop including turn N in every prompt.

    /pin lists the pinned turns.
    """
    parts = numbered_turns.resolve_turn(session.history, argument)
    unpinned = [each for each in parts if is_fixed(each.message)]
    if not unpinned:
        return "That turn is not pinned; /pin lists the pinned turns."
    session.stored_state().update_marks([each.message for each in unpinned], pinned=False)
    names = " and ".join(each.part for each in unpinned)
    return (
        f"Unpinned turn {unpinned[0].turn}, {names}. It stays in the log and can still be recalled."
    )


def _pinned_turns(session: ZkChatSession) -> dict[str, str]:
    return complete_turns(numbered_turns.pinned_parts(session.history))


COMMAND = declare_command(unpin, Topic.CONTEXT, order=50, argument="N", values=_pinned_turns)
