"""/pin: keep what was said in a turn in every prompt; alone, list what is kept and how turns are numbered."""

from collections.abc import Iterable, Sequence

from zkchat_cli.chat import pins
from zkchat_cli.chat.pins import LAST, TurnPart
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.text import StyledLine, styled_line

SHOWN = 8
"""Turns that are listed with their numbers, the last ones."""


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if not argument:
        return CommandResult(lines=list(_listed(session)))
    pinned = session.pin(argument)
    tokens = sum(session.counter.count(each.message.content) for each in pinned)
    parts = " and ".join(each.part for each in pinned)
    return CommandResult(
        f"Pinned turn {pinned[0].turn}, {parts}: {tokens} tokens of every prompt from now on. /unpin {pinned[0].turn} ends it."
    )


def _listed(session: ZkChatSession) -> Iterable[StyledLine]:
    kept, all_ = pins.pinned_parts(session.history), pins.list_turn_parts(session.history)
    if not all_:
        yield styled_line("Nothing has been said yet.")
        return
    yield styled_line("In every prompt, word for word:" if kept else "Nothing is pinned, and no instruction is kept.")
    yield from _rows(kept, session)
    first = all_[-1].turn - SHOWN
    yield styled_line("The last turns:")
    yield from _rows([each for each in all_ if each.turn > first], session)


def _rows(found: Sequence[TurnPart], session: ZkChatSession) -> Iterable[StyledLine]:
    for each in found:
        tokens = session.counter.count(each.message.content)
        about = f"{each.turn:>4} {each.part:<8} {tokens:>6} tokens, {pins.because(each.message)}: "
        yield styled_line(f"{about}{truncate(each.message.display_text, 60)}", indent=5)


def _turns(session: ZkChatSession) -> list[str]:
    return [LAST, *base.turns(pins.list_turn_parts(session.history))]


COMMAND = SlashCommand(
    "pin",
    "keep what was said in turn N in every prompt; alone: what is kept, and the turns' numbers",
    _run,
    "[N | last]",
    _turns,
    more="A turn is a question with its answer, counted from 1; /unpin N ends it. "
    "What is pinned is sent word for word, whatever is summarised.",
)
