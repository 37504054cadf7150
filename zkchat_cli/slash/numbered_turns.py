"""The turns of a conversation by their numbers, and its branches.

The messages are a tree: retried, edited and undone questions are branches, and nothing is deleted.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from zkchat_cli.context.fixed_messages import is_fixed
from zkchat_cli.errors import UsageError
from zkchat_cli.models.messages import ZkChatMessage, branch_to
from zkchat_cli.slash.base import split_first_word
from zkchat_cli.text.numbers import parse_number
from zkchat_cli.text.truncate import truncate

Part = Literal["question", "answer"]
LAST = "last"
# Characters of a wrong number in an error
MAX_SHOWN = 40
_EXAMPLES = (
    "Give a turn's number or `last`, and `question` or `answer` for only one of them: `3`, "
    "`last answer`."
)


class TurnPart(NamedTuple):
    """A question or an answer, with the number of its turn. A turn begins with each question."""

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
            part: Part = "question" if message.role == "user" else "answer"
            found.append(TurnPart(turn, part, message))
    return tuple(found)


def resolve_turn(history: Sequence[ZkChatMessage], text: str) -> tuple[TurnPart, ...]:
    """The parts that `3`, `last` or `last answer` names. Raises UsageError that names the valid
    turns.
    """
    known = list_turn_parts(history)
    if not known:
        raise UsageError("there are no messages yet", "Ask something first.")
    number, part = split_first_word(text.lower())
    turn = known[-1].turn if number == LAST else parse_number(number)
    if turn is None or part not in ("", *get_args(Part)):
        raise _not_a_turn(text, number, part)
    found: list[TurnPart] = []
    for each in known:
        is_wanted = not part or each.part == part
        if each.turn == turn and is_wanted:
            found.append(each)
    if not found:
        raise _no_such_turn(known, turn, part)
    return tuple(found)


def _not_a_turn(text: str, number: str, part: str) -> UsageError:
    """The error for a text that is not a turn, such as `first answer`."""
    if not text:
        return UsageError("which turn?", _EXAMPLES)
    if part in get_args(Part):
        return UsageError(
            f"{truncate(number, MAX_SHOWN)!r} is not a turn", "Give a turn's number or `last`."
        )
    return UsageError(f"{truncate(text, MAX_SHOWN)!r} is not a turn", _EXAMPLES)


def _no_such_turn(known: Sequence[TurnPart], turn: int, part: str) -> UsageError:
    problem = f"there is no turn {turn}"
    if part and any(each.turn == turn for each in known):
        problem = f"turn {turn} has no {part}"
    first = known[0].turn
    last = known[-1].turn
    return UsageError(
        problem, f"Turns are numbered from {first} to {last}; /pin lists the last ones."
    )


def pinned_parts(history: Sequence[ZkChatMessage]) -> tuple[TurnPart, ...]:
    """The messages in every prompt: those that are pinned, and the user's instructions."""
    return tuple(each for each in list_turn_parts(history) if is_fixed(each.message))


class BranchSegment(NamedTuple):
    """The messages between two forks, or from the last fork to a leaf."""

    messages: tuple[ZkChatMessage, ...]
    first_turn: int
    last_turn: int
    # Number of forks before the segment
    depth: int
    # The number of the branch that ends here; None if a fork follows
    leaf_number: int | None
    on_current_branch: bool
    contains_head: bool

    @property
    def first_question(self) -> ZkChatMessage:
        """The first question; without one, the first message."""
        questions = (message for message in self.messages if message.role == "user")
        return next(questions, self.messages[0])


class _SegmentStart(NamedTuple):
    """The first message of a segment that has not been visited yet."""

    message: ZkChatMessage
    turns_before: int
    depth: int


def branch_segments(log: Sequence[ZkChatMessage], head: str | None) -> list[BranchSegment]:
    """The whole tree of a log, depth first, older branches first.

    There is no recursion, because a log may have thousands of forks.
    """
    children: dict[str | None, list[ZkChatMessage]] = defaultdict(list)
    for message in log:
        children[message.parent_id].append(message)
    current = {message.id for message in branch_to(log, head)}
    segments: list[BranchSegment] = []
    leaves = 0
    pending = [_SegmentStart(child, 0, 0) for child in reversed(children[None])]
    while pending:
        start, turns_before, depth = pending.pop()
        run = [start]
        following = children[start.id]
        while len(following) == 1:
            run += following
            following = children[run[-1].id]
        is_leaf = not following
        leaves += is_leaf
        last_turn = turns_before + sum(message.role == "user" for message in run)
        segments.append(
            BranchSegment(
                messages=tuple(run),
                first_turn=max(1, turns_before + (start.role == "user")),
                last_turn=last_turn,
                depth=depth,
                leaf_number=leaves if is_leaf else None,
                on_current_branch=start.id in current,
                contains_head=any(message.id == head for message in run),
            )
        )
        pending += [_SegmentStart(child, last_turn, depth + 1) for child in reversed(following)]
    return segments
