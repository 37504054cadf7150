"""The day that a line of a note is of: the date that it, or a name above it, begins with."""

from collections.abc import Iterable, Sequence

from zkchat_cli.text.date_forms import read_leading
from zkchat_cli.text.dates import Period
from zkchat_cli.vault.line_names import names_above

# The marks of a list, a table, a task or bold letters before a date
_MARKS = "-*+|> \t[]"


def period_of_line(lines: Sequence[str], number: int) -> Period | None:
    """The days of a line, by its number from 1; None if neither it nor a name above it has them."""
    return first_period((lines[number - 1], *names_above(lines, number)))


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
