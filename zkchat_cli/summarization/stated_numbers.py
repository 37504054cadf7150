"""The numbers that a text states, in digits, as months and as words."""

import re
from itertools import chain

from zkchat_cli.text.dates import MONTHS
from zkchat_cli.text.numbers import DIGITS, NUMBER_WORDS, number_parts
from zkchat_cli.text.patterns import lazy_pattern

_NUMBER = lazy_pattern(r"(?<![0-9A-Za-z_.,])" + DIGITS)
_LATIN_WORD = re.compile(r"[a-z]+")
_MONTH_NUMBERS = {month.lower(): str(number) for number, month in enumerate(MONTHS, 1)}
_NUMBER_OF = {
    **_MONTH_NUMBERS,
    **{month[:3]: number for month, number in _MONTH_NUMBERS.items()},
    **NUMBER_WORDS,
}


def find_numbers(text: str) -> list[str]:
    """The numbers in digits, in their order; a date has several."""
    return list(chain.from_iterable(map(number_parts, _NUMBER.findall(text))))


def known_numbers(text: str) -> set[str]:
    """The numbers in a text, those of its months, and small ones that are written as words."""
    numbers = set(find_numbers(text))
    for word in _LATIN_WORD.findall(text.lower()):
        if word in _NUMBER_OF:
            numbers.add(_NUMBER_OF[word])
    return numbers
