"""A rolling summary, the newest turns, and any older turn that bears on the new message."""

from zkchat_cli.context.recall import recall
from zkchat_cli.context.strategies import Choice, Offer, Strategy
from zkchat_cli.context.turns import newest_that_fit

RECALL_SHARE = 0.4
"""Of the room, once not everything fits: what was said long ago but bears on the question beats more of what was said just now."""


def choose(offer: Offer) -> Choice:
    kept = newest_that_fit(offer.recent, offer.room)
    if len(kept) == len(offer.recent) and not offer.folded:
        return Choice(kept)
    if not offer.question:
        return Choice(kept)
    spare = offer.room - sum(turn.tokens for turn in kept)
    reserved = max(spare, int(offer.room * RECALL_SHARE))
    kept = newest_that_fit(offer.recent, offer.room - reserved)
    older = (offer.folded + offer.recent)[: len(offer.folded) + len(offer.recent) - len(kept)]
    return Choice(kept, recall(offer.question, older, offer.room - sum(turn.tokens for turn in kept), offer.counter))


STRATEGY = Strategy("hybrid", "summary, newest turns, and older ones that bear on the question", summarizes=True, choose=choose)
