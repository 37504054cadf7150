"""/undo: undo the last turn, or the last N.

The question and its answer leave the prompt. They stay in the log, and /redo or /branches goes back to them. Changes to notes are not
undone.
"""

from zkchat_cli.chat import branch_navigation
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import opening, slash_command


@slash_command("[N]")
def run(session: ZkChatSession, argument: str) -> str:
    undone = branch_navigation.undo(session.stored_state(), branch_navigation.parse_turn_count(argument))
    first = opening((undone.questions or undone.messages)[0])
    more = f" and {len(undone.questions) - 1} more" if len(undone.questions) > 1 else ""
    end = f"The conversation now ends with turn {undone.turns}." if undone.turns else "The conversation is at its beginning."
    return f"Undone: “{first}”{more}. {end} /redo restores it."
