"""Numbers in words, and numbers from outside, which are bounded: JSON allows 10^310, NaN and true
where a number of tokens is meant.
"""

import re

from zkchat_cli.text.patterns import lazy_pattern

_FIRST_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
NUMBER_WORDS = {word: str(number) for number, word in enumerate(_FIRST_NUMBERS)}
"""Numbers in words, with their digits."""
# Whole numbers up to here may also count or number things in a text that is compared with others
_LARGEST_COUNT = 12
# Digits of a number that a user types
_MOST_DIGITS = 9
_THOUSANDS_MARK = lazy_pattern(r"(?<=\d)[,'’\u00a0\u202f](?=\d{3}(?!\d))")
# The pattern of a number, date, time or range in digits
DIGITS = r"\d+(?:[.,:'’\u00a0\u202f/-]\d+)*"
_DECIMAL = lazy_pattern(r"[€$£¥~≈ ]*(?P<number>-?\d{1,12}(?:[.,]\d{1,6})*)(?![\d-])")
_THOUSANDS = lazy_pattern(r"-?[1-9]\d{0,2}(?:,\d{3})+|-?[1-9]\d{0,2}(?:\.\d{3})+")
_WHOLE_NUMBER = lazy_pattern(r"-?[0-9]{1,9}(?:\.0{1,9})?")
# Larger than any number of tokens, lines or results, and small enough for every sum and every
# column of a database
MAX_COUNT = 10**9


def number_parts(written: str) -> list[str]:
    """A number in digits without separators and leading zeros; the parts of a date, time or
    range.
    """
    parts = re.split(r"[:/-]", _THOUSANDS_MARK.sub("", written))
    return [part.lstrip("0") or "0" for part in parts]


def read_decimal(text: str) -> float | None:
    """The number that a text begins with, perhaps behind a currency: 12000 for "€ 12,000 a year";
    None without one. "4/5" is 4, and a date is no number.
    """
    found = _DECIMAL.match(text.strip())
    if found is None:
        return None
    written = found["number"]
    if _THOUSANDS.fullmatch(written):
        return float(written.replace(",", "").replace(".", ""))
    if written.count(",") + written.count(".") > 1:
        return None
    return float(written.replace(",", "."))


def may_count(part: str) -> bool:
    """Whether a part of a number is small enough to count or number things."""
    # Python refuses to convert more than 4,300 digits
    return part.isdigit() and len(part) <= 2 and int(part) <= _LARGEST_COUNT


def whole_number(value: object, *, least: int = 0) -> int | None:
    """The value if it is a whole number from `least` to `MAX_COUNT`, else None. `12.0` is one;
    `"12"`, NaN and true are none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not least <= value <= MAX_COUNT or value != int(value):
        return None
    return int(value)


def read_whole_number(value: object) -> object:
    """A whole number that a model has written as `"3"` or `3.0`, as a number; any other value as it
    is.
    """
    if isinstance(value, float) and whole_number(value) is not None:
        return int(value)
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    return value


def parse_number(text: str) -> int | None:
    """The number that a user has typed; None if the text is none, or has more digits than any
    number of turns or sources.
    """
    if not text.isascii() or not text.isdecimal() or len(text) > _MOST_DIGITS:
        return None
    return int(text)


def plural(number: int, one: str, many: str = "") -> str:
    """`1 note`, `3,000 notes`, `no notes`."""
    if number == 1:
        return f"1 {one}"
    written = f"{number:,}" if number else "no"
    return f"{written} {many or one + 's'}"


def line_range(start: int | None, end: int | None) -> str:
    """`12` or `12-14`."""
    return f"{start}" if end in (None, start) else f"{start}-{end}"


def amount_text(amount: float, currency: str) -> str:
    """An amount of money: `$1.25`, `$0.0132`, `0.50 EUR`."""
    digits = 2 if amount >= 1 or not amount else 4
    figure = f"{amount:,.{digits}f}"
    if digits > 2:
        # A last digit that is zero says nothing
        figure = figure.rstrip("0").ljust(len("0.00"), "0")
    less_than = ""
    if amount and not figure.strip("0."):
        figure = "0.0001"
        less_than = "<"
    return f"{less_than}${figure}" if currency == "USD" else f"{less_than}{figure} {currency}"
