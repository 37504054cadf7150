"""/branches: everything that was ever said in this conversation, as a tree; `/branches N` goes on at the end of a branch."""

from collections.abc import Iterable
from contextlib import closing

from zkchat_cli.chat import branch_navigation
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.branch_tree import BranchSegment, BranchTree
from zkchat_cli.slash.base import CommandResult, CompletionValue, SlashCommand
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.conversation_list import day
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

DEEPEST = 12
"""Partings that are shown by indenting; what lies behind more of them stands where those do."""


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if argument:
        end = branch_navigation.switch(session, argument)
        return CommandResult(f"On branch {end.number}, which ends with turn {end.turns[1]}: “{truncate(end.opening.typed, 60)}”")
    return CommandResult(lines=list(_listed(session)), paged=True)


def _listed(session: ZkChatSession) -> Iterable[StyledLine]:
    tree = branch_navigation.branches(session)
    if not tree:
        yield styled_line("Nothing has been said yet.")
        return
    turns = sum(message.role == "user" for message in session.history)
    if not session.history:
        yield styled_line("→ at the beginning: the next message starts a new branch")
    for stretch in tree:
        yield _described(stretch, turns)
    if sum(stretch.number is not None for stretch in tree) > 1:
        yield styled_line("/branches N goes to the end of a branch.", "dim")


def _described(stretch: BranchSegment, turns: int) -> StyledLine:
    first, last = stretch.turns
    which = f"turn {first}" if first == last else f"turns {first}-{last}"
    at = f", you are after turn {turns}" if stretch.here and turns < last else ""
    look = "bold" if stretch.current else ""
    number = "·" if stretch.number is None else str(stretch.number)
    where = f"{'→' if stretch.here else ' '} {'  ' * min(stretch.depth, DEEPEST)}{number:<2} "
    said = f"“{truncate(stretch.opening.typed, 60)}”"
    return StyledLine(
        (StyledSpan(where, look), StyledSpan(f"{which}{at}  ", "dim"), StyledSpan(said, look)),
        (StyledSpan(day(stretch.last.timestamp), "dim"),),
    )


def _numbers(session: ZkChatSession) -> list[str]:
    if not session.history:
        return []
    with closing(session.parts.store.reopen()) as store:  # completion has its own thread
        log = store.log(session.conversation.id)
    ends = [stretch for stretch in BranchTree(log).stretches(None) if stretch.number is not None]
    return [CompletionValue(str(end.number), truncate(end.opening.typed, 60)) for end in ends]


COMMAND = SlashCommand(
    "branches",
    "all that was said, as a tree; N goes to the end of that branch",
    _run,
    "[N]",
    _numbers,
    more="A branch begins where a question was asked again, edited, or taken back and followed by another. The arrow is where you are.",
)
