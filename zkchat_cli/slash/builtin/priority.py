"""Sets the priority of a turn, or lists priorities."""

from collections.abc import Iterable

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.message_priority import IMPORTANT, PINNED, PLAIN, message_priority
from zkchat_cli.errors import UsageError
from zkchat_cli.slash import numbered_turns
from zkchat_cli.slash.base import Lines, Topic, declare_command
from zkchat_cli.slash.lookups import complete_turns, opening
from zkchat_cli.slash.numbered_turns import TurnPart
from zkchat_cli.text.numbers import parse_number
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.text import styled_line

AUTOMATIC = "auto"
# Messages that are listed
MAX_LISTED = 20
_MAX_SHOWN = 40
_EXAMPLES = "Give a turn and a number from 1 to 10: `/priority 3 9`; `/priority 3 auto` resets it."


def priority(session: ZkChatSession, argument: str) -> str | Lines:
    """Set the priority of turn N to M, from 1 to 10; without N, list the priorities.

    Messages with a low priority leave the prompt first and are recalled last; from 8 on, they stay
    word for word as far as a tenth of the message budget goes. 10 pins the turn. `/priority 3
    answer 8` sets that of the answer only, and `/priority 3 auto` lets the kind of the message
    decide again: decisions have 9, corrections 7, thanks 2, and all others 5.
    """
    if argument:
        return _set_priority(session, argument)
    parts = numbered_turns.list_turn_parts(session.history)
    if not parts:
        return "No messages yet."
    return list(map(styled_line, _list_rows(parts)))


def _set_priority(session: ZkChatSession, argument: str) -> str:
    turn, _, value = argument.strip().rpartition(" ")
    number = _parse_priority(value, needs_turn=not turn)
    parts = numbered_turns.resolve_turn(session.history, turn.strip())
    messages = [each.message for each in parts]
    pinned = True if number == PINNED else None
    session.stored_state().update_marks(
        messages, pinned=pinned, priority=None if number == PINNED else number
    )
    names = " and ".join(each.part for each in parts)
    where = f"turn {parts[0].turn}, {names}"
    if number is None:
        now = numbered_turns.resolve_turn(session.history, turn.strip())
        return f"The kind of the message decides again: turn {parts[0].turn}, {_values_text(now)}."
    return f"Priority {number} of {PINNED} for {where}: {_effect(number)}."


def _parse_priority(text: str, *, needs_turn: bool) -> int | None:
    """The number from 1 to 10; None for `auto`. Raises UsageError."""
    if needs_turn:
        raise UsageError("/priority needs a turn and a priority", _EXAMPLES)
    if text.lower() == AUTOMATIC:
        return None
    number = parse_number(text)
    if number is None or not 1 <= number <= PINNED:
        raise UsageError(f"{truncate(text, _MAX_SHOWN)!r} is not a priority", _EXAMPLES)
    return number


def _effect(number: int) -> str:
    """What a priority does."""
    if number == PINNED:
        return "pinned, in every prompt word for word"
    if number >= IMPORTANT:
        return "it stays word for word as long as there is room, and is recalled first"
    if number < PLAIN:
        return "it leaves the prompt first, and is recalled last"
    if number > PLAIN:
        return "summaries quote it rather, and it is recalled earlier"
    return "as most messages"


def _values_text(parts: Iterable[TurnPart]) -> str:
    return ", ".join(f"{each.part} {message_priority(each.message)}" for each in parts)


def _list_rows(parts: tuple[TurnPart, ...]) -> list[str]:
    """The messages, those that leave the prompt last first."""
    ordered = sorted(parts, key=lambda each: (message_priority(each.message), each.turn))
    rows = ["These leave the prompt last:"]
    for each in ordered[: -MAX_LISTED - 1 : -1]:
        message = each.message
        number = message_priority(message)
        why = ", pinned" if message.pinned else ""
        if message.priority is not None:
            why = ", set by you"
        rows.append(f"{number:>4}  turn {each.turn} {each.part}{why}: {opening(message)}")
    left = len(parts) - MAX_LISTED
    if left > 0:
        rows.append(f"{left} more with {message_priority(ordered[left - 1].message)} or less.")
    return rows


def _turns(session: ZkChatSession) -> dict[str, str]:
    return complete_turns(numbered_turns.list_turn_parts(session.history))


COMMAND = declare_command(priority, Topic.CONTEXT, order=55, argument="[N M]", values=_turns)
