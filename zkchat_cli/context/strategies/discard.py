"""Keep the newest turns that fit; forget the rest (they stay in the log)."""

from zkchat_cli.context.strategies import Choice, Offer, Strategy
from zkchat_cli.context.turns import newest_in_batches


def choose(offer: Offer) -> Choice:
    return Choice(newest_in_batches(offer.recent, offer.room, offer.fixed, total=offer.tokens, batch=offer.batch))


STRATEGY = Strategy("discard", "the newest turns that fit", summarizes=False, choose=choose)
