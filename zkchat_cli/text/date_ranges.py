"""Ranges of dates that share their month or preposition ("between 9 and 15 March", "vom 10. bis 20.
März", "de enero a marzo", "in March and April"): their first and last date in words that stand
alone. Pure.
"""

import re
from typing import NamedTuple

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.month_names import month_numbers
from zkchat_cli.text.patterns import lazy_pattern

_BEFORE = "between|from|zwischen|vom|von|entre|desde|del|de|du"
_ARTICLE = r"(?:(?:the|dem|den|zum|el|le|o|dia|día)\s+)?"
_JOINT = (
    r"(?:\s+(?:and|to|until|till|through|und|bis|et|au|à|jusqu['’]au|y|al|a|hasta|e|ao|até)\s+"
    r"|\s*[-–—]\s*)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|\.|º)?"
_OF = r"(?:(?:of|de|del)\s+)?"
_MONTH = r"[^\W\d_]{3,12}"
_YEAR = r"(?:,?\s+(?:of\s+|de\s+)?(?P<year>\d{4}))?"
_RANGES = (
    # Between the 9th and the 15th of March
    lazy_pattern(
        rf"(?<![\w.,/:-])(?:(?:{_BEFORE})\s+)?{_ARTICLE}(?P<first_day>{_DAY}){_JOINT}{_ARTICLE}"
        rf"(?P<last_day>{_DAY})\s+{_OF}(?P<month>{_MONTH}){_YEAR}(?!\w)",
        re.IGNORECASE,
    ),
    # March 9 to 15
    lazy_pattern(
        rf"(?<![\w-])(?:(?:between|from)\s+)?(?P<month>{_MONTH})\s+(?P<first_day>{_DAY}){_JOINT}"
        rf"(?P<last_day>{_DAY}){_YEAR}(?![\w-])",
        re.IGNORECASE,
    ),
    # From January to March
    lazy_pattern(
        rf"(?<![\w-])(?:{_BEFORE})\s+(?P<month>{_MONTH}){_JOINT}(?P<last_month>{_MONTH})"
        rf"{_YEAR}(?!\w)",
        re.IGNORECASE,
    ),
    # In March and April
    lazy_pattern(
        rf"(?<![\w-])(?:in|during|im|en|em)\s+(?P<month>{_MONTH})\s+(?:and|or|und|oder|et|ou|y|o|e)\s+"
        rf"(?:(?:in|im|en|em)\s+)?(?P<next_month>{_MONTH}){_YEAR}(?!\w)",
        re.IGNORECASE,
    ),
)


class DateRange(NamedTuple):
    """A range from `begin` to `end` in a text, and its first and last date in words."""

    first: str
    last: str
    begin: int
    end: int


def find_range(text: str) -> DateRange | None:
    """The first range of dates in a text; None without one."""
    for pattern in _RANGES:
        for match in pattern.finditer(text):
            written = match.groupdict(default="")
            next_month = written.get("next_month", "")
            last_month = written.get("last_month") or next_month or written["month"]
            if not (_is_month(written["month"]) and _is_month(last_month)):
                continue
            if next_month and not _is_next(written["month"], next_month):
                continue
            year = written["year"]
            first = (_number(written.get("first_day", "")), written["month"], year)
            last = (_number(written.get("last_day", "")), last_month, year)
            return DateRange(_join(first), _join(last), match.start(), match.end())
    return None


def _is_month(word: str) -> bool:
    return fold(word) in month_numbers()


def _is_next(month: str, after: str) -> bool:
    """Whether a month follows another in the same year."""
    numbers = month_numbers()
    return numbers[fold(after)] == numbers[fold(month)] + 1


def _number(day: str) -> str:
    return "".join(filter(str.isdigit, day))


def _join(parts: tuple[str, ...]) -> str:
    return " ".join(filter(None, parts))
