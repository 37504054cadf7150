"""/redo: bring back what /undo or /clear took away; after that, go on to the newest answer there is from here."""

from zkchat_cli.chat.branch_navigation import parse_turn_count
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.truncate import truncate


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    moved = session.redo(parse_turn_count(argument))
    last = moved.questions[-1].display_text if moved.questions else moved.messages[-1].display_text
    return CommandResult(f"Back again. The conversation ends with turn {moved.turns} now: “{truncate(last, 60)}”")


COMMAND = SlashCommand(
    "redo",
    "bring back what was taken back",
    _run,
    "[N]",
    more="In a later session, too: it then goes one turn on, on the way to what was said last.",
)
