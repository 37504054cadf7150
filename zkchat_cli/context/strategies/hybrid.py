"""Keep a rolling summary, the newest turns, and relevant passages of older ones.

The newest turns get at least 10 % of the messages' budget; 5 % is a buffer for estimated counts.
Recall gets the rest and leaves what it does not need to the newest turns. Memory and fixed messages
are subtracted before. After a compaction recall does not fill the prompt above the size at which
the next one is due.
"""

from zkchat_cli.context.recall import recall_passages
from zkchat_cli.context.strategies.base import HistoryWindow, Selection, Strategy
from zkchat_cli.context.turns import select_newest

NEWEST_SHARE = 0.1
"""Without a summary recall serves better: with 20 % fewer evidence turns of LoCoMo's questions are
sent (ev1 .950 instead of .961).
"""
NEWEST_SHARE_WITH_SUMMARY = 0.6
"""The summary covers older turns, and after a compaction all turns fit: dropping many at once would
break every prompt cache.
"""
BUFFER_SHARE = 0.05
# Tokens, however large the window: passages are paid for with each message and never cached
MAX_RECALLED = 4000


def choose(window: HistoryWindow) -> Selection:
    recent = window.recent
    turns = select_newest(recent, window.budget)
    if not window.question or len(turns) == len(window.turns):
        return turns, ()
    budget = window.budget - (int(BUFFER_SHARE * window.budget) if window.counter.estimated else 0)
    share = NEWEST_SHARE_WITH_SUMMARY if window.is_folded else NEWEST_SHARE
    fixed = recent.fixed_tokens
    least = select_newest(recent, fixed + int(share * (budget - fixed))) or turns[-1:]
    window.recall_index.update(window.turns)
    count = len(window.turns)
    left = min(budget - window.tokens_with(least), MAX_RECALLED)
    if window.is_folded:
        left = min(left, window.compaction_room - recent.tokens)
    passages, tokens = recall_passages(
        window.recall_index,
        window.question,
        count - len(least),
        left,
        window.counter,
        window.fixed_ids,
    )
    turns = max(select_newest(recent, budget - tokens), least, key=len)
    return turns, tuple(passage for passage in passages if passage.turn < count - len(turns))


STRATEGY = Strategy(
    "hybrid", "summary, newest turns, and relevant older ones", summarizes=True, choose=choose
)
