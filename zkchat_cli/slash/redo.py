"""/redo: restore what was undone or cleared.

It works in a later session too: each /redo then moves one turn forward, toward the newest message.
"""

from zkchat_cli.chat.branch_navigation import parse_turn_count
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.truncate import truncate


def _redo(session: ZkChatSession, argument: str) -> CommandResult:
    restored = session.redo(parse_turn_count(argument))
    last = (restored.questions or restored.messages)[-1].display_text
    return CommandResult(f"Restored. The conversation now ends with turn {restored.turns}: “{truncate(last, 60)}”")


COMMAND = SlashCommand(_redo, "[N]")
