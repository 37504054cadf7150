"""/pin: keep what was said in a turn in every prompt; alone, list what is kept and how turns are numbered."""

from collections.abc import Iterable, Sequence

from zkchat_cli import marking, slash
from zkchat_cli.lines import Line, line
from zkchat_cli.marking import LAST, Numbered
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand
from zkchat_cli.words import shorten

SHOWN = 8
"""Turns that are listed with their numbers, the last ones."""


def _run(session: ZkChatSession, argument: str) -> Outcome:
    if not argument:
        return Outcome(lines=list(_listed(session)))
    pinned = marking.pin(session, argument)
    tokens = sum(session.parts.counter.count(each.message.content) for each in pinned)
    parts = " and ".join(each.part for each in pinned)
    return Outcome(f"Pinned turn {pinned[0].turn}, {parts}: {tokens} tokens of every prompt from now on. /unpin {pinned[0].turn} ends it.")


def _listed(session: ZkChatSession) -> Iterable[Line]:
    kept, all_ = marking.kept(session.history), marking.numbered(session.history)
    if not all_:
        yield line("Nothing has been said yet.")
        return
    yield line("In every prompt, word for word:" if kept else "Nothing is pinned, and no instruction is kept.")
    yield from _rows(kept, session)
    first = all_[-1].turn - SHOWN
    yield line("The last turns:")
    yield from _rows([each for each in all_ if each.turn > first], session)


def _rows(found: Sequence[Numbered], session: ZkChatSession) -> Iterable[Line]:
    for each in found:
        tokens = session.parts.counter.count(each.message.content)
        about = f"{each.turn:>4} {each.part:<8} {tokens:>6} tokens, {marking.because(each.message)}: "
        yield line(f"{about}{shorten(each.message.typed, 60)}", indent=5)


def _turns(session: ZkChatSession) -> list[str]:
    return [LAST, *slash.turns(marking.numbered(session.history))]


COMMAND = SlashCommand(
    "pin",
    "keep what was said in turn N in every prompt; alone: what is kept, and the turns' numbers",
    _run,
    "[N | last]",
    _turns,
    more="A turn is a question with its answer, counted from 1; /unpin N ends it. "
    "What is pinned is sent word for word, whatever is summarised.",
)
