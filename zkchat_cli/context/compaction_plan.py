"""Chooses the turns that a compaction folds into its summary.

Pure functions; `chat/compactor.py` acts. Nothing is deleted: a compaction is a row that says which
messages it masks and which its summary covers, so preview, undo and export are cheap.
"""

from collections.abc import Sequence
from typing import NamedTuple

from zkchat_cli.context.turns import Turn, TurnHistory
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import ZkChatMessage

USUAL_SUMMARY_SHARE = 0.07
"""Size of a model's summary, as a share of the messages' budget.

Each new summary sends the last one again: with a larger share, a long conversation would cost much
more than its own words.
"""


class CompactionRequest(NamedTuple):
    """What a compaction should do.

    The summary gets at most `target` tokens. The `keep` newest messages are not folded (None: the
    settings' number, as far as they fit). A `reason` makes the compaction automatic: it may stop
    after masking, and may drop turns as a last resort. Without `ask` no model is called.
    """

    reason: str | None = None
    instructions: str | None = None
    target: int | None = None
    keep: int | None = None
    preview: bool = False
    ask: bool = True
    # The turn in progress, because it needs room too
    current: tuple[ZkChatMessage, ...] = ()


class FoldPlan(NamedTuple):
    """Turns that a summary will replace, the oldest first; the earlier summary did not cover the
    `new` ones.
    """

    turns: tuple[Turn, ...]
    new: tuple[Turn, ...]

    @property
    def new_tokens(self) -> int:
        """Tokens that leave the prompt with the new turns."""
        return sum(turn.foldable_tokens for turn in self.new)


def plan_fold(
    turns: Sequence[Turn],
    covered: int,
    keep: int,
    *,
    budget: int | None = None,
    largest: int | None = None,
) -> FoldPlan | None:
    """The oldest turns to fold so that at least `keep` messages stay; None if there is nothing to
    fold.

    Turns are never split. The first `covered` turns are in a summary already. With a `budget` in
    tokens fewer than `keep` messages stay if they do not fit, or if a short conversation would have
    nothing to fold otherwise. The last turn stays, unless `keep` is 0 or the turn has more than
    `largest` tokens: no prompt would have it.
    """
    border = first_kept_turn(turns, keep)
    if budget is not None:
        while border == 0 and keep > 1:
            keep //= 2
            border = first_kept_turn(turns, keep)
        border = _border_within(turns, border, budget)
        if largest is not None and turns and turns[-1].foldable_tokens > largest:
            border = len(turns)
    if border <= covered:
        return None
    return FoldPlan(tuple(turns[:border]), tuple(turns[covered:border]))


def _border_within(turns: Sequence[Turn], border: int, budget: int) -> int:
    """The first turn to keep so that the kept turns take at most `budget` tokens, starting from
    `border`.

    The last turn stays in any case.
    """
    over = sum(turn.foldable_tokens for turn in turns[border:]) - budget
    while border < len(turns) - 1 and over > 0:
        over -= turns[border].foldable_tokens
        border += 1
    return border


def first_kept_turn(turns: Sequence[Turn], keep: int) -> int:
    """The index of the first turn with one of the last `keep` messages."""
    border = len(turns)
    kept = 0
    while border > 0 and kept < keep:
        border -= 1
        kept += len(turns[border].ids)
    return border


def summary_coverage(compaction: Compaction, history: TurnHistory) -> dict[str, int | str | None]:
    """How many turns and messages a summary covers, and from when."""
    folded = history.turns[: history.count_covered(compaction)]
    count = 0
    days: list[str] = []
    for turn in folded:
        count += len(turn.messages)
        days += [message.timestamp[:10] for message in turn.messages if message.timestamp]
    return {
        "turns": len(folded),
        "messages": count,
        "first_date": min(days, default=None),
        "last_date": max(days, default=None),
    }
