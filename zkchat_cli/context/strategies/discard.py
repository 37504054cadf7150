"""Keep the newest turns that fit; forget the rest (they stay in the log)."""

from zkchat_cli.context.strategies.base import HistoryWindow, Selection, Strategy
from zkchat_cli.context.turns import newest_in_batches


def choose(offer: HistoryWindow) -> Selection:
    return Selection(newest_in_batches(offer.recent, offer.room, offer.fixed, total=offer.tokens, batch=offer.batch))


STRATEGY = Strategy("discard", "the newest turns that fit", summarizes=False, choose=choose)
