"""Drawer: what to send when a conversation outgrows its budget. Each file declares `STRATEGY`.

A strategy is offered the turns that no summary covers and those that one does, and chooses within a room of tokens.
"""

import sys

from zkchat_cli import registry
from zkchat_cli.context.strategies.base import Strategy


def strategy_names() -> list[str]:
    return registry.names(sys.modules[__name__])


def load_strategy(name: str) -> Strategy:
    """The strategy of that name. Raises KeyError when there is none."""
    found: Strategy = registry.load(sys.modules[__name__], name, "STRATEGY")
    return found
