"""Keep a rolling summary of the older turns and the newest turns whole."""

from zkchat_cli.context.strategies import Choice, Offer, Strategy
from zkchat_cli.context.turns import newest_that_fit


def choose(offer: Offer) -> Choice:
    return Choice(newest_that_fit(offer.recent, offer.room))


STRATEGY = Strategy("summarize", "a rolling summary and the newest turns", summarizes=True, choose=choose)
