"""A rolling summary, the newest turns, and any older turn that bears on the new message."""

from zkchat_cli.context.recall import cost, recall
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
    recalled = recall(offer.question, older, offer.room - sum(turn.tokens for turn in kept), offer.counter)
    kept = newest_that_fit(offer.recent, offer.room - cost(recalled, offer.counter))  # what recall does not need is the newest turns'
    whole = {turn.id for turn in kept}
    return Choice(kept, tuple(turn for turn in recalled if turn.id not in whole))


STRATEGY = Strategy("hybrid", "summary, newest turns, and older ones that bear on the question", summarizes=True, choose=choose)
