"""/undo: take the last turn off the branch, or the last N; /redo brings it back."""

from zkchat_cli import moving
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand
from zkchat_cli.words import shorten


def _run(session: ZkChatSession, argument: str) -> Outcome:
    moved = moving.undo(session, moving.count(argument))
    first = moved.questions[0].content if moved.questions else moved.messages[0].content
    many = f", with {len(moved.questions) - 1} more" if len(moved.questions) > 1 else ""
    now = f"The conversation ends with turn {moved.turns} now." if moved.turns else "The conversation is at its beginning now."
    return Outcome(f"Taken back: “{shorten(first, 60)}”{many}. {now} /redo brings it back.")


COMMAND = SlashCommand(
    "undo",
    "take the last turn back, or the last N",
    _run,
    "[N]",
    more="The question and its answer leave the prompt; they stay in the log, and /redo or /branches leads back to them.",
)
