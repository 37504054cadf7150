"""The interface of a strategy: it chooses which turns, and which passages of older ones, go into a
token budget.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from zkchat_cli.context.passages import RecallPassage
from zkchat_cli.context.recall import RecallIndex
from zkchat_cli.context.turns import Turn, TurnHistory, select_newest
from zkchat_cli.tokens.counter import TokenCounter


class Selection(NamedTuple):
    """The newest turns, without gaps, which are sent in full, and passages that are quoted from
    older turns.
    """

    turns: tuple[Turn, ...]
    passages: tuple[RecallPassage, ...] = ()


class HistoryWindow(NamedTuple):
    """What a strategy chooses from.

    `turns` are all turns, `recent` those that no summary covers. Fixed messages of turns that it
    does not choose are sent anyway, and count against the `budget`.
    """

    turns: tuple[Turn, ...]
    recent: TurnHistory
    question: str
    budget: int
    counter: TokenCounter
    # The recall index of these turns
    index_turns: Callable[[Sequence[Turn]], RecallIndex] | None
    # The ids of all fixed messages in the prompt, which need not be recalled
    fixed_ids: frozenset[str]
    # The priorities that the user set, by the messages' ids
    set_priorities: Mapping[str, int]
    # Tokens that the history may take before a compaction is due
    compaction_room: int
    # Tokens to drop at once, so that the front of the prompt seldom changes
    drop_batch: int

    @property
    def is_folded(self) -> bool:
        """Whether a summary covers older turns."""
        return len(self.recent.turns) < len(self.turns)

    def tokens_with(self, chosen: Sequence[Turn]) -> int:
        """Tokens of the chosen turns, plus those of the fixed messages in recent turns that are not
        chosen.
        """
        return self.recent.fixed_tokens + sum(turn.foldable_tokens for turn in chosen)


def choose_newest(window: HistoryWindow) -> Selection:
    """The newest turns that fit.

    What is dropped is rounded up to a multiple of `drop_batch`. The last turn stays if it fits.
    """
    kept = select_newest(window.recent, window.budget)
    dropped = window.recent.tokens - sum(turn.tokens for turn in kept)
    first = 0
    batches = math.ceil(dropped / window.drop_batch)
    target = batches * window.drop_batch
    while dropped < target and first < len(kept) - 1:
        dropped += kept[first].tokens
        first += 1
    return Selection(kept[first:])


class Strategy(NamedTuple):
    """A way to choose turns.

    `summarizes`: a summary replaces folded turns, and compaction runs when it is due.
    """

    name: str
    help: str
    summarizes: bool
    choose: Callable[[HistoryWindow], Selection]
