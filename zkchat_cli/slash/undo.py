"""/undo: remove the last turn, or the last N, from the prompt; /redo restores it."""

from zkchat_cli.chat.branch_navigation import BranchMove, parse_turn_count
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools import load_tools

MAX_PATHS = 5


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    undone = session.undo(parse_turn_count(argument))
    first = (undone.questions or undone.messages)[0].display_text
    more = f" and {len(undone.questions) - 1} more" if len(undone.questions) > 1 else ""
    end = f"The conversation now ends with turn {undone.turns}." if undone.turns else "The conversation is at its beginning."
    return CommandResult(f"Undone: “{truncate(first, 60)}”{more}. {end} /redo restores it.{_changed_notes(undone)}")


def _changed_notes(undone: BranchMove) -> str:
    """A warning that changes to notes are not undone, if there were any."""
    writing = {tool.name for tool in load_tools(unsafe=True) if tool.writes}
    runs = [run for message in undone.messages if (run := message.tool_run) is not None and run.ok and run.name in writing]
    if not runs:
        return ""
    paths = list(dict.fromkeys(truncate(str(run.arguments.get("path", "")), 60) for run in runs))
    more = f" and {len(paths) - MAX_PATHS} more" if len(paths) > MAX_PATHS else ""
    return f"\nChanges to notes are not undone: {', '.join(paths[:MAX_PATHS])}{more}."


COMMAND = SlashCommand(
    "undo",
    "undo the last turn, or the last N",
    _run,
    "[N]",
    details="The question and its answer leave the prompt. They stay in the log, and /redo or /branches goes back to them.",
)
