"""Chooses the important messages that stay word for word when their turns leave the prompt.

Pure functions. Turns are folded and dropped as a whole, the oldest first; of what was said in them,
the messages with the highest priority leave last. A summary covers them, too, so that nothing is
lost when they do.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from zkchat_cli.context.budget import Budget
from zkchat_cli.context.turns import Turn, TurnHistory
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import PromptMessage

# Share of the messages' budget for important messages without their turns
IMPORTANT_SHARE = 0.1


class _ImportantMessage(NamedTuple):
    """A message that may stay, with its turn and its position there."""

    priority: int
    turn: Turn
    position: int
    message: ZkChatMessage

    @property
    def rank(self) -> tuple[int, int, int]:
        """The highest rank stays longest: a higher priority first, then the newer message."""
        return self.priority, self.turn.number, self.position


def important_room(budget: Budget) -> int:
    """Tokens for important messages without their turns."""
    return int(IMPORTANT_SHARE * budget.messages)


def keep_important(history: TurnHistory, room: int) -> TurnHistory:
    """The history with its most important messages as fixed ones, in at most `room` tokens.

    Higher priorities come first, then newer messages. The first one that does not fit ends the
    list, so that none with a lower priority stays instead; only a message that is larger than the
    room is passed over.
    """
    chosen: list[_ImportantMessage] = []
    left = room
    for each in sorted(_important_messages(history), key=lambda each: each.rank, reverse=True):
        tokens = each.turn.render_kept(each.message).tokens
        if tokens > room:
            continue
        left -= tokens
        if left < 0:
            break
        chosen.append(each)
    kept: defaultdict[int, list[PromptMessage]] = defaultdict(list)
    for each in sorted(chosen, key=lambda each: (each.turn.number, each.position)):
        kept[each.turn.number].append(each.turn.render_kept(each.message))
    return history.with_fixed(kept)


def _important_messages(history: TurnHistory) -> Iterator[_ImportantMessage]:
    for turn in history.important:
        important = {message.id for message in turn.important}
        for position, message in enumerate(turn.messages):
            if message.id in important:
                yield _ImportantMessage(turn.priorities[position], turn, position, message)
