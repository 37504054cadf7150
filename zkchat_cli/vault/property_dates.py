"""The dates that a note gives for a property, `birthday: 1984-05-12`, or in a list that is called
like it: "Ana: 12 May" below "Birthdays". Years may be missing.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from zkchat_cli.markdown.block_marks import LIST_MARKER
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.dates import Period
from zkchat_cli.text.month_names import month_numbers
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault.line_names import names_of_lines
from zkchat_cli.vault.note_properties import PROPERTY_LINE

_WORD = lazy_pattern(r"[^\W\d_]+")
_ITEM = lazy_pattern(rf"[ \t]*(?:{LIST_MARKER}[ \t]|\|)")
_MARKS = lazy_pattern(r"[\s_-]+")
_YEAR = r"(?P<year>(?:1[89]|20)\d\d)"
_OF = r"(?:(?:of|de|del|do) )?"
_FORMS = tuple(
    lazy_pattern(rf"(?<![\w./-]){form}(?![\w/-])")
    for form in (
        rf"{_YEAR}[-./](?P<month>\d\d?)[-./](?P<day>\d\d?)",
        # A month alone is dated by its first day
        rf"{_YEAR}-(?P<month>\d\d)",
        rf"(?P<day>\d\d?)[./](?P<month>\d\d?)(?:[./]{_YEAR}|\.)?",
        rf"(?P<day>\d\d?)(?:st|nd|rd|th|er|\.|º|o)? {_OF}(?P<name>[^\W\d_]{{3,10}})\.?"
        rf"(?:,? {_OF}{_YEAR})?",
        rf"(?P<name>[^\W\d_]{{3,10}})\.? (?P<day>\d\d?)(?:st|nd|rd|th)?(?:,? {_YEAR})?",
        r"-{0,2}(?P<month>\d\d)-(?P<day>\d\d)",
    )
)
MONTHS = 12
LONGEST_MONTH = 31


class PropertyDate(NamedTuple):
    """A date in a line of a note, by its number from 1; the year is 0 if it is not known."""

    line: int
    year: int
    month: int
    day: int

    def is_in(self, period: Period, *, any_year: bool) -> bool:
        """Whether it is in a period, or on the same days of another year."""
        first, last = period.first, period.last
        begin = (first.month, first.day)
        end = (last.month, last.day)
        here = (self.month, self.day)
        if not any_year:
            return (first.year, *begin) <= (self.year, *here) <= (last.year, *end)
        if begin <= end:
            return begin <= here <= end
        return here >= begin or here <= end

    def place_after(self, first: date) -> tuple[bool, int, int]:
        """What puts dates in the order of the year that begins with a day."""
        is_next_year = (self.month, self.day) < (first.month, first.day)
        return (is_next_year, self.month, self.day)


def find_property_dates(text: str, title: str, names: Sequence[str]) -> list[PropertyDate]:
    """The dates of a property in a note, by one of its folded names."""
    lines = text.split("\n")
    found: list[PropertyDate] = []
    comparable = _MARKS.sub("", fold(f"{title} {text}"))
    if not any(name in comparable for name in names):
        return found
    for number, (line, above) in enumerate(zip(lines, names_of_lines(lines), strict=True), 1):
        field = PROPERTY_LINE.match(line)
        if field and _is_named(field["name"], names):
            dated = field["value"]
        elif _ITEM.match(line) and any(_is_list_of(name, names) for name in (*above.every, title)):
            dated = line
        else:
            continue
        found += list(_dates_in(dated, number))[:1]
    return found


def _is_named(written: str, names: Sequence[str]) -> bool:
    return _MARKS.sub("", fold(written)) in names


def _is_list_of(heading: str, names: Sequence[str]) -> bool:
    """Whether a heading or title is "Family birthdays" or "Geburtstage der Familie", but not
    "Birthday party".
    """
    words = _WORD.findall(fold(heading))
    is_first = bool(words) and words[0] in names and words[0].endswith(("s", "e"))
    return is_first or (bool(words) and words[-1] in names)


def _dates_in(text: str, line: int) -> Iterator[PropertyDate]:
    folded = fold(text)
    for form in _FORMS:
        found = form.search(folded)
        if found is None:
            continue
        groups = found.groupdict()
        day = int(groups.get("day") or 1)
        month = int(groups.get("month") or month_numbers().get(groups.get("name") or "", 0))
        if month > MONTHS >= day and "name" not in groups:
            # 5/12 and 5/13 are written with the month first
            day, month = month, day
        if 1 <= month <= MONTHS and 1 <= day <= LONGEST_MONTH:
            yield PropertyDate(line, int(groups.get("year") or 0), month, day)
