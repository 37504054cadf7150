"""The day that a line of a note is of: the date that it, or a heading above it, begins with."""

from collections.abc import Sequence

from zkchat_cli.text.date_forms import read_leading
from zkchat_cli.text.dates import Period
from zkchat_cli.vault.line_names import names_above

# The marks of a list, a table or a task before a date
_MARKS = "-*+|> \t[]"


def period_of_line(lines: Sequence[str], number: int) -> Period | None:
    """The days of a line, by its number from 1; None if neither it nor a name above it has them."""
    for text in (lines[number - 1], *names_above(lines, number)):
        if readings := read_leading(text.strip(_MARKS)):
            return readings[0].period
    return None
