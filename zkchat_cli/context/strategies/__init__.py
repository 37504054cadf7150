"""Drawer: what to send when a conversation outgrows its budget. Each file declares `STRATEGY`.

A strategy is offered the turns that no summary covers and those that one does, and chooses within a room of tokens.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zkchat_cli import drawer
from zkchat_cli.context.history import History
from zkchat_cli.context.passages import Passage
from zkchat_cli.context.recall import RecallIndex
from zkchat_cli.context.turns import Turn
from zkchat_cli.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Offer:
    """What there is to choose from: the turns of a `history` that can be sent. Of these, `folded` are covered by the summary, and `recent`
    ones stand after it.

    What is fixed in a recent turn that is not kept is sent, too, and takes of the `room` (see `beside`).
    """

    history: History
    folded: int
    recent: tuple[Turn, ...]
    question: str
    room: int
    counter: TokenCounter
    asked_at: str
    """ISO 8601; empty where nobody asks."""
    index: RecallIndex
    tokens: int
    """Those of all recent turns together."""
    fixed: int
    """Tokens of what is fixed in the recent turns."""
    batch: int
    """Tokens that are left out at once where older turns are; the same from turn to turn."""

    def beside(self, kept: Sequence[Turn]) -> int:
        """Tokens of what is fixed in the recent turns but these."""
        return self.fixed - sum(turn.fixed_tokens for turn in kept)


@dataclass(frozen=True, slots=True)
class Choice:
    """`kept`: the newest turns, contiguous, sent whole. `recalled`: what is quoted of older ones because it bears on the question."""

    kept: tuple[Turn, ...]
    recalled: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Strategy:
    """`summarizes`: folded turns are represented by their summary, and compaction runs when it is due."""

    name: str
    help: str
    summarizes: bool
    choose: Callable[[Offer], Choice]


def names() -> list[str]:
    return drawer.names(sys.modules[__name__])


def strategy(name: str) -> Strategy:
    """The strategy of that name. Raises KeyError when there is none."""
    found: Strategy = drawer.take(sys.modules[__name__], name, "STRATEGY")
    return found
