"""Keep a rolling summary of the older turns and the newest turns whole."""

from zkchat_cli.context.strategies.base import HistoryWindow, Selection, Strategy
from zkchat_cli.context.turns import newest_in_batches


def choose(offer: HistoryWindow) -> Selection:
    return Selection(newest_in_batches(offer.recent, offer.room, offer.fixed, total=offer.tokens, batch=offer.batch))


STRATEGY = Strategy("summarize", "a rolling summary and the newest turns", summarizes=True, choose=choose)
