"""Drawer: what to send when a conversation outgrows its budget. Each file declares `STRATEGY`.

A strategy is offered the turns that no summary covers and those that one does, and chooses within a room of tokens.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zkchat_cli.context.recall.index import RecallIndex
from zkchat_cli.context.recall.passages import RecallPassage
from zkchat_cli.context.turn_history import TurnHistory
from zkchat_cli.context.turns import Turn
from zkchat_cli.tokens.counter import TokenCounter


@dataclass(frozen=True, slots=True)
class HistoryWindow:
    """What there is to choose from: the turns of a `history` that can be sent. Of these, `folded` are covered by the summary, and `recent`
    ones stand after it.

    What is fixed in a recent turn that is not kept is sent, too, and takes of the `room` (see `beside`).
    """

    history: TurnHistory
    folded_count: int
    recent: tuple[Turn, ...]
    question: str
    budget: int
    counter: TokenCounter
    asked_at: str
    """ISO 8601; empty where nobody asks."""
    recall_index: RecallIndex
    recent_tokens: int
    """Those of all recent turns together."""
    fixed_tokens: int
    """Tokens of what is fixed in the recent turns."""
    drop_batch: int
    """Tokens that are left out at once where older turns are; the same from turn to turn."""

    def other_fixed_tokens(self, kept: Sequence[Turn]) -> int:
        """Tokens of what is fixed in the recent turns but these."""
        return self.fixed_tokens - sum(turn.fixed_tokens for turn in kept)


@dataclass(frozen=True, slots=True)
class Selection:
    """`kept`: the newest turns, contiguous, sent whole. `recalled`: what is quoted of older ones because it bears on the question."""

    turns: tuple[Turn, ...]
    passages: tuple[RecallPassage, ...] = ()


@dataclass(frozen=True, slots=True)
class Strategy:
    """`summarizes`: folded turns are represented by their summary, and compaction runs when it is due."""

    name: str
    help: str
    summarizes: bool
    choose: Callable[[HistoryWindow], Selection]
