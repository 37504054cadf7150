"""/pin: include turn N in every prompt; without N, list the pinned and the last turns.

A turn is a question with its answer, counted from 1. Pinned turns are sent word for word and never summarized; /unpin N removes the pin.
"""

from collections.abc import Iterable

from zkchat_cli.chat import pins
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash import base
from zkchat_cli.slash.base import SlashCommand
from zkchat_cli.views.text import StyledLine, styled_line

MAX_TURNS = 8
"""The last turns, which `/pin` lists with their numbers."""


def _pin(session: ZkChatSession, argument: str) -> str | Iterable[StyledLine]:
    if not argument:
        return _pin_overview(session)
    pinned = pins.pin(session.stored_state(), argument)
    turn = pinned[0].turn
    tokens = sum(session.runtime.counter.count(each.message.content) for each in pinned)
    parts = " and ".join(each.part for each in pinned)
    return f"Pinned turn {turn}, {parts}: {tokens:,} tokens in every prompt. /unpin {turn} removes them."


def _pin_overview(session: ZkChatSession) -> Iterable[StyledLine]:
    def line(part: pins.TurnPart, reason: str = "") -> StyledLine:
        tokens = session.runtime.counter.count(part.message.content)
        return styled_line(f"{part.turn:>4} {part.part:<8} {tokens:>6,} tokens{reason}: {base.opening(part.message)}", indent=5)

    pinned, parts = pins.pinned_parts(session.history), pins.list_turn_parts(session.history)
    if not parts:
        yield styled_line("No messages yet.")
        return
    yield styled_line("In every prompt, word for word:" if pinned else "Nothing is pinned, and no message is a lasting instruction.")
    yield from (line(each, ", pinned" if each.message.pinned else ", an instruction") for each in pinned)
    yield styled_line("The last turns:")
    yield from (line(each) for each in parts if each.turn > parts[-1].turn - MAX_TURNS)


COMMAND = SlashCommand(_pin, "[N | last]", lambda session: {pins.LAST: "", **base.complete_turns(pins.list_turn_parts(session.history))})
