"""Amounts of money, and the prices of tokens. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from zkchat_cli.models.base import Quantity, Value

MILLION = 1_000_000
DOLLARS = "USD"


class Money(Value):
    """An amount in a currency, by its ISO 4217 code."""

    amount: Quantity
    currency: str = DOLLARS


class TokenCounts(NamedTuple):
    """The tokens of a call, each charged at its price; `cached` and `written` are parts of
    `prompt`: what came from the provider's cache, and what was written to it.
    """

    prompt: int
    completion: int = 0
    cached: int = 0
    written: int = 0


class Price(NamedTuple):
    """What a million tokens cost; None is unknown, and charged like any other token of the prompt.

    A call with a prompt of more than `long_prompt` tokens is charged at `long_price` as a whole.
    """

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None
    currency: str = DOLLARS
    long_prompt: int | None = None
    long_price: "Price | None" = None

    def cost(self, tokens: TokenCounts) -> Money:
        """What these tokens cost."""
        if self.long_price is not None and tokens.prompt > (self.long_prompt or 0):
            return self.long_price.cost(tokens)
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.cache_write is None else self.cache_write
        plain = max(0, tokens.prompt - tokens.cached - tokens.written)
        total = plain * self.input + tokens.cached * cached + tokens.written * written
        total += tokens.completion * self.output
        return Money(amount=round(total / MILLION, 9), currency=self.currency)

    def share_of_prompt(self, tokens: int, total: int) -> Money:
        """What a part of a prompt of `total` tokens costs, if nothing comes from the cache."""
        if self.long_price is not None and total > (self.long_prompt or 0):
            return self.long_price.cost(TokenCounts(tokens))
        return self._replace(long_price=None).cost(TokenCounts(tokens))


def sum_money(amounts: Iterable[Money | None]) -> Money | None:
    """The sum of the amounts; None if one of them is unknown or in another currency, or if there
    are none.
    """
    total: Money | None = None
    for amount in amounts:
        if amount is None or (total is not None and total.currency != amount.currency):
            return None
        before = 0.0 if total is None else total.amount
        total = Money(amount=round(before + amount.amount, 9), currency=amount.currency)
    return total
