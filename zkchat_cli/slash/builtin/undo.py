"""Undoes turns."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import Topic, declare_command
from zkchat_cli.slash.lookups import opening, parse_turn_count, questions_in


def undo(session: ZkChatSession, argument: str) -> str:
    """Undo the last turn, or the last N.

    The question and its answer leave the prompt. They stay in the log, and /redo or /branches goes
    back to them. Changes to notes are not undone.
    """
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
    return f"Undone: “{opening(first)}”{more}. {end} /redo restores it."


COMMAND = declare_command(undo, Topic.CONVERSATION, order=10, argument="[N]")
