"""/redo: bring back what /undo or /clear took away; after that, go on to the newest answer there is from here."""

from zkchat_cli import moving
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand
from zkchat_cli.words import shorten


def _run(session: ZkChatSession, argument: str) -> Outcome:
    moved = moving.redo(session, moving.count(argument))
    last = moved.questions[-1].typed if moved.questions else moved.messages[-1].typed
    return Outcome(f"Back again. The conversation ends with turn {moved.turns} now: “{shorten(last, 60)}”")


COMMAND = SlashCommand(
    "redo",
    "bring back what was taken back",
    _run,
    "[N]",
    more="In a later session, too: it then goes one turn on, on the way to what was said last.",
)
