"""Compaction: which turns a summary should stand for, and whether it is worth it. Decides; the session stores.

Nothing is deleted: a compaction is a row that says which messages its summary covers. That makes preview, undo and export free.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from zkchat_cli.context.extractive import summarize
from zkchat_cli.context.turns import Turn
from zkchat_cli.tokens import TokenCounter

SMALLER_BY = 0.8
"""A summary may take at most this share of what it replaces; otherwise folding gains nothing worth the loss of detail."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Turns that a summary is to stand for (from the conversation's first), of which `new` were not covered before."""

    turns: tuple[Turn, ...]
    new: tuple[Turn, ...]

    @property
    def last_id(self) -> str:
        return self.turns[-1].messages[-1].id

    @property
    def messages_folded(self) -> int:
        return sum(len(turn.messages) for turn in self.new)


def plan(turns: Sequence[Turn], covered: int, keep: int, *, room: int | None = None) -> Fold | None:
    """The oldest turns to fold so that at least `keep` messages stay whole; a turn is never cut. None when there is nothing to fold.

    `covered` turns at the front are in a summary already. Given a `room` in tokens for what stays whole, `keep` is only a wish: fewer
    stay when they do not fit, or when a short conversation would have nothing to fold; but always the last turn, unless `keep` is 0.
    """
    border = _border(turns, keep)
    if room is not None:
        while border == 0 and keep > 1:
            keep //= 2
            border = _border(turns, keep)
        while border < len(turns) - 1 and sum(turn.tokens for turn in turns[border:]) > room:
            border += 1
    return Fold(tuple(turns[:border]), tuple(turns[covered:border])) if border > covered else None


def _border(turns: Sequence[Turn], keep: int) -> int:
    border, kept = len(turns), 0
    while border > 0 and kept < keep:
        border -= 1
        kept += len(turns[border].messages)
    return border


def extract(fold: Fold, target: int, counter: TokenCounter, instructions: str | None = None) -> str | None:
    """A summary of the fold in at most `target` tokens, without a model; None when it would not be clearly smaller than what it replaces.

    It is made from the raw turns each time, never from the previous summary, so that nothing fades from copying copies. Sentences that
    share words with `instructions` ("keep the syntax examples") come first.
    """
    room = min(target, int(SMALLER_BY * sum(turn.tokens for turn in fold.turns)))
    return summarize(fold.turns, room, counter, instructions or "") if room > 0 else None
