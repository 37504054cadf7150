"""The interface of a strategy: it chooses which turns, and which passages of older ones, go into a token budget."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from zkchat_cli.context.recall import RecallIndex, RecallPassage
from zkchat_cli.context.turns import Turn, select_newest
from zkchat_cli.tokens.counter import TokenCounter


class HistoryWindow(NamedTuple):
    """What a strategy chooses from: of all `turns` the `recent` ones after the summary. Fixed messages of turns it does not choose are sent
    anyway, and count against the `budget`."""

    turns: tuple[Turn, ...]
    folded_count: int
    """Turns that the summary covers."""
    recent: tuple[Turn, ...]
    question: str
    budget: int
    counter: TokenCounter
    recall_index: RecallIndex
    recent_tokens: int
    fixed_tokens: int
    """Of the recent turns' fixed messages."""
    fixed_ids: frozenset[str]
    """All fixed messages in the prompt, which need not be recalled."""
    compaction_room: int
    """Tokens that the history may take before a compaction is due."""
    drop_batch: int
    """Tokens to drop at once, so that the front of the prompt changes seldom."""

    def other_fixed_tokens(self, chosen: Sequence[Turn]) -> int:
        """Tokens of the fixed messages in the recent turns that are not chosen."""
        return self.fixed_tokens - sum(turn.fixed_tokens for turn in chosen)


class Selection(NamedTuple):
    """`turns`: the newest ones, without gaps, sent in full. `passages`: quoted from older turns."""

    turns: tuple[Turn, ...]
    passages: tuple[RecallPassage, ...] = ()


def choose_newest(window: HistoryWindow) -> Selection:
    """The newest turns that fit; what is dropped is rounded up to a multiple of `drop_batch`. The last turn stays if it fits."""
    kept = select_newest(window.recent, window.budget, window.fixed_tokens)
    dropped, first = window.recent_tokens - sum(turn.tokens for turn in kept), 0
    target = -(-dropped // window.drop_batch) * window.drop_batch
    while dropped < target and first < len(kept) - 1:
        dropped += kept[first].tokens
        first += 1
    return Selection(kept[first:])


class Strategy(NamedTuple):
    """`summarizes`: a summary replaces folded turns, and compaction runs when it is due."""

    name: str
    help: str
    summarizes: bool
    choose: Callable[[HistoryWindow], Selection]
