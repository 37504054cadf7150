"""Keep a rolling summary of the older turns and the newest turns."""

from zkchat_cli.context.strategies.base import HistoryWindow, Selection, Strategy
from zkchat_cli.context.turns import select_newest_in_batches


def choose(window: HistoryWindow) -> Selection:
    return Selection(
        select_newest_in_batches(window.recent, window.budget, window.fixed_tokens, total=window.recent_tokens, batch=window.drop_batch)
    )


STRATEGY = Strategy("summarize", "a rolling summary and the newest turns", summarizes=True, choose=choose)
