"""The turns of a conversation by their numbers, and its branches.

The messages are a tree: retried, edited and undone questions are branches, and nothing is deleted.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from zkchat_cli.context.turns import is_fixed
from zkchat_cli.errors import UsageError
from zkchat_cli.models.messages import ZkChatMessage, branch_to
from zkchat_cli.text.numbers import parse_number
from zkchat_cli.text.truncate import truncate

Part = Literal["question", "answer"]
LAST = "last"
_EXAMPLES = (
    "Give a turn's number or `last`, and `question` or `answer` for only one of them: `3`, "
    "`last answer`."
)


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
            found.append(
                TurnPart(turn, "question" if message.role == "user" else "answer", message)
            )
    return tuple(found)


def resolve_turn(history: Sequence[ZkChatMessage], text: str) -> tuple[TurnPart, ...]:
    """The parts that `3`, `last` or `last answer` names. Raises UsageError that names the valid
    turns.
    """
    known = list_turn_parts(history)
    if not known:
        raise UsageError("there are no messages yet", "Ask something first.")
    number, part = (*text.lower().split(maxsplit=1), "", "")[:2]
    highest = known[-1].turn
    turn = highest if number == LAST else parse_number(number)
    if turn is None or part not in ("", "question", "answer"):
        wrong, hint = (
            (number, "Give a turn's number or `last`.")
            if part in get_args(Part)
            else (text, _EXAMPLES)
        )
        raise UsageError(f"{truncate(wrong, 40)!r} is not a turn" if text else "which turn?", hint)
    found = tuple(each for each in known if each.turn == turn and part in ("", each.part))
    if not found:
        problem = (
            f"turn {turn} has no {part}"
            if part and any(each.turn == turn for each in known)
            else f"there is no turn {turn}"
        )
        raise UsageError(
            problem,
            f"Turns are numbered from {known[0].turn} to {highest}; /pin lists the last ones.",
        )
    return found


def pinned_parts(history: Sequence[ZkChatMessage]) -> tuple[TurnPart, ...]:
    """The messages in every prompt: those that are pinned, and the user's instructions."""
    return tuple(each for each in list_turn_parts(history) if is_fixed(each.message))


class BranchSegment(NamedTuple):
    """Messages between two forks, or up to a leaf; the numbers of its first and last turn; how many
    forks are before it (`depth`).
    """

    messages: tuple[ZkChatMessage, ...]
    turns: tuple[int, int]
    depth: int
    leaf_number: int | None
    on_current_branch: bool
    contains_head: bool

    @property
    def first_question(self) -> ZkChatMessage:
        """The first question; without one, the first message."""
        return next(
            (message for message in self.messages if message.role == "user"), self.messages[0]
        )


def branch_segments(log: Sequence[ZkChatMessage], head: str | None) -> list[BranchSegment]:
    """The whole tree of a log, depth first, older branches first. Without recursion: it may have
    thousands of forks.
    """
    children: dict[str | None, list[ZkChatMessage]] = defaultdict(list)
    for message in log:
        children[message.parent_id].append(message)
    current = {message.id for message in branch_to(log, head)}
    segments: list[BranchSegment] = []
    leaves = 0
    pending = [(child, 0, 0) for child in reversed(children[None])]
    while pending:
        start, turns_before, depth = pending.pop()
        run = [start]
        following = children[start.id]
        while len(following) == 1:
            run.append(following[0])
            following = children[following[0].id]
        turns = turns_before + sum(message.role == "user" for message in run)
        leaves += not following
        numbers = max(1, turns_before + (start.role == "user")), turns
        contains_head = any(message.id == head for message in run)
        number = None if following else leaves
        segments.append(
            BranchSegment(tuple(run), numbers, depth, number, start.id in current, contains_head)
        )
        pending += [(child, turns, depth + 1) for child in reversed(following)]
    return segments
