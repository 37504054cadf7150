"""/redo: restore what was undone or cleared.

It works until the next message or the end of the chat; later, /branches goes back to it.
"""

from zkchat_cli.chat import branch_navigation
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import opening, slash_command


@slash_command("[N]")
def run(session: ZkChatSession, argument: str) -> str:
    restored = branch_navigation.redo(session.stored_state(), branch_navigation.parse_turn_count(argument))
    last = opening((restored.questions or restored.messages)[-1])
    return f"Restored. The conversation now ends with turn {restored.turns}: “{last}”"
