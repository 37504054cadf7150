"""Amounts of money and prices, as text."""

from typing import TYPE_CHECKING

from zkchat_cli.text.numbers import amount_text

# Their models of pydantic would make the start slower
if TYPE_CHECKING:
    from zkchat_cli.models.money import Money, Price


def money_text(money: "Money | None") -> str:
    """`$1.25`, `$0.0132`, `0.50 EUR`; empty for an unknown amount."""
    return "" if money is None else amount_text(money.amount, money.currency)


def price_text(price: "Price | None") -> str:
    """`$4 in, $0.40 cached, $20 out for a million tokens`"""
    if price is None:
        return "price unknown"
    if not price.input and not price.output:
        return "free of charge"
    parts = [f"{amount_text(price.input, price.currency)} in"]
    if price.cached is not None:
        parts.append(f"{amount_text(price.cached, price.currency)} cached")
    parts.append(f"{amount_text(price.output, price.currency)} out")
    return f"{', '.join(parts)} for a million tokens"
