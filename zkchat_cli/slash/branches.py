"""/branches: show all branches of this conversation; N switches to one.

A branch begins where you retried or edited a question, or asked another one after /undo. The arrow marks where you are.
"""

from contextlib import closing

from zkchat_cli.chat.branch_navigation import branch_segments, switch_branch
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import Lines, opening, slash_command
from zkchat_cli.views.conversation_list import format_time
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


def _branch_numbers(session: ZkChatSession) -> dict[str, str]:
    if not session.is_stored:
        return {}
    with closing(session.store.reopen()) as store:  # completion has its own thread
        branches = branch_segments(store.log(session.conversation.id), None)
    return {str(each.leaf_number): opening(each.first_question) for each in branches if each.leaf_number is not None}


@slash_command("[N]", _branch_numbers)
def run(session: ZkChatSession, argument: str) -> str | Lines:
    state = session.stored_state()
    if argument:
        branch = switch_branch(state, argument)
        question = opening(branch.first_question)
        return f"Switched to branch {branch.leaf_number}, up to turn {branch.turns[1]}: “{question}”"
    lines: list[StyledLine] = []
    turns = sum(message.role == "user" for message in session.history)
    for segment in branch_segments(state.log(), state.head):
        first, last = segment.turns
        which = f"turn {first}" if first == last else f"turns {first}-{last}"
        position = f", you are after turn {turns}" if segment.contains_head and turns < last else ""
        style = "bold" if segment.on_current_branch else ""
        prefix = f"{'→' if segment.contains_head else ' '} {'  ' * segment.depth}{segment.leaf_number or '·':<2} "
        question = f"“{opening(segment.first_question)}”"
        left = StyledSpan(prefix, style), StyledSpan(f"{which}{position}  ", "dim"), StyledSpan(question, style)
        lines.append(StyledLine(left, (StyledSpan(format_time(segment.messages[-1].timestamp), "dim"),)))
    if lines and not session.history:
        lines.insert(0, styled_line("→ at the beginning: the next message starts a new branch"))
    return lines or "No messages yet."
