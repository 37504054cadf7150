"""The currencies that people write beside amounts of money."""

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.patterns import lazy_pattern

_WRITTEN = {
    "€": "€ eur euro euros",
    "$": "$ us$ usd dollar dollars",
    "£": "£ gbp pound pounds quid",
    "CHF": "chf franken francs",
    "R$": "r$ brl reais real",
    "¥": "¥ jpy yen",
    "₹": "₹ inr rupee rupees rupien",
    "SEK": "sek",
    "NOK": "nok",
    "DKK": "dkk",
    # Of one of these three countries; which one, the word does not tell
    "kr": "kr kronen kronor kroner",
    "zł": "zl pln zloty zlotys",
}
_SIGNS = {name: sign for sign, names in _WRITTEN.items() for name in names.split()}
CURRENCY_NAMES = tuple(_SIGNS)
"""All signs, codes and names of currencies, folded."""
_WORD_OR_SIGN = lazy_pattern(r"(?:r|us)\$|[€$£¥₹]|[^\W\d_]+")


def currency_in(text: str) -> str:
    """The sign of the first currency that a text names ("€" for "30 euros"); empty without one."""
    for found in _WORD_OR_SIGN.finditer(fold(text)):
        if found[0] in _SIGNS:
            return _SIGNS[found[0]]
    return ""
