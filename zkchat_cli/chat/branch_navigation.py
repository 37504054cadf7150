"""Undo, redo, clear and switch branches in the tree of a conversation's messages. Nothing is deleted.

The log does not record undone turns: the undo stack lasts until the next question or the end of the session.
"""

from typing import NamedTuple

from zkchat_cli.chat.state import ConversationState
from zkchat_cli.context.branch_tree import BranchSegment, branch_segments, head_before_turns
from zkchat_cli.errors import UsageError
from zkchat_cli.models import ZkChatMessage
from zkchat_cli.text.numbers import parse_number

MOST_TURNS = 10_000


class BranchMove(NamedTuple):
    """The messages that were undone or redone, and how many turns the branch has now."""

    messages: tuple[ZkChatMessage, ...]
    turns: int

    @property
    def questions(self) -> tuple[ZkChatMessage, ...]:
        return tuple(message for message in self.messages if message.role == "user")


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
        raise UsageError("there is nothing to undo", "/redo goes forward again." if state.can_redo else "Ask something first.")
    state.undo_to(head_before_turns(before, turns))
    return BranchMove(before[len(state.history) :], _count_turns(state))


def redo(state: ConversationState, times: int = 1) -> BranchMove:
    """Redo what was undone last. Raises UsageError when nothing was undone in this session, and StoreError."""
    before = state.history
    if not state.can_redo:
        raise UsageError("there is nothing to redo", "/branches shows all messages of this conversation.")
    state.redo(times)
    return BranchMove(state.history[len(before) :], _count_turns(state))


def clear(state: ConversationState) -> BranchMove:
    """Start with an empty context: the next message begins a new branch."""
    before = state.history[:]
    if before:
        state.undo_to(None)
    return BranchMove(before, 0)


def list_branches(state: ConversationState) -> list[BranchSegment]:
    """The whole tree of the conversation, with the branch in use marked."""
    log = state.log()
    stored = {message.id for message in log}
    unstored = (message for message in state.history if message.id not in stored)
    return branch_segments((*log, *unstored), state.head)


def switch_branch(state: ConversationState, text: str) -> BranchSegment:
    """Go to the end of the branch with this number. Raises UsageError that names the valid ones."""
    ends = [segment for segment in list_branches(state) if segment.leaf_number is not None]
    found = next((segment for segment in ends if segment.leaf_number == parse_number(text)), None)
    if found is None:
        hint = f"Branches are numbered from 1 to {len(ends)}; /branches shows them." if ends else "Ask something first."
        raise UsageError(f"there is no branch {text[:40]}", hint)
    state.checkout(found.last.id)
    state.take_undone()
    return found


def _count_turns(state: ConversationState) -> int:
    return sum(message.role == "user" for message in state.history)
