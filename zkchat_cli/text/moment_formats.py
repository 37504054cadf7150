"""Formats of dates as Obsidian has them for daily notes (`YYYY-MM-DD`, of moment.js), and as Logseq
has them (`yyyy_MM_dd`), compiled to patterns.
"""

import re
from datetime import date, timedelta
from typing import NamedTuple

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.date_forms import DateReading, DayOrder
from zkchat_cli.text.dates import MONTHS, WEEKDAYS, Period, days_of
from zkchat_cli.text.month_names import month_numbers
from zkchat_cli.text.patterns import lazy_pattern

# Characters of a format: a longer one is none
LONGEST_FORMAT = 100
_WORD = r"[^\W\d_]+\.?(?:-feira)?"
_TOKENS = {
    "YYYY": r"(?P<year>\d{4})",
    "YY": r"(?P<short_year>\d\d)",
    "GGGG": r"(?P<year>\d{4})",
    "gggg": r"(?P<year>\d{4})",
    "Q": r"(?P<quarter>[1-4])",
    "Qo": r"(?P<quarter>[1-4])\w+",
    "MMMM": rf"(?P<name>{_WORD})",
    "MMM": rf"(?P<name>{_WORD})",
    "MM": r"(?P<month>\d\d)",
    "Mo": r"(?P<month>\d{1,2})[^\W\d_]+",
    "M": r"(?P<month>\d{1,2})",
    "DDDD": r"(?P<day_of_year>\d{3})",
    "DDD": r"(?P<day_of_year>\d{1,3})",
    "Do": r"(?P<day>\d{1,2})(?:[^\W\d_]+|\.)?",
    "DD": r"(?P<day>\d\d)",
    "D": r"(?P<day>\d{1,2})",
    "WW": r"(?P<week>\d\d)",
    "W": r"(?P<week>\d{1,2})",
    "ww": r"(?P<week>\d\d)",
    "w": r"(?P<week>\d{1,2})",
    "dddd": _WORD,
    "ddd": _WORD,
    "dd": _WORD,
    "d": r"\d",
    "E": r"\d",
    "e": r"\d",
    "HH": r"\d\d",
    "H": r"\d{1,2}",
    "hh": r"\d\d",
    "h": r"\d{1,2}",
    "mm": r"\d\d",
    "m": r"\d{1,2}",
    "ss": r"\d\d",
    "s": r"\d{1,2}",
    "A": "[ap]m",
    "a": "[ap]m",
}
_TOKEN = lazy_pattern(
    r"\[(?P<literal>[^\[\]]*)\]|"
    + "|".join(sorted(_TOKENS, key=len, reverse=True))
    + r"|(?P<other>.)",
    re.DOTALL,
)
_ORDINALS = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}
_QUOTED = lazy_pattern(r"'([^']*)'")
# The letters of Logseq's formats, which are Java's
_JAVA_TOKENS = (("yyyy", "YYYY"), ("yy", "YY"), ("EEEE", "dddd"), ("EEE", "ddd"), ("EE", "ddd"))
_JAVA_DAYS = lazy_pattern(r"(?<!d)(do|dd|d)(?!d)")
_MOMENT_DAYS = {"do": "Do", "dd": "DD", "d": "D"}


class MomentFormat(NamedTuple):
    """A compiled format: `parts` is the number of folders and names in it."""

    written: str
    pattern: re.Pattern[str]
    parts: int

    @property
    def order(self) -> DayOrder:
        """Whether the day or the month is written first, in numbers."""
        places = {
            group: self.pattern.pattern.find(f"(?P<{group}>") for group in ("day", "month", "year")
        }
        if min(places.values()) < 0 or places["year"] < places["day"]:
            return ""
        return "day" if places["day"] < places["month"] else "month"

    def read(self, name: str) -> DateReading | None:
        """The days that a name in this format means; None for any other name."""
        match = self.pattern.fullmatch(fold(name).strip())
        period = _read_period(match.groupdict()) if match else None
        return DateReading(period, self.order) if period else None


def compile_format(written: str) -> MomentFormat | None:
    """A format of moment.js; None if it is none, because it has no year."""
    pieces: list[str] = []
    groups: set[str] = set()
    for token in _TOKEN.finditer(written[:LONGEST_FORMAT]):
        plain = token["literal"] if token["literal"] is not None else token["other"]
        if plain is not None:
            pieces.append(re.escape(fold(plain)))
            continue
        piece = _TOKENS[token[0]]
        named = re.match(r"\(\?P<(\w+)>", piece)
        if named and named[1] in groups:
            # A second year or day must be the same
            piece = f"(?P={named[1]}){piece.partition(')')[2]}"
        elif named:
            groups.add(named[1])
        pieces.append(piece)
    if not groups & {"year", "short_year"}:
        return None
    return MomentFormat(written, re.compile("".join(pieces)), written.count("/") + 1)


def format_day(day: date, written: str) -> str | None:
    """A day in a format of moment.js, in English; None if it has more than the day."""
    month = MONTHS[day.month - 1]
    weekday = WEEKDAYS[day.weekday()]
    values = {
        "YYYY": f"{day.year:04}",
        "YY": f"{day.year % 100:02}",
        "MMMM": month,
        "MMM": month[:3],
        "MM": f"{day.month:02}",
        "M": str(day.month),
        "Do": f"{day.day}{_ORDINALS.get(day.day, 'th')}",
        "DD": f"{day.day:02}",
        "D": str(day.day),
        "dddd": weekday,
        "ddd": weekday[:3],
        "dd": weekday[:2],
    }
    pieces: list[str] = []
    for token in _TOKEN.finditer(written[:LONGEST_FORMAT]):
        plain = token["literal"] if token["literal"] is not None else token["other"]
        if plain is None and token[0] not in values:
            return None
        pieces.append(values[token[0]] if plain is None else plain)
    return "".join(pieces)


def from_java(written: str) -> str:
    """A format of Logseq (`MMM do, yyyy`, `yyyy_MM_dd`) as one of moment.js."""
    moment = _QUOTED.sub(r"[\1]", written)
    for java, other in _JAVA_TOKENS:
        moment = moment.replace(java, other)
    return _JAVA_DAYS.sub(lambda days: _MOMENT_DAYS[days[0]], moment)


def _read_period(found: dict[str, str | None]) -> Period | None:
    numbers = {name: int(value) for name, value in found.items() if value and value.isdecimal()}
    year = numbers.get("year", numbers.get("short_year", 0) + 2000)
    month = numbers.get("month")
    if name := found.get("name"):
        month = month_numbers().get(name.rstrip("."))
        if month is None:
            return None
    if "day" in numbers and (month is None or numbers["day"] == 0):
        return None
    try:
        if month is None:
            return _read_without_month(year, numbers)
        return days_of(year, month, numbers.get("day"))
    except (ValueError, OverflowError):
        return None


def _read_without_month(year: int, numbers: dict[str, int]) -> Period:
    """A day, week or quarter of a year, or the year. Raises ValueError, OverflowError."""
    if "day_of_year" in numbers:
        day = date(year, 1, 1) + timedelta(days=numbers["day_of_year"] - 1)
        return Period(day, day)
    if "week" in numbers:
        monday = date.fromisocalendar(year, numbers["week"], 1)
        return Period(monday, monday + timedelta(days=6))
    if "quarter" in numbers:
        last = 3 * numbers["quarter"]
        return Period(days_of(year, last - 2).first, days_of(year, last).last)
    return days_of(year)
