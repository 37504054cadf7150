"""Which turns the user means by their numbers, and marks on what they said: pins and priorities. They are stored, and change no word."""

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
_EXAMPLE = "Give a turn's number or `last`, and `question` or `answer` if only that is meant: `3`, `last answer`."


@dataclass(frozen=True, slots=True)
class TurnPart:
    """What was said in a turn, with its number: how many of the user's messages there have been."""

    turn: int
    part: Part
    message: ZkChatMessage


def list_turn_parts(history: Sequence[ZkChatMessage]) -> tuple[TurnPart, ...]:
    """The questions and answers of a conversation in their order; calls of tools and their results are neither."""
    found: list[TurnPart] = []
    turn = 0
    for message in history:
        turn += message.role == "user"
        if message.role != "tool" and message.content.strip():
            found.append(TurnPart(turn, "question" if message.role == "user" else "answer", message))
    return tuple(found)


def resolve_turn(history: Sequence[ZkChatMessage], text: str) -> tuple[TurnPart, ...]:
    """What `3`, `last` or `last answer` means. Raises UsageError that names the turns there are."""
    known = list_turn_parts(history)
    if not known:
        raise UsageError("nothing has been said yet", "Ask something first.")
    number, part = (*text.lower().split(maxsplit=1), "", "")[:2]
    highest = known[-1].turn
    turn = highest if number == LAST else int(number) if number.isascii() and number.isdecimal() and len(number) < 10 else None
    if turn is None or part not in ("", "question", "answer"):
        raise UsageError(f"{truncate(text, 40)!r} is no turn" if text else "which turn?", _EXAMPLE)
    found = tuple(each for each in known if each.turn == turn and part in ("", each.part))
    if not found:
        said = f"turn {turn} has no {part}" if part and any(each.turn == turn for each in known) else f"there is no turn {turn}"
        raise UsageError(said, f"Turns are numbered from {known[0].turn} to {highest}; /pin lists the last ones.")
    return found


def pin(standing: ConversationState, text: str) -> tuple[TurnPart, ...]:
    """Keep what was said in a turn in every prompt, word for word. Raises UsageError and StoreError."""
    return _mark(standing, [(each, {"pinned": True}) for each in resolve_turn(standing.history, text)])


def unpin(standing: ConversationState, text: str) -> tuple[TurnPart, ...]:
    """Keep it no longer; an instruction counts as what was said from now on. Raises UsageError and StoreError."""
    lowered = {"pinned": False, "priority": NEUTRAL, "priority_set": True}
    found = [each for each in resolve_turn(standing.history, text) if is_fixed(each.message)]
    return _mark(standing, [(each, lowered if is_instruction(each.message) else {"pinned": False}) for each in found])


def set_priority(standing: ConversationState, text: str, wanted: int | None) -> tuple[TurnPart, ...]:
    """Set the priority of what was said in a turn, from 1 to 10; None: by the rules again. Raises UsageError and StoreError."""
    update = {"priority": wanted or NEUTRAL, "priority_set": wanted is not None}
    return _mark(standing, [(each, update) for each in resolve_turn(standing.history, text)])


def pinned_parts(history: Sequence[ZkChatMessage]) -> tuple[TurnPart, ...]:
    """What is in every prompt because it is pinned or an instruction of the user."""
    return tuple(each for each in list_turn_parts(history) if is_fixed(each.message))


def because(message: ZkChatMessage) -> str:
    """Why it matters as much as it does."""
    if message.pinned:
        return "pinned"
    if is_fixed(message):
        return "an instruction"
    return f"priority {priority_of(message)}"


def _mark(standing: ConversationState, updates: Sequence[tuple[TurnPart, Mapping[str, bool | int]]]) -> tuple[TurnPart, ...]:
    changed = tuple(replace(each, message=each.message.model_copy(update=dict(update))) for each, update in updates)
    if changed:
        standing.mark([each.message for each in changed])
    return changed
