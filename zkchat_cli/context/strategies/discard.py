"""Keep the newest turns that fit; forget the rest (they stay in the log)."""

from zkchat_cli.context.strategies.base import HistoryWindow, Selection, Strategy
from zkchat_cli.context.turns import select_newest_in_batches


def choose(offer: HistoryWindow) -> Selection:
    return Selection(
        select_newest_in_batches(offer.recent, offer.budget, offer.fixed_tokens, total=offer.recent_tokens, batch=offer.drop_batch)
    )


STRATEGY = Strategy("discard", "the newest turns that fit", summarizes=False, choose=choose)
