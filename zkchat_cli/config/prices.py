"""A user's own prices of models, as the setting `llm.prices` has them."""

import re
from typing import NamedTuple

_LINE = re.compile(
    r"\s*(?P<model>[^=\s]+)\s*=\s*"
    r"(?P<input>\d+(?:\.\d+)?)(?:\s*/\s*(?P<output>\d+(?:\.\d+)?))?"
    r"(?:\s*/\s*(?P<cached>\d+(?:\.\d+)?))?"
    r"(?:\s+(?P<currency>[A-Z]{3}))?\s*"
)
PRICE_FORM = (
    "a price is written MODEL = INPUT/OUTPUT, such as openai/my-model = 0.5/1.5, for a million "
    "tokens in dollars; MODEL = INPUT/OUTPUT/CACHED EUR says more, and ollama/* = 0 is for all"
)


class PriceLine(NamedTuple):
    """The price of the models that a pattern names, for a million tokens; `cached` may be
    unknown.
    """

    pattern: str
    input: float
    output: float
    cached: float | None
    currency: str


def parse_price(line: str) -> PriceLine:
    """A price as it is written in the settings. Raises ValueError for another form."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise ValueError(PRICE_FORM)
    cached = found["cached"]
    return PriceLine(
        found["model"],
        float(found["input"]),
        float(found["output"] or found["input"]),
        None if cached is None else float(cached),
        found["currency"] or "USD",
    )
