"""The day that a line of a note is of: the date that it, or a name above it, begins with."""

from collections.abc import Iterable, Sequence

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.date_forms import read_leading
from zkchat_cli.text.dates import Period
from zkchat_cli.text.month_names import month_numbers
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault.line_names import names_of_lines

# The marks of a list, a table, a task or bold letters before a date
_MARKS = "-*+|> \t[]"
_FIRST_WORD = lazy_pattern(r"[^\W\d_]{3,}(?= *(?:[|:]|$))")


def periods_of_lines(lines: Sequence[str], numbers: Iterable[int]) -> list[Period | None]:
    """The days of each of some lines, by its number from 1; None for one without a date in it or
    in a name above it.
    """
    names = list(names_of_lines(lines))
    return [first_period((lines[each - 1], *names[each - 1].every)) for each in numbers]


def first_period(texts: Iterable[str]) -> Period | None:
    """The days that the first of these texts with a date begins with."""
    for text in texts:
        if readings := read_leading(text.strip(_MARKS)):
            return readings[0].period
    return None


def written_period(period: Period) -> str:
    """A day as `2026-01-31`, a month as `2026-01`, a year as `2026`."""
    first = period.first.isoformat()
    if period.first == period.last:
        return first
    is_year = (period.first.month, period.last.month) == (1, 12)
    is_month = period.first.month == period.last.month and period.first.day == 1
    if is_year:
        return first[:4]
    # A week by its first day
    return first[:7] if is_month and (period.last - period.first).days > 7 else first


def month_of_line(line: str) -> int:
    """The number of the month that a line begins with, "July | 410"; 0 without one."""
    word = _FIRST_WORD.match(line.strip(_MARKS))
    return month_numbers().get(fold(word[0]), 0) if word else 0
