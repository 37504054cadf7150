"""Amounts of money and prices, as text."""

from zkchat_cli.models.money import DOLLARS, Money, Price

# Amounts below this are shown with four digits after the point
SMALL = 1


def money_text(money: Money | None) -> str:
    """`$1.25`, `$0.0132`, `0.50 EUR`; empty for an unknown amount."""
    if money is None:
        return ""
    return _amount_text(money.amount, money.currency)


def price_text(price: Price | None) -> str:
    """`$4 in, $0.40 cached, $20 out for a million tokens`"""
    if price is None:
        return "price unknown"
    if not price.input and not price.output:
        return "free of charge"
    parts = [f"{_amount_text(price.input, price.currency)} in"]
    if price.cached is not None:
        parts.append(f"{_amount_text(price.cached, price.currency)} cached")
    parts.append(f"{_amount_text(price.output, price.currency)} out")
    return f"{', '.join(parts)} for a million tokens"


def _amount_text(amount: float, currency: str) -> str:
    digits = 2 if amount >= SMALL or not amount else 4
    figure = f"{amount:,.{digits}f}"
    if digits > 2:
        # A last digit that is zero says nothing
        figure = figure.rstrip("0").ljust(len("0.00"), "0")
    if amount and not float(figure.replace(",", "")):
        figure = "<0.0001"
    return f"${figure}" if currency == DOLLARS else f"{figure} {currency}"
