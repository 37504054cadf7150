"""The log of a conversation as a tree: retried, edited and undone questions are branches, and nothing is lost.

Nothing here recurses, and everything is linear in the log: each of ten thousand questions may have been asked twice.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zkchat_cli.models import ZkChatMessage, branch_to


class BranchSegment(NamedTuple):
    """A run of messages between two forks, or up to a leaf, which has a `leaf_number`.

    `turns` are the numbers of its first and last turn, `depth` is the number of forks before it.
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
        return next((message for message in self.messages if message.role == "user"), self.messages[0])

    @property
    def last(self) -> ZkChatMessage:
        return self.messages[-1]


def branch_segments(log: Iterable[ZkChatMessage], head: str | None) -> list[BranchSegment]:
    """The whole tree of a log, depth first, older branches first. Leaves are numbered from 1. In the log, parents come before children."""
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
        segments.append(
            BranchSegment(
                messages=tuple(run),
                turns=(max(1, turns_before + (start.role == "user")), turns),
                depth=depth,
                leaf_number=None if following else leaves,
                on_current_branch=start.id in current,
                contains_head=any(message.id == head for message in run),
            )
        )
        pending += [(child, turns, depth + 1) for child in reversed(following)]
    return segments


def head_before_turns(branch: Sequence[ZkChatMessage], turns: int) -> str | None:
    """The head of a branch without its last `turns` turns; None for the empty branch."""
    at = len(branch)
    while at and turns:
        at -= 1
        turns -= branch[at].role == "user"
    return branch[at - 1].id if at else None
