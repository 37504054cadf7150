"""/branches: show all branches of this conversation; N switches to one.

A branch begins where you retried or edited a question, or asked another one after /undo. The arrow marks where you are.
"""

from collections.abc import Iterable
from contextlib import closing

from zkchat_cli.chat.branch_navigation import BranchSegment, branch_segments, switch_branch
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views.conversation_list import format_time
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MAX_INDENT = 12
"""Levels of branches that are indented; deeper ones are listed at that level."""


def _branches(session: ZkChatSession, argument: str) -> CommandResult:
    if argument:
        branch = switch_branch(session.stored_state(), argument)
        question = base.opening(branch.first_question)
        return CommandResult(f"Switched to branch {branch.leaf_number}, up to turn {branch.turns[1]}: “{question}”")
    return CommandResult(lines=list(_tree_lines(session)), paged=1)


def _tree_lines(session: ZkChatSession) -> Iterable[StyledLine]:
    state = session.stored_state()
    tree = branch_segments(state.log(), state.head)
    if not tree:
        yield styled_line("No messages yet.")
        return
    turns = sum(message.role == "user" for message in session.history)
    if not session.history:
        yield styled_line("→ at the beginning: the next message starts a new branch")
    for segment in tree:
        yield _segment_line(segment, turns)
    if sum(segment.leaf_number is not None for segment in tree) > 1:
        yield styled_line("/branches N switches to the end of a branch.", "dim")


def _segment_line(segment: BranchSegment, turns: int) -> StyledLine:
    first, last = segment.turns
    which = f"turn {first}" if first == last else f"turns {first}-{last}"
    position = f", you are after turn {turns}" if segment.contains_head and turns < last else ""
    style = "bold" if segment.on_current_branch else ""
    number = "·" if segment.leaf_number is None else str(segment.leaf_number)
    prefix = f"{'→' if segment.contains_head else ' '} {'  ' * min(segment.depth, MAX_INDENT)}{number:<2} "
    return StyledLine(
        (
            StyledSpan(prefix, style),
            StyledSpan(f"{which}{position}  ", "dim"),
            StyledSpan(f"“{base.opening(segment.first_question)}”", style),
        ),
        (StyledSpan(format_time(segment.messages[-1].timestamp), "dim"),),
    )


def _branch_numbers(session: ZkChatSession) -> dict[str, str]:
    if not session.is_stored:
        return {}
    with closing(session.store.reopen()) as store:  # completion has its own thread
        log = store.log(session.conversation.id)
    branches = [segment for segment in branch_segments(log, None) if segment.leaf_number is not None]
    return {str(branch.leaf_number): base.opening(branch.first_question) for branch in branches}


COMMAND = SlashCommand(_branches, "[N]", _branch_numbers)
