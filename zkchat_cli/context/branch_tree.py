"""A conversation's log as a tree: every question that was asked anew, edited or taken back stands beside the others, and none is lost.

Pure: from messages in the order of writing, where a parent stands before its children, to branches and the ways between them. Nothing here
recurses, and all of it is linear in the log: ten thousand turns may each have been asked twice.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from zkchat_cli.models import ZkChatMessage


@dataclass(frozen=True, slots=True)
class BranchSegment:
    """A run of messages between two points where branches part, or up to an end, which has a `number`.

    `turns` are the numbers of its first and last turn, `depth` how many partings lie before it. `here`: the head stands in it;
    `current`: the branch in use leads through it.
    """

    messages: tuple[ZkChatMessage, ...]
    turns: tuple[int, int]
    depth: int
    leaf_number: int | None
    on_current_branch: bool
    contains_head: bool

    @property
    def first_question(self) -> ZkChatMessage:
        """Its first question; where nobody asks, its first message."""
        return next((message for message in self.messages if message.role == "user"), self.messages[0])

    @property
    def last(self) -> ZkChatMessage:
        return self.messages[-1]


class BranchTree:
    """The messages of a conversation by what they follow."""

    def __init__(self, log: Iterable[ZkChatMessage]) -> None:
        self._log = tuple(log)
        self._messages = {message.id: message for message in self._log}
        self._children: dict[str | None, list[ZkChatMessage]] = defaultdict(list)
        for message in self._log:
            self._children[message.parent_id].append(message)

    def branch(self, head: str | None) -> tuple[ZkChatMessage, ...]:
        """From the beginning to the message `head`; empty for None, the beginning itself."""
        found = []
        while head is not None:
            found.append(self._messages[head])
            head = found[-1].parent_id
        return tuple(reversed(found))

    def newest_leaf(self, head: str | None) -> str | None:
        """Of the ends that are reached from `head`, the one written last; `head` itself where nothing follows."""
        reached: set[str | None] = {head}
        end = head
        for message in self._log:
            if message.parent_id in reached:
                reached.add(message.id)
                end = message.id
        return end

    def following_turn_ends(self, head: str | None) -> list[str]:
        """The ends of the turns that follow `head` on the way to its newest end, in their order."""
        following = self.branch(self.newest_leaf(head))[len(self.branch(head)) :]
        borders = [i for i, message in enumerate(following) if message.role == "user" and i]
        return [following[i - 1].id for i in (*borders, len(following)) if i]

    def segments(self, head: str | None) -> list[BranchSegment]:
        """The whole tree: what came first stands first, below each stretch what goes on from it. Ends are numbered from 1."""
        current = {message.id for message in self.branch(head)}
        found: list[BranchSegment] = []
        ends = 0
        waiting = [(child, 0, 0) for child in reversed(self._children[None])]
        while waiting:
            start, turns_before, depth = waiting.pop()
            messages = tuple(self._run(start))
            turns = turns_before + sum(message.role == "user" for message in messages)
            following = self._children.get(messages[-1].id, [])
            ends += not following
            found.append(
                BranchSegment(
                    messages=messages,
                    turns=(max(1, turns_before + (messages[0].role == "user")), turns),
                    depth=depth,
                    leaf_number=None if following else ends,
                    on_current_branch=start.id in current,
                    contains_head=any(message.id == head for message in messages),
                )
            )
            waiting += [(child, turns, depth + 1) for child in reversed(following)]
        return found

    def _run(self, start: ZkChatMessage) -> Iterator[ZkChatMessage]:
        """From a message to the next parting, or to the end."""
        yield start
        following: Sequence[ZkChatMessage] = self._children.get(start.id, [])
        while len(following) == 1:
            yield following[0]
            following = self._children.get(following[0].id, [])


def head_before_turns(branch: Sequence[ZkChatMessage], turns: int) -> str | None:
    """The message before the last `turns` questions of a branch: where it ends without them. None: at the beginning."""
    at = len(branch)
    while at and turns:
        at -= 1
        turns -= branch[at].role == "user"
    return branch[at - 1].id if at else None
