"""/unpin: stop including turn N in every prompt.

/pin lists the pinned turns.
"""

from zkchat_cli.chat import pins
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import complete_turns, slash_command


@slash_command("N", lambda session: complete_turns(pins.pinned_parts(session.history)))
def run(session: ZkChatSession, argument: str) -> str:
    unpinned = pins.unpin(session.stored_state(), argument)
    if not unpinned:
        return "That turn is not pinned; /pin lists the pinned turns."
    parts = " and ".join(each.part for each in unpinned)
    return f"Unpinned turn {unpinned[0].turn}, {parts}. It stays in the log and can still be recalled."
