"""Pins a turn, or lists the pinned ones."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash import numbered_turns
from zkchat_cli.slash.base import Lines, Topic, declare_command
from zkchat_cli.slash.lookups import complete_turns, opening
from zkchat_cli.slash.numbered_turns import TurnPart
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.views.text import StyledLine, styled_line

# Number of last turns that are listed
MAX_TURNS = 8


def pin(session: ZkChatSession, argument: str) -> str | Lines:
    """Include turn N in every prompt; without N, list the pinned and the last turns.

    A turn is a question with its answer, counted from 1. Pinned turns are sent word for word and
    never summarized; /unpin N removes the pin.
    """
    if argument:
        return _pin_turn(session, argument)
    parts = numbered_turns.list_turn_parts(session.history)
    if not parts:
        return "No messages yet."
    return _list_lines(session, parts)


def _pin_turn(session: ZkChatSession, argument: str) -> str:
    pinned = numbered_turns.resolve_turn(session.history, argument)
    session.stored_state().update_marks([each.message for each in pinned], pinned=True)
    tokens = 0
    for each in pinned:
        tokens += session.runtime.counter.count(each.message.content)
    turn = pinned[0].turn
    parts = " and ".join(each.part for each in pinned)
    return (
        f"Pinned turn {turn}, {parts}: {tokens:,} tokens in every prompt. /unpin {turn} removes "
        "them."
    )


def _list_lines(session: ZkChatSession, parts: tuple[TurnPart, ...]) -> list[StyledLine]:
    counter = session.runtime.counter
    pinned = numbered_turns.pinned_parts(session.history)
    title = "Nothing is pinned, and no message is a lasting instruction."
    if pinned:
        title = "In every prompt, word for word:"
    lines = [styled_line(title)]
    for each in pinned:
        why = ", pinned" if each.message.pinned else ", an instruction"
        lines.append(_part_line(each, counter, why))
    lines.append(styled_line("The last turns:"))
    first_shown = parts[-1].turn - MAX_TURNS + 1
    lines += [_part_line(each, counter) for each in parts if each.turn >= first_shown]
    return lines


def _part_line(part: TurnPart, counter: TokenCounter, why: str = "") -> StyledLine:
    tokens = f"{counter.count(part.message.content):>6,} tokens"
    return styled_line(
        f"{part.turn:>4} {part.part:<8} {tokens}{why}: {opening(part.message)}", indent=5
    )


def _turns(session: ZkChatSession) -> dict[str, str]:
    parts = numbered_turns.list_turn_parts(session.history)
    return {numbered_turns.LAST: "", **complete_turns(parts)}


COMMAND = declare_command(pin, Topic.CONTEXT, order=40, argument="[N | last]", values=_turns)
