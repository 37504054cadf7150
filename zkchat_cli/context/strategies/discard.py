"""Keep the newest turns that fit; drop the others, which stay in the log."""

from zkchat_cli.context.strategies.base import HistoryWindow, Selection, Strategy
from zkchat_cli.context.turns import select_newest_in_batches


def choose(window: HistoryWindow) -> Selection:
    return Selection(
        select_newest_in_batches(window.recent, window.budget, window.fixed_tokens, total=window.recent_tokens, batch=window.drop_batch)
    )


STRATEGY = Strategy("discard", "the newest turns that fit", summarizes=False, choose=choose)
