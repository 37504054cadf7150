"""Keeps a rolling summary, the newest turns, and relevant passages of older ones.

The newest turns get at least 10 % of the messages' budget; 5 % is a buffer for estimated counts.
Recall gets the rest, and the newest turns get what it does not need. Memory and fixed messages are
subtracted before that. After a compaction, recall does not fill the prompt above the size at which
the next one is due.
"""

from zkchat_cli.context.recall import recall_passages
from zkchat_cli.context.strategies.base import HistoryWindow, Selection, Strategy
from zkchat_cli.context.turns import Turn, select_newest

NEWEST_SHARE = 0.1
"""Share of the newest turns without a summary.

Recall serves better then: with a share of 20 %, fewer evidence turns of LoCoMo's questions are sent
(ev1 .950 instead of .961).
"""
NEWEST_SHARE_WITH_SUMMARY = 0.6
"""Share of the newest turns with a summary.

The summary covers older turns, and after a compaction all turns fit: dropping many at once would
break every prompt cache.
"""
BUFFER_SHARE = 0.05
# Most tokens of recalled passages, however large the window is: they are paid for with each message
# and never cached
MAX_RECALLED = 4000


def choose(window: HistoryWindow) -> Selection:
    """The newest turns, and the passages of older ones that are relevant to the question."""
    recent = window.recent
    turns = select_newest(recent, window.budget)
    index_turns = window.index_turns
    if index_turns is None or not window.question or len(turns) == len(window.turns):
        return Selection(turns)
    budget = window.budget
    if window.counter.estimated:
        budget -= int(BUFFER_SHARE * window.budget)
    least = _least_turns(window, budget)
    found = recall_passages(
        index_turns(window.turns),
        window.question,
        len(window.turns) - len(least),
        _recall_budget(window, budget - window.tokens_with(least)),
        window.counter,
        window.fixed_ids,
        window.set_priorities,
    )
    more_turns = select_newest(recent, budget - found.tokens)
    turns = max(more_turns, least, key=len)
    first = len(window.turns) - len(turns)
    passages = tuple(passage for passage in found.passages if passage.turn < first)
    return Selection(turns, passages)


def _least_turns(window: HistoryWindow, budget: int) -> tuple[Turn, ...]:
    """The newest turns that are sent even if older ones are more relevant; at least one, if it
    fits.
    """
    recent = window.recent
    share = NEWEST_SHARE_WITH_SUMMARY if window.is_folded else NEWEST_SHARE
    fixed = recent.fixed_tokens
    least = select_newest(recent, fixed + int(share * (budget - fixed)))
    return least or select_newest(recent, window.budget)[-1:]


def _recall_budget(window: HistoryWindow, left: int) -> int:
    """Tokens for passages, if the budget has room for them."""
    most = min(left, MAX_RECALLED)
    if window.is_folded:
        most = min(most, window.compaction_room - window.recent.tokens)
    return most


STRATEGY = Strategy(
    "hybrid", "summary, newest turns, and relevant older ones", summarizes=True, choose=choose
)
