"""A rolling summary, the newest turns, and whatever was said before that bears on the new message.

Of the messages' room, memory has 20 %, what is critical (of priority 8 and more) 30 %, what is important (6 and 7) 25 %, the newest turns
20 %, and 5 % are a buffer for counting that is not exact; what one does not use flows on to the next. Memory and what is kept word for
word (pinned, instructions) are taken off before a strategy is asked. Recall takes the critical, the important and then whatever else bears
on the message at hand (see `recall.SHARES`), and leaves what it does not need to the newest turns.
"""

from zkchat_cli.context.recall.index import recall_passages
from zkchat_cli.context.recall.passages import estimate_passage_tokens
from zkchat_cli.context.strategies.base import HistoryWindow, Selection, Strategy
from zkchat_cli.context.turns import select_newest

NEWEST_SHARE = 0.2
"""Of the room: the least that the newest turns get."""
NEWEST_SHARE_BESIDE_A_SUMMARY = 0.6
"""There, older turns are told of already, and compaction has left turns that all fit: to drop many at once would break every cache."""
BUFFER_SHARE = 0.05
MOST_RECALLED = 4000
"""Tokens, however large the window: quotations are paid for with each message, and no provider's cache helps."""


def choose(offer: HistoryWindow) -> Selection:
    kept = select_newest(offer.recent, offer.budget, offer.fixed_tokens)
    if not offer.question or (len(kept) == len(offer.recent) and not offer.folded_count):
        return Selection(kept)
    room = offer.budget - (int(BUFFER_SHARE * offer.budget) if offer.counter.estimated else 0)
    share = NEWEST_SHARE_BESIDE_A_SUMMARY if offer.folded_count else NEWEST_SHARE
    least = select_newest(offer.recent, offer.fixed_tokens + int(share * (room - offer.fixed_tokens)), offer.fixed_tokens) or kept[-1:]
    offer.recall_index.sync(offer.history)
    turns = offer.folded_count + len(offer.recent)
    left = min(room - sum(turn.tokens for turn in least) - offer.other_fixed_tokens(least), MOST_RECALLED)
    recalled = recall_passages(offer.recall_index, offer.question, offer.asked_at, turns - len(least), left, offer.counter)
    kept = select_newest(offer.recent, room - estimate_passage_tokens(recalled, offer.counter), offer.fixed_tokens)  # what recall leaves
    kept = max(kept, least, key=len)
    return Selection(kept, tuple(passage for passage in recalled if passage.turn < turns - len(kept)))


STRATEGY = Strategy("hybrid", "summary, newest turns, and older ones that bear on the question", summarizes=True, choose=choose)
