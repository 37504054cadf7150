"""/pin: include a turn in every prompt; without a number, list what is pinned and the numbers of the turns."""

from collections.abc import Iterable, Sequence

from zkchat_cli.chat import pins
from zkchat_cli.chat.pins import LAST, TurnPart
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.fixed_messages import is_fixed
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.text import StyledLine, styled_line

MAX_TURNS = 8
"""The last turns, which are listed with their numbers."""


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if not argument:
        return CommandResult(lines=list(_overview(session)))
    pinned = session.pin(argument)
    turn = pinned[0].turn
    tokens = sum(session.counter.count(each.message.content) for each in pinned)
    parts = " and ".join(each.part for each in pinned)
    return CommandResult(f"Pinned turn {turn}, {parts}: {tokens:,} tokens in every prompt. /unpin {turn} removes them.")


def _overview(session: ZkChatSession) -> Iterable[StyledLine]:
    pinned, parts = pins.pinned_parts(session.history), pins.list_turn_parts(session.history)
    if not parts:
        yield styled_line("No messages yet.")
        return
    yield styled_line("In every prompt, word for word:" if pinned else "Nothing is pinned, and no message is a lasting instruction.")
    yield from _part_lines(pinned, session)
    yield styled_line("The last turns:")
    yield from _part_lines([each for each in parts if each.turn > parts[-1].turn - MAX_TURNS], session)


def _part_lines(parts: Sequence[TurnPart], session: ZkChatSession) -> Iterable[StyledLine]:
    for each in parts:
        tokens = session.counter.count(each.message.content)
        why = ", pinned" if each.message.pinned else ", an instruction" if is_fixed(each.message) else ""
        prefix = f"{each.turn:>4} {each.part:<8} {tokens:>6,} tokens{why}: "
        yield styled_line(f"{prefix}{truncate(each.message.display_text, 60)}", indent=5)


COMMAND = SlashCommand(
    "pin",
    "include turn N in every prompt; without N, list the pinned and the last turns",
    _run,
    "[N | last]",
    lambda session: [LAST, *base.complete_turns(pins.list_turn_parts(session.history))],
    details="A turn is a question with its answer, counted from 1. Pinned turns are sent word for word and never summarized; "
    "/unpin N removes the pin.",
)
