"""Keeps the newest turns that fit, and drops the others, which stay in the log."""

from zkchat_cli.context.strategies.base import Strategy, choose_newest

STRATEGY = Strategy("discard", "the newest turns that fit", summarizes=False, choose=choose_newest)
