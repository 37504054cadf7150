"""Registry: what to send when a conversation outgrows its budget. Each file declares `STRATEGY`."""

import sys

from zkchat_cli import registry
from zkchat_cli.context.strategies.base import Strategy


def names() -> list[str]:
    return registry.names(sys.modules[__name__])


def strategy(name: str) -> Strategy:
    """Raises KeyError for an unknown name."""
    found: Strategy = registry.load(sys.modules[__name__], name, "STRATEGY")
    return found
