"""Compaction: which turns a summary should stand for, and which summary is worth having. Decides; `ladder.py` acts.

Nothing is deleted: a compaction is a row that says which messages its summary covers. That makes preview, undo and export free.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from zkchat_cli.context.prompt_assembly import count_covered_turns
from zkchat_cli.context.turns import Turn
from zkchat_cli.models import Compaction
from zkchat_cli.tokens.counter import TokenCounter

SMALLER_BY = 0.8
"""A summary may take at most this share of what it replaces; otherwise folding gains nothing worth the loss of detail."""
USUAL_SIZE = 0.07
"""Of the messages' budget, what a model is asked to summarise a conversation in. It is sent to it again with each summary: with more, a
long conversation would cost much more than its own words."""
RELIEF = 0.75
"""Of the room there is for summary and turns, what masking must come down to, or turns are folded: a smaller relief would not last, and
each change of the prompt's front costs a provider's cache."""
NEWS = 0.1
"""Of a prompt that a model failed to summarise, the tokens that must have come before it is asked again."""


@dataclass(frozen=True, slots=True)
class FoldPlan:
    """Turns that a summary is to stand for (from the conversation's first), of which `new` were not covered before."""

    turns: tuple[Turn, ...]
    new: tuple[Turn, ...]

    @property
    def last_id(self) -> str:
        return self.turns[-1].messages[-1].id

    @property
    def messages_folded(self) -> int:
        return sum(len(turn.messages) for turn in self.new)

    @property
    def tokens(self) -> int:
        """What leaves the prompt with the turns."""
        return sum(turn.foldable_tokens for turn in self.turns)

    @property
    def new_tokens(self) -> int:
        return sum(turn.foldable_tokens for turn in self.new)


def plan_fold(turns: Sequence[Turn], covered: int, keep: int, *, room: int | None = None) -> FoldPlan | None:
    """The oldest turns to fold so that at least `keep` messages stay whole; a turn is never cut. None when there is nothing to fold.

    `covered` turns at the front are in a summary already. Given a `room` in tokens for what stays whole, besides what is in every prompt
    anyway, `keep` is only a wish: fewer stay when they do not fit, or when a short conversation would have nothing to fold; but always the
    last turn, unless `keep` is 0.
    """
    border = first_kept_turn(turns, keep)
    if room is not None:
        while border == 0 and keep > 1:
            keep //= 2
            border = first_kept_turn(turns, keep)
        over = sum(turn.foldable_tokens for turn in turns[border:]) - room
        while border < len(turns) - 1 and over > 0:
            over -= turns[border].foldable_tokens
            border += 1
    return FoldPlan(tuple(turns[:border]), tuple(turns[covered:border])) if border > covered else None


def first_kept_turn(turns: Sequence[Turn], keep: int) -> int:
    """The first of the turns that hold the last `keep` messages."""
    border, kept = len(turns), 0
    while border > 0 and kept < keep:
        border -= 1
        kept += len(turns[border].messages)
    return border


def rejection_reason(summary: str | None, limit: int, replaced: int, counter: TokenCounter) -> str | None:
    """Why a model's summary is not taken; None for one that is."""
    if summary is None:
        return "the model's answer held no summary"
    tokens = counter.count(summary)
    if tokens > limit:
        return f"the model's summary has {tokens} tokens; at most {limit} are allowed"
    if tokens >= replaced:
        return f"the model's summary has {tokens} tokens and would stand for {replaced}"
    return None


def truncation_notice(fold: FoldPlan) -> str:
    """What is said in place of turns that nothing could summarise."""
    days = sorted({message.timestamp[:10] for turn in fold.turns for message in turn.messages} - {""})
    when = f", {days[0]} to {days[-1]}," if days else ""
    return f"[{sum(len(turn.messages) for turn in fold.turns)} earlier messages{when} are left out here without a summary.]"


@dataclass(frozen=True, slots=True)
class SummaryCoverage:
    """What a summary stands for."""

    turns: int
    messages: int
    first_date: str | None
    last_date: str | None


def summary_coverage(compaction: Compaction, turns: Sequence[Turn]) -> SummaryCoverage:
    """What the summary of a compaction covers of a branch."""
    folded = turns[: count_covered_turns(compaction, turns)] if compaction.summary else ()
    messages = [message for turn in folded if not turn.failed for message in turn.messages]
    days = [message.timestamp[:10] for message in messages if message.timestamp]
    return SummaryCoverage(sum(not turn.failed for turn in folded), len(messages), min(days, default=None), max(days, default=None))


def recently_failed(compactions: Sequence[Compaction], turns: Sequence[Turn], *, automatic: bool) -> bool:
    """Whether a model failed to summarise this conversation a short while ago, as the stored compactions tell.

    It is asked again after so much news (`NEWS`); by a user who wishes it, after any.
    """
    last = next((c for c in reversed(compactions) if c.model_calls), None)
    if last is None or last.mode in ("full", "simple"):
        return False
    news = 0
    for turn in reversed(turns):
        if any(message.id == last.made_after for message in turn.messages):
            return news < NEWS * last.tokens_before if automatic else news == 0
        news += turn.tokens
    return False
