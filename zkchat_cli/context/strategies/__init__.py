"""Registry: what to send when a conversation outgrows its budget. Each file declares `STRATEGY`."""

from zkchat_cli.context.strategies.base import Strategy
from zkchat_cli.registry import Registry

STRATEGIES: Registry[Strategy] = Registry(__name__, "STRATEGY")
names = STRATEGIES.names
strategy = STRATEGIES.load
