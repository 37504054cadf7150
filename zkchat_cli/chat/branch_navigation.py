"""The messages of a conversation as a tree: retried, edited and undone questions are branches. Nothing is deleted.

The log does not record undone turns: the undo stack lasts until the next question or the end of the session.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from zkchat_cli.chat.state import ConversationState
from zkchat_cli.errors import UsageError
from zkchat_cli.models import ZkChatMessage, branch_to
from zkchat_cli.text.numbers import parse_number

MOST_TURNS = 10_000


class BranchMove(NamedTuple):
    """The messages that were undone or redone, and how many turns the branch has now."""

    messages: tuple[ZkChatMessage, ...]
    turns: int

    @property
    def questions(self) -> tuple[ZkChatMessage, ...]:
        return tuple(message for message in self.messages if message.role == "user")


class BranchSegment(NamedTuple):
    """Messages between two forks, or up to a leaf; the numbers of its first and last turn; how many forks are before it (`depth`)."""

    messages: tuple[ZkChatMessage, ...]
    turns: tuple[int, int]
    depth: int
    leaf_number: int | None
    on_current_branch: bool
    contains_head: bool

    @property
    def first_question(self) -> ZkChatMessage:
        """The first question; without one, the first message."""
        return next((message for message in self.messages if message.role == "user"), self.messages[0])


def parse_turn_count(text: str) -> int:
    """The number of turns in a command's argument; 1 when it is empty. Raises UsageError."""
    number = parse_number(text or "1")
    if not number or number > MOST_TURNS:
        raise UsageError(f"{text[:40]!r} is not a number of turns", "Give a number, or nothing for one turn.")
    return number


def undo(state: ConversationState, turns: int = 1) -> BranchMove:
    """Undo the last turns. Raises UsageError when there is none, and StoreError."""
    before = state.history
    if not before:
        raise UsageError("there is nothing to undo", "/redo goes forward again." if state.undo_stack else "Ask something first.")
    at = len(before)
    while at and turns:
        at -= 1
        turns -= before[at].role == "user"
    state.undo_to(before[at - 1].id if at else None)
    return BranchMove(before[at:], _count_turns(state))


def redo(state: ConversationState, times: int = 1) -> BranchMove:
    """Redo what was undone last. Raises UsageError when nothing was undone in this session, and StoreError."""
    before = len(state.history)
    if not state.undo_stack:
        raise UsageError("there is nothing to redo", "/branches shows all messages of this conversation.")
    state.redo(times)
    return BranchMove(state.history[before:], _count_turns(state))


def clear(state: ConversationState) -> BranchMove:
    """Start with an empty context: the next message begins a new branch."""
    before = state.history[:]
    if before:
        state.undo_to(None)
    return BranchMove(before, 0)


def switch_branch(state: ConversationState, text: str) -> BranchSegment:
    """Go to the end of the branch with this number. Raises UsageError that names the valid ones."""
    ends = [segment for segment in branch_segments(state.log(), state.head) if segment.leaf_number is not None]
    found = next((segment for segment in ends if segment.leaf_number == parse_number(text)), None)
    if found is None:
        hint = f"Branches are numbered from 1 to {len(ends)}; /branches shows them." if ends else "Ask something first."
        raise UsageError(f"there is no branch {text[:40]}", hint)
    state.checkout(found.messages[-1].id)
    state.undo_stack = []
    return found


def branch_segments(log: Iterable[ZkChatMessage], head: str | None) -> list[BranchSegment]:
    """The whole tree of a log, depth first, older branches first. Without recursion: it may have thousands of forks."""
    log = tuple(log)
    children: dict[str | None, list[ZkChatMessage]] = defaultdict(list)
    for message in log:
        children[message.parent_id].append(message)
    current = {message.id for message in branch_to(log, head)}
    segments: list[BranchSegment] = []
    leaves = 0
    pending = [(child, 0, 0) for child in reversed(children[None])]
    while pending:
        start, turns_before, depth = pending.pop()
        run, following = [start], children[start.id]
        while len(following) == 1:
            run.append(following[0])
            following = children[following[0].id]
        turns = turns_before + sum(message.role == "user" for message in run)
        leaves += not following
        numbers = max(1, turns_before + (start.role == "user")), turns
        contains_head = any(message.id == head for message in run)
        number = None if following else leaves
        segments.append(BranchSegment(tuple(run), numbers, depth, number, start.id in current, contains_head))
        pending += [(child, turns, depth + 1) for child in reversed(following)]
    return segments


def _count_turns(state: ConversationState) -> int:
    return sum(message.role == "user" for message in state.history)
