"""Pins of messages, which the user names by turn numbers. They are stored with the messages and change no text."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from zkchat_cli.chat.state import ConversationState
from zkchat_cli.context.turns import is_fixed
from zkchat_cli.errors import UsageError
from zkchat_cli.models import ZkChatMessage
from zkchat_cli.text.numbers import parse_number
from zkchat_cli.text.truncate import truncate

Part = Literal["question", "answer"]
LAST = "last"
_EXAMPLES = "Give a turn's number or `last`, and `question` or `answer` for only one of them: `3`, `last answer`."


class TurnPart(NamedTuple):
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
        raise UsageError("there are no messages yet", "Ask something first.")
    number, part = (*text.lower().split(maxsplit=1), "", "")[:2]
    highest = known[-1].turn
    turn = highest if number == LAST else parse_number(number)
    if turn is None or part not in ("", "question", "answer"):
        wrong, hint = (number, "Give a turn's number or `last`.") if part in get_args(Part) else (text, _EXAMPLES)
        raise UsageError(f"{truncate(wrong, 40)!r} is not a turn" if text else "which turn?", hint)
    found = tuple(each for each in known if each.turn == turn and part in ("", each.part))
    if not found:
        problem = f"turn {turn} has no {part}" if part and any(each.turn == turn for each in known) else f"there is no turn {turn}"
        raise UsageError(problem, f"Turns are numbered from {known[0].turn} to {highest}; /pin lists the last ones.")
    return found


def pin(state: ConversationState, text: str) -> tuple[TurnPart, ...]:
    """Send these messages word for word in every prompt. Raises UsageError and StoreError."""
    return _mark(state, resolve_turn(state.history, text), pinned=True)


def unpin(state: ConversationState, text: str) -> tuple[TurnPart, ...]:
    """Undo `pin`; an instruction becomes an ordinary message. Raises UsageError and StoreError."""
    return _mark(state, [each for each in resolve_turn(state.history, text) if is_fixed(each.message)], pinned=False)


def pinned_parts(history: Sequence[ZkChatMessage]) -> tuple[TurnPart, ...]:
    """The messages in every prompt: those that are pinned, and the user's instructions."""
    return tuple(each for each in list_turn_parts(history) if is_fixed(each.message))


def _mark(state: ConversationState, parts: Sequence[TurnPart], *, pinned: bool) -> tuple[TurnPart, ...]:
    changed = tuple(each._replace(message=each.message.model_copy(update={"pinned": pinned})) for each in parts)
    if changed:
        state.update_marks([each.message for each in changed])
    return changed
