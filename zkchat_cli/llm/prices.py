"""What a model's tokens cost: as the user says, else as its server or zkchat's table says."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from zkchat_cli.config.prices import parse_price
from zkchat_cli.llm.base import Model
from zkchat_cli.models.money import Price


def find_price(lines: Sequence[str], model: Model) -> Price | None:
    """The price of a model; None if nobody says it. `lines` are those of `llm.prices`; the first
    that fits counts.
    """
    for line in lines:
        own = parse_price(line)
        if fnmatchcase(model.name, own.pattern):
            return Price(own.input, own.output, own.cached, currency=own.currency)
    return model.price
