"""Keep the newest turns that fit; forget the rest (they stay in the log)."""

from zkchat_cli.context.strategies import Choice, Offer, Strategy
from zkchat_cli.context.turns import newest_that_fit


def choose(offer: Offer) -> Choice:
    return Choice(newest_that_fit(offer.folded + offer.recent, offer.room))


STRATEGY = Strategy("discard", "the newest turns that fit", summarizes=False, choose=choose)
