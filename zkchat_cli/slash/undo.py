"""/undo: take the last turn off the branch, or the last N; /redo brings it back."""

from zkchat_cli.chat.branch_navigation import BranchMove, parse_turn_count
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools import load_tools

MOST_NAMED = 5


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    moved = session.undo(parse_turn_count(argument))
    first = moved.questions[0].display_text if moved.questions else moved.messages[0].display_text
    many = f", with {len(moved.questions) - 1} more" if len(moved.questions) > 1 else ""
    now = f"The conversation ends with turn {moved.turns} now." if moved.turns else "The conversation is at its beginning now."
    return CommandResult(f"Taken back: “{truncate(first, 60)}”{many}. {now} /redo brings it back.{_what_stays(moved)}")


def _what_stays(moved: BranchMove) -> str:
    """That notes are not changed back, where they were changed."""
    writing = {tool.name for tool in load_tools(unsafe=True) if tool.writes}
    made = [run for message in moved.messages if (run := message.tool_run) is not None and run.ok and run.name in writing]
    if not made:
        return ""
    paths = dict.fromkeys(truncate(str(run.arguments.get("path", "")), 60) for run in made)
    more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
    return f"\nNotes stay as it has changed them: {', '.join(list(paths)[:MOST_NAMED])}{more}."


COMMAND = SlashCommand(
    "undo",
    "take the last turn back, or the last N",
    _run,
    "[N]",
    more="The question and its answer leave the prompt; they stay in the log, and /redo or /branches leads back to them.",
)
