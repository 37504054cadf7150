"""Keep a rolling summary of the older turns and the newest turns whole."""

from zkchat_cli.context.strategies import Choice, Offer, Strategy
from zkchat_cli.context.turns import newest_in_batches


def choose(offer: Offer) -> Choice:
    return Choice(newest_in_batches(offer.recent, offer.room, offer.fixed, total=offer.tokens, batch=offer.batch))


STRATEGY = Strategy("summarize", "a rolling summary and the newest turns", summarizes=True, choose=choose)
