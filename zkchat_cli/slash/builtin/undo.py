"""Undoes turns, and changes of notes."""

from collections.abc import Mapping

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.slash.base import Topic, declare_command
from zkchat_cli.slash.lookups import opening, parse_turn_count, questions_in
from zkchat_cli.text.numbers import plural
from zkchat_cli.tools import find_tool

NOTES = "notes"


def undo(session: ZkChatSession, argument: str) -> str:
    """Undo the last turn, or the last N; `notes`: the last change of notes.

    The question and its answer leave the prompt. They stay in the log, and /redo or /branches goes
    back to them. Changes of notes stay, unless you take them back with /undo notes: the last
    change, with all others of the same turn. A note that was edited since keeps its text.
    """
    if argument == NOTES:
        return _undo_change(session)
    state = session.stored_state()
    count = parse_turn_count(argument)
    before = session.history
    if not before:
        hint = "/redo goes forward again." if state.can_redo else "Ask something first."
        raise UsageError("there is nothing to undo", hint)
    starts = [at for at, message in enumerate(before) if message.role == "user"]
    begin = starts[-count] if count <= len(starts) else 0
    kept = before[:begin]
    undone = before[begin:]
    state.undo_to(kept[-1].id if kept else None)
    questions = questions_in(undone)
    first = (questions or undone)[0]
    more = f" and {len(questions) - 1} more" if len(questions) > 1 else ""
    turns = len(questions_in(kept))
    end = "The conversation is at its beginning."
    if turns:
        end = f"The conversation now ends with turn {turns}."
    changes = ""
    if any(map(_has_changed_notes, undone)):
        changes = " Its changes of notes stay; /undo notes takes them back."
    return f"Undone: “{opening(first)}”{more}. {end} /redo restores it.{changes}"


def _has_changed_notes(message: ZkChatMessage) -> bool:
    """Whether a message is the result of a tool that has changed notes."""
    run = message.tool_run
    tool = None if run is None else find_tool(run.name)
    return run is not None and run.ok and tool is not None and tool.writes


def _undo_change(session: ZkChatSession) -> str:
    """Take back the last change of notes, and say what was changed."""
    editor = session.vault.editor
    undone = editor.propose_undo()
    report = editor.undo(undone)
    if report is not None:
        session.apply_scan(report)
    notes = plural(len(undone.change.files), "note")
    what = undone.change.summary.removeprefix("take back: ")
    session.state.remarks.add(f"[/undo notes: the user took back: {what}]")
    return f"Taken back: {what}. {notes} changed. {undone.change.note}".strip()


def _completions(_session: ZkChatSession) -> Mapping[str, str]:
    return {NOTES: "the last change of notes"}


COMMAND = declare_command(
    undo, Topic.CONVERSATION, order=10, argument="[N | notes]", values=_completions
)
