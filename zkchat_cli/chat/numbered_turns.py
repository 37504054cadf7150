"""What the user does to the turns of a conversation: undo and redo them, switch between branches, pin them. Turns are named by numbers.

The messages are a tree: retried, edited and undone questions are branches. Nothing is deleted. The log does not record undone turns: the
undo stack lasts until the next question or the end of the session. Pins are stored with the messages and change no text.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, get_args

from zkchat_cli.chat.state import ConversationState
from zkchat_cli.context.turns import is_fixed
from zkchat_cli.errors import UsageError
from zkchat_cli.models import ZkChatMessage, branch_to
from zkchat_cli.text.numbers import parse_number
from zkchat_cli.text.truncate import truncate

Part = Literal["question", "answer"]
LAST = "last"
_EXAMPLES = "Give a turn's number or `last`, and `question` or `answer` for only one of them: `3`, `last answer`."


class TurnPart(NamedTuple):
    """A question or an answer, with the number of its turn: that of the user's messages so far."""

    turn: int
    part: Part
    message: ZkChatMessage


def list_turn_parts(history: Sequence[ZkChatMessage]) -> tuple[TurnPart, ...]:
    """The questions and answers of a conversation in order, without tool calls and results."""
    found: list[TurnPart] = []
    turn = 0
    for message in history:
        turn += message.role == "user"
        if message.role != "tool" and message.content.strip():
            found.append(TurnPart(turn, "question" if message.role == "user" else "answer", message))
    return tuple(found)


def resolve_turn(history: Sequence[ZkChatMessage], text: str) -> tuple[TurnPart, ...]:
    """The parts that `3`, `last` or `last answer` names. Raises UsageError that names the valid turns."""
    known = list_turn_parts(history)
    if not known:
        raise UsageError("there are no messages yet", "Ask something first.")
    number, part = (*text.lower().split(maxsplit=1), "", "")[:2]
    highest = known[-1].turn
    turn = highest if number == LAST else parse_number(number)
    if turn is None or part not in ("", "question", "answer"):
        wrong, hint = (number, "Give a turn's number or `last`.") if part in get_args(Part) else (text, _EXAMPLES)
        raise UsageError(f"{truncate(wrong, 40)!r} is not a turn" if text else "which turn?", hint)
    found = tuple(each for each in known if each.turn == turn and part in ("", each.part))
    if not found:
        problem = f"turn {turn} has no {part}" if part and any(each.turn == turn for each in known) else f"there is no turn {turn}"
        raise UsageError(problem, f"Turns are numbered from {known[0].turn} to {highest}; /pin lists the last ones.")
    return found


def pin(state: ConversationState, text: str) -> tuple[TurnPart, ...]:
    """Send these messages word for word in every prompt. Raises UsageError and StoreError."""
    return _mark(state, resolve_turn(state.history, text), pinned=True)


def unpin(state: ConversationState, text: str) -> tuple[TurnPart, ...]:
    """Undo `pin`; an instruction becomes an ordinary message. Raises UsageError and StoreError."""
    return _mark(state, [each for each in resolve_turn(state.history, text) if is_fixed(each.message)], pinned=False)


def pinned_parts(history: Sequence[ZkChatMessage]) -> tuple[TurnPart, ...]:
    """The messages in every prompt: those that are pinned, and the user's instructions."""
    return tuple(each for each in list_turn_parts(history) if is_fixed(each.message))


def _mark(state: ConversationState, parts: Sequence[TurnPart], *, pinned: bool) -> tuple[TurnPart, ...]:
    changed = tuple(each._replace(message=each.message.model_copy(update={"pinned": pinned})) for each in parts)
    if changed:
        state.update_marks([each.message for each in changed])
    return changed


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
    if not number:
        raise UsageError(f"{text[:40]!r} is not a number of turns", "Give a number, or nothing for one turn.")
    return number


def undo(state: ConversationState, turns: int = 1) -> tuple[ZkChatMessage, ...]:
    """Undo the last turns, and return their messages. Raises UsageError when there is none, and StoreError."""
    before = state.history
    if not before:
        raise UsageError("there is nothing to undo", "/redo goes forward again." if state.undo_stack else "Ask something first.")
    at = len(before)
    while at and turns:
        at -= 1
        turns -= before[at].role == "user"
    state.undo_to(before[at - 1].id if at else None)
    return before[at:]


def redo(state: ConversationState, times: int = 1) -> tuple[ZkChatMessage, ...]:
    """Redo what was undone last, and return its messages. Raises UsageError when nothing was undone in this session, and StoreError."""
    if not state.undo_stack:
        raise UsageError("there is nothing to redo", "/branches shows all messages of this conversation.")
    before, left = len(state.history), state.undo_stack[:-times]
    state.checkout(state.undo_stack[-times:][0])
    state.undo_stack = left
    return state.history[before:]


def clear(state: ConversationState) -> tuple[ZkChatMessage, ...]:
    """Start with an empty context: the next message begins a new branch. Returns the messages so far."""
    before = state.history
    if before:
        state.undo_to(None)
    return before


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
