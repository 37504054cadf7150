"""Keeps a rolling summary of the older turns, and the newest turns."""

from zkchat_cli.context.strategies.base import Strategy, choose_newest

STRATEGY = Strategy(
    "summarize", "a rolling summary and the newest turns", summarizes=True, choose=choose_newest
)
