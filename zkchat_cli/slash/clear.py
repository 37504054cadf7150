"""/clear: clear the context of this conversation; the log stays.

Cleared messages can still be recalled and searched, and /redo or /branches restores them. /new starts another conversation.
"""

from zkchat_cli.chat import branch_navigation
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import slash_command
from zkchat_cli.text.numbers import plural


@slash_command()
def run(session: ZkChatSession, _: str) -> str:
    cleared = branch_navigation.clear(session.stored_state())
    if not cleared.messages:
        return "The context is already empty."
    return f"Context cleared: {plural(len(cleared.questions), 'turn')} no longer sent. The log stays; /redo restores the context."
