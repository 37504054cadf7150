"""Pins and priorities of messages, which the user names by turn numbers. They are stored with the messages and change no text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from zkchat_cli.chat.state import ConversationState
from zkchat_cli.context.message_priority import NEUTRAL, is_fixed, is_instruction, priority_of
from zkchat_cli.errors import UsageError
from zkchat_cli.models import ZkChatMessage
from zkchat_cli.text.truncate import truncate

Part = Literal["question", "answer"]
LAST = "last"
_EXAMPLE = "Give a turn's number or `last`, and `question` or `answer` for only one of them: `3`, `last answer`."


@dataclass(frozen=True, slots=True)
class TurnPart:
    """A question or an answer, with the number of its turn: that of the user's messages so far."""

    turn: int
    part: Part
    message: ZkChatMessage


def list_turn_parts(history: Sequence[ZkChatMessage]) -> tuple[TurnPart, ...]:
    """The questions and answers of a conversation in order, without tool calls and results."""
    found: list[TurnPart] = []
    turn = 0
    for message in history:
        turn += message.role == "user"
        if message.role != "tool" and message.content.strip():
            found.append(TurnPart(turn, "question" if message.role == "user" else "answer", message))
    return tuple(found)


def resolve_turn(history: Sequence[ZkChatMessage], text: str) -> tuple[TurnPart, ...]:
    """The parts that `3`, `last` or `last answer` names. Raises UsageError that names the valid turns."""
    known = list_turn_parts(history)
    if not known:
        raise UsageError("nothing has been said yet", "Ask something first.")
    number, part = (*text.lower().split(maxsplit=1), "", "")[:2]
    highest = known[-1].turn
    turn = highest if number == LAST else int(number) if number.isascii() and number.isdecimal() and len(number) < 10 else None
    if turn is None or part not in ("", "question", "answer"):
        raise UsageError(f"{truncate(text, 40)!r} is not a turn" if text else "which turn?", _EXAMPLE)
    found = tuple(each for each in known if each.turn == turn and part in ("", each.part))
    if not found:
        problem = f"turn {turn} has no {part}" if part and any(each.turn == turn for each in known) else f"there is no turn {turn}"
        raise UsageError(problem, f"Turns are numbered from {known[0].turn} to {highest}; /pin lists the last ones.")
    return found


def pin(state: ConversationState, text: str) -> tuple[TurnPart, ...]:
    """Send these messages word for word in every prompt. Raises UsageError and StoreError."""
    return _mark(state, [(each, {"pinned": True}) for each in resolve_turn(state.history, text)])


def unpin(state: ConversationState, text: str) -> tuple[TurnPart, ...]:
    """Undo `pin`; an instruction becomes an ordinary message. Raises UsageError and StoreError."""
    lowered = {"pinned": False, "priority": NEUTRAL, "priority_set": True}
    found = [each for each in resolve_turn(state.history, text) if is_fixed(each.message)]
    return _mark(state, [(each, lowered if is_instruction(each.message) else {"pinned": False}) for each in found])


def set_priority(state: ConversationState, text: str, level: int | None) -> tuple[TurnPart, ...]:
    """Set the priority of messages, from 1 to 10; None: by the rules again. Raises UsageError and StoreError."""
    update = {"priority": level or NEUTRAL, "priority_set": level is not None}
    return _mark(state, [(each, update) for each in resolve_turn(state.history, text)])


def pinned_parts(history: Sequence[ZkChatMessage]) -> tuple[TurnPart, ...]:
    """The messages in every prompt: those that are pinned, and the user's instructions."""
    return tuple(each for each in list_turn_parts(history) if is_fixed(each.message))


def priority_reason(message: ZkChatMessage) -> str:
    if message.pinned:
        return "pinned"
    if is_fixed(message):
        return "an instruction"
    return f"priority {priority_of(message)}"


def _mark(state: ConversationState, updates: Sequence[tuple[TurnPart, Mapping[str, bool | int]]]) -> tuple[TurnPart, ...]:
    changed = tuple(replace(each, message=each.message.model_copy(update=dict(update))) for each, update in updates)
    if changed:
        state.update_marks([each.message for each in changed])
    return changed
