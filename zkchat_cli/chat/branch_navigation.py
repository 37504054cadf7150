"""Moving in the tree of a conversation's messages: back, forward, to another branch, to the beginning. Nothing is deleted by any of it.

The log knows no undone turns. What was left by going back is remembered as long as the session lasts, until something new is said; after
that, forward leads to the newest end.
"""

from dataclasses import dataclass

from zkchat_cli.chat.state import ConversationState
from zkchat_cli.context.branch_tree import BranchSegment, BranchTree, head_before_turns
from zkchat_cli.errors import UsageError
from zkchat_cli.models import ZkChatMessage

MOST = 10_000


@dataclass(frozen=True, slots=True)
class BranchMove:
    """A move: the messages that it took off the branch or brought back, and how many turns the branch has now."""

    messages: tuple[ZkChatMessage, ...]
    turns: int

    @property
    def questions(self) -> tuple[ZkChatMessage, ...]:
        return tuple(message for message in self.messages if message.role == "user")


def parse_turn_count(text: str) -> int:
    """How many turns a command's argument means: 1 where it is empty. Raises UsageError."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0
    if text and not 1 <= number <= MOST:
        raise UsageError(f"{text[:40]!r} is no number of turns", "Give how many turns, or nothing for one.")
    return number or 1


def undo(standing: ConversationState, turns: int = 1) -> BranchMove:
    """Take the last turns off the branch. Raises UsageError when there is none, and StoreError."""
    before = standing.history
    if not before:
        raise UsageError("there is nothing to take back", _forward_hint(standing) or "Ask something first.")
    standing.move(head_before_turns(before, turns))
    standing.left.append(before[-1].id)
    return BranchMove(before[len(standing.history) :], _turns(standing))


def redo(standing: ConversationState, turns: int = 1) -> BranchMove:
    """Bring back what was taken back last; else go on towards the newest answer from here. Raises UsageError when nothing follows."""
    before = standing.history
    head = before[-1].id if before else None
    tree, left = BranchTree(_said(standing)), [*standing.left]
    for _ in range(turns):
        if left:
            head = left.pop()
        elif ahead := tree.following_turn_ends(head):
            head = ahead[0]
        else:
            break
    if len(tree.branch(head)) <= len(before):
        raise UsageError("nothing follows here", "/branches shows all that was said in this conversation.")
    standing.move(head)
    standing.left[:] = left
    return BranchMove(standing.history[len(before) :], _turns(standing))


def clear(standing: ConversationState) -> BranchMove:
    """Start afresh: the next message begins a branch of its own."""
    before = standing.history
    if before:
        standing.move(None)
        standing.left.append(before[-1].id)
    return BranchMove(before, 0)


def branches(standing: ConversationState) -> list[BranchSegment]:
    """The whole tree of the conversation, with the branch in use marked."""
    return BranchTree(_said(standing)).segments(standing.history[-1].id if standing.history else None)


def switch(standing: ConversationState, text: str) -> BranchSegment:
    """Go to the end of the branch with this number. Raises UsageError that says which there are."""
    ends = [stretch for stretch in branches(standing) if stretch.leaf_number is not None]
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    found = next((stretch for stretch in ends if stretch.leaf_number == number), None)
    if found is None:
        there = f"Branches are numbered from 1 to {len(ends)}; /branches shows them." if ends else "Ask something first."
        raise UsageError(f"there is no branch {text[:40]}", there)
    standing.move(found.last.id)
    standing.left.clear()
    return found


def _said(standing: ConversationState) -> tuple[ZkChatMessage, ...]:
    """The log, and what could not be stored yet."""
    log = standing.log()
    there = {message.id for message in log}
    return (*log, *(message for message in standing.history if message.id not in there))


def _turns(standing: ConversationState) -> int:
    return sum(message.role == "user" for message in standing.history)


def _forward_hint(standing: ConversationState) -> str:
    return "/redo brings back what was said." if _said(standing) else ""
