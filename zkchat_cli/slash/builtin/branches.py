"""Shows the branches of the conversation, or switches to one."""

from contextlib import closing

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import Topic, declare_command
from zkchat_cli.slash.lookups import opening, questions_in
from zkchat_cli.slash.numbered_turns import BranchSegment, branch_segments
from zkchat_cli.text.numbers import parse_number
from zkchat_cli.views.stored_items import format_time
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


def branches(session: ZkChatSession, argument: str) -> str | list[StyledLine]:
    """Show all branches of this conversation; N switches to one.

    A branch begins where you retried or edited a question, or asked another one after /undo. The
    arrow marks where you are.
    """
    state = session.stored_state()
    segments = branch_segments(state.log(), state.head)
    if argument:
        return _switch(session, segments, argument)
    turns = len(questions_in(session.history))
    lines = [_segment_line(segment, turns) for segment in segments]
    if not lines:
        return "No messages yet."
    if not session.history:
        lines.insert(0, styled_line("→ at the beginning: the next message starts a new branch"))
    return lines


def _switch(session: ZkChatSession, segments: list[BranchSegment], argument: str) -> str:
    leaves = {segment.leaf_number: segment for segment in segments if segment.leaf_number}
    branch = leaves.get(parse_number(argument) or 0)
    if branch is None:
        hint = "Ask something first."
        if leaves:
            hint = f"Branches are numbered from 1 to {len(leaves)}; /branches shows them."
        raise UsageError(f"there is no branch {argument[:40]}", hint)
    session.stored_state().switch_to(branch.messages[-1].id)
    return (
        f"Switched to branch {branch.leaf_number}, up to turn {branch.last_turn}: "
        f"“{opening(branch.first_question)}”"
    )


def _segment_line(segment: BranchSegment, turns: int) -> StyledLine:
    """A line of the tree. `turns` is the number of turns before the place where the user is."""
    first = segment.first_turn
    last = segment.last_turn
    which = f"turn {first}" if first == last else f"turns {first}-{last}"
    if segment.contains_head and turns < last:
        which += f", you are after turn {turns}"
    style = "bold" if segment.on_current_branch else ""
    arrow = "→" if segment.contains_head else " "
    indent = "  " * segment.depth
    number = segment.leaf_number or "·"
    left = (
        StyledSpan(f"{arrow} {indent}{number:<2} ", style),
        StyledSpan(f"{which}  ", "dim"),
        StyledSpan(f"“{opening(segment.first_question)}”", style),
    )
    time = format_time(segment.messages[-1].timestamp)
    return StyledLine(left, (StyledSpan(time, "dim"),))


def _branch_numbers(session: ZkChatSession) -> dict[str, str]:
    if not session.state.is_stored:
        return {}
    # Completion runs in its own thread, which needs its own connection
    with closing(session.store.reopen()) as store:
        segments = branch_segments(store.log(session.conversation.id), None)
    questions: dict[str, str] = {}
    for segment in segments:
        if segment.leaf_number is not None:
            questions[str(segment.leaf_number)] = opening(segment.first_question)
    return questions


COMMAND = declare_command(
    branches,
    Topic.CONVERSATION,
    order=60,
    argument="[N]",
    values=_branch_numbers,
    in_editors=False,
)
