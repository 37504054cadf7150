"""Dates as people write them in the names of notes, in headings and in properties, by a table of
forms: `2024_01_05`, `202401051530`, `05.01.2024`, `January 5th, 2024`, `2024年1月5日`, `2024-W02`.

`text/dates` reads dates in questions with a library that takes 0.3 s to load; here thousands of
names are read. `05/01/2024` has two readings: those who know the other dates of the vault choose.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Literal, NamedTuple

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.dates import Period, days_of
from zkchat_cli.text.month_names import month_numbers, weekday_names
from zkchat_cli.text.patterns import lazy_pattern

DayOrder = Literal["", "day", "month"]
"""What is written first; empty if the date does not tell."""


class DateReading(NamedTuple):
    """The days that a date means. One that is not certain has another reading with the other
    order.
    """

    period: Period
    order: DayOrder = ""
    is_certain: bool = True


# Characters of a name or heading that are read
_LONGEST = 120
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_WORD = r"[^\W\d_]"
_NAME = rf"(?P<name>{_WORD}{{3,12}})"
_GAP = r"[-_./, ]{1,2}"
_ORDINAL = r"(?:st|nd|rd|th|er|ere|o|a|\.|-a|-ga)?"
_OF = r"(?:(?:of|de|del|do|da|du|d['’])\s+)?"
_WEEK = r"(?:w|kw|wk|week|woche|kalenderwoche|semaine|semana|settimana|vecka|uge|uke|tydzien|tyden)"
_END = r"(?!\w)"
_WHOLE = rf"(?:{_GAP}(?P<word>{_WORD}{{2,12}})\.?)?$"
_DAY_FORMS = (
    rf"{_YEAR}(?P<gap>[-_./ ]|, ?)(?P<month>\d{{1,2}})(?P=gap)(?P<day>\d{{1,2}})(?=t\d|_|\b)",
    rf"{_YEAR}(?P<month>\d\d)(?P<day>\d\d)(?:t?\d{{4}}(?:\d\d)?)?(?!\d)",
    r"(?P<year>\d{4})\s?[年년]\s?(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日号號일]",
    rf"{_YEAR}{_GAP}{_NAME}\.?{_GAP}(?P<day>\d{{1,2}}){_ORDINAL}(?=_|\b)",
    r"(?P<first>\d{1,2})(?P<gap>[-_./]|[./]\ )(?P<second>\d{1,2})(?P=gap)"
    r"(?P<year>(?:19|20)\d\d)(?!\d)",
    r"(?P<first>\d\d)(?P<gap>[./])(?P<second>\d\d)(?P=gap)(?P<short_year>\d\d)(?![\w./])",
    rf"(?P<day>\d{{1,2}}){_ORDINAL}{_GAP}{_OF}{_NAME}\.?{_GAP}{_OF}{_YEAR}(?!\d)",
    rf"{_NAME}\.?{_GAP}(?P<day>\d{{1,2}}){_ORDINAL}{_GAP}{_YEAR}(?!\d)",
)
_LONGER_FORMS = (
    rf"{_YEAR}[-_ ]?w(?P<week>\d{{1,2}})(?:-?(?P<weekday>[1-7]))?{_END}",
    rf"{_YEAR}{_GAP}{_WEEK}[ ._-]?(?P<week>\d{{1,2}}){_END}",
    rf"{_WEEK}[ ._-]{{0,2}}(?P<week>\d{{1,2}}){_GAP}{_OF}{_YEAR}{_END}",
    r"(?P<year>\d{4})\s?年?\s?第(?P<week>\d{1,2})[周週]",
    rf"{_YEAR}[-_ ]?q(?P<quarter>[1-4]){_END}",
    rf"q(?P<quarter>[1-4]){_GAP}{_YEAR}{_END}",
    r"(?P<year>\d{4})\s?[年년]\s?(?P<month>\d{1,2})\s?[月월]",
    rf"{_NAME}\.?{_GAP}{_OF}{_YEAR}(?!\d)",
    rf"{_YEAR}{_GAP}{_NAME}{_END}",
    rf"{_YEAR}[-_./](?P<month>\d\d?)(?=_|\b)(?![-_./]\d)",
)
_DAYS = tuple(lazy_pattern(form) for form in _DAY_FORMS)
_PERIODS = tuple(lazy_pattern(form) for form in _LONGER_FORMS)
# Parts of a date below a folder or heading that has its year, and perhaps its month
_DAY_OF_YEAR = tuple(
    lazy_pattern(form)
    for form in (
        rf"(?P<day>\d{{1,2}}){_ORDINAL}{_GAP}{_OF}{_NAME}{_END}",
        rf"{_NAME}\.?{_GAP}(?P<day>\d{{1,2}}){_ORDINAL}{_END}",
        r"(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日号號일]",
        # Not "3.2 Methods" and "10-11 guests"
        rf"(?P<month>\d\d)[-_](?P<day>\d\d){_WHOLE}",
        rf"(?P<first>\d{{1,2}})[./]\ ?(?P<second>\d{{1,2}})\.?{_WHOLE}",
    )
)
_DAY_OF_MONTH = lazy_pattern(
    rf"(?P<day>\d{{1,2}})(?:{_ORDINAL}|[日号號일]){_WHOLE}|(?P<two_digits>\d\d)[ _-]+(?=\D)"
)
_WEEK_OF_YEAR = lazy_pattern(rf"{_WEEK}[ ._-]{{0,2}}(?P<week>\d{{1,2}})$")
_QUARTER_OF_YEAR = lazy_pattern(r"q(?P<quarter>[1-4])$")
_MONTH_OF_YEAR = lazy_pattern(
    rf"(?:{_YEAR}{_GAP})?(?:(?P<month>\d{{1,2}})\s?[月월]?(?:{_GAP}{_NAME})?|(?P<alone>{_WORD}{{3,12}}))$"
)
_ONE_YEAR = lazy_pattern(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_MAY_BE_DATE = lazy_pattern(r"(?:19|20)\d\d|\d[./]\d{1,2}[./]\d\d")
_BEGINNING = lazy_pattern(r"\W*")
_FIRST_WORD = lazy_pattern(rf"(?P<word>{_WORD}{{2,14}}(?:-feira)?)\.?,?[-_ ]+")
_SIGNS = " ()[]{}.,:;*_-–—!"
_CHINESE_DIGITS = "〇一二三四五六七八九"
_CHINESE_NUMBER = lazy_pattern(
    r"(?P<numerals>[〇一二三四五六七八九]{4}(?=年)|[一二三四五六七八九]?十?[一二三四五六七八九]?(?=[月日号]))"
    r"(?P<unit>[年月日号])"
)
_LINK = lazy_pattern(r"\[\[(?:[^\[\]|]*/)?(?P<name>[^\[\]|/]+)")


def read_leading(text: str) -> tuple[DateReading, ...]:
    """The date that a property, name or heading begins with, perhaps after a weekday: no reading,
    one, or two that exclude each other.
    """
    folded = _fold_link(text)
    return _read_leading(folded) if _MAY_BE_DATE.search(folded) else ()


def read_name(text: str) -> tuple[DateReading, ...]:
    """The date of a note's name or of a heading: the one it begins with, or the only day in it, if
    that is its end, as in "Meeting 2024-01-05".
    """
    folded = _fold_link(text)
    if not _MAY_BE_DATE.search(folded):
        return ()
    return _read_leading(folded) or _read_last(folded)


def _read_leading(folded: str) -> tuple[DateReading, ...]:
    for begin in _beginnings(folded):
        for pattern in (*_DAYS, *_PERIODS):
            match = pattern.match(folded, begin)
            readings = _readings(match) if match else ()
            if readings:
                return readings
    return ()


def _read_last(folded: str) -> tuple[DateReading, ...]:
    found: set[tuple[DateReading, ...]] = set()
    at_end = False
    for pattern in _DAYS:
        for match in pattern.finditer(folded):
            # "1.2.24" is rather a version
            is_whole = not folded[: match.start()][-1:].isalnum()
            readings = (
                _readings(match) if is_whole and "short_year" not in match.groupdict() else ()
            )
            if readings:
                found.add(readings)
                at_end |= _ends_with(folded, match.end())
    return found.pop() if at_end and len(found) == 1 else ()


def read_path(parts: Sequence[str]) -> tuple[DateReading, ...]:
    """The date of the last part of a path of folders or headings: its own, or the one that it
    completes, as `05` in `2024/01/05`.
    """
    readings = read_name(parts[-1])
    if readings:
        return readings
    above = [_fold(part) for part in parts[:-1]]
    year = next(filter(None, map(_only_year, reversed(above))), None)
    if year is None:
        return ()
    return _complete(_fold(parts[-1]), year, _month_above(above))


def _complete(part: str, year: int, month: int | None) -> tuple[DateReading, ...]:
    """The date of a part of a path below this year, and perhaps this month."""
    for begin in _beginnings(part):
        for pattern in _DAY_OF_YEAR:
            match = pattern.match(part, begin)
            if match is None or not _is_weekday(match.groupdict().get("word") or "mon"):
                continue
            readings = _readings(match, year)
            if readings:
                return readings
        found = _complete_whole(part, begin, year, month)
        if found is not None:
            return (DateReading(found),)
    return ()


def _complete_whole(part: str, begin: int, year: int, month: int | None) -> Period | None:
    """The period of a part that is nothing but a day, week, quarter or month."""
    if month is not None:
        day = _DAY_OF_MONTH.match(part, begin)
        if day is None:
            return None
        digits = day["day"] or day["two_digits"]
        # "5 apples" is no day, "05 Apples" is one
        is_other_word = day["word"] and not _is_weekday(day["word"])
        return None if is_other_word and len(digits) == 1 else _period(year, month, int(digits))
    for pattern in (_WEEK_OF_YEAR, _QUARTER_OF_YEAR):
        match = pattern.match(part, begin)
        if match:
            return next((each.period for each in _readings(match, year)), None)
    number = _month_of(part[begin:])
    return _period(year, number) if number else None


def _fold(text: str) -> str:
    folded = fold(text[:_LONGEST]).strip()
    if folded.isascii() or not _CHINESE_NUMBER.search(folded):
        return folded
    return _CHINESE_NUMBER.sub(_read_chinese, folded)


def _fold_link(text: str) -> str:
    """A folded text, or the folded name of the note to which it is a link."""
    link = _LINK.match(text.strip()) if "[[" in text else None
    return _fold(link["name"] if link else text)


def _read_chinese(match: re.Match[str]) -> str:
    """A year, month or day in Chinese numerals with digits."""
    numerals = match["numerals"]
    digits = "".join(str(_CHINESE_DIGITS.index(each)) for each in numerals if each != "十")
    if "十" in numerals:
        tens, _, ones = numerals.partition("十")
        digits = str(10 * (_CHINESE_DIGITS.find(tens) or 1) + max(0, _CHINESE_DIGITS.find(ones)))
    return f"{digits}{match['unit']}"


def _beginnings(folded: str) -> Iterator[int]:
    """Where a date may begin: behind signs, and behind a weekday."""
    start = _BEGINNING.match(folded)
    begin = start.end() if start else 0
    yield begin
    word = _FIRST_WORD.match(folded, begin)
    if word and _is_weekday(word["word"]):
        yield word.end()


def _is_weekday(word: str) -> bool:
    return word in weekday_names()


def _ends_with(folded: str, end: int) -> bool:
    """Whether only signs and a weekday are behind this place."""
    word = folded[end:].strip(_SIGNS)
    return not word or (word.isalpha() and _is_weekday(word))


def _only_year(folded: str) -> int | None:
    """The year in a name, if it has only one."""
    years = set(_ONE_YEAR.findall(folded))
    return int(years.pop()) if len(years) == 1 else None


def _month_above(above: Sequence[str]) -> int | None:
    """The month of the innermost folder or heading that is one."""
    months = map(_month_of, reversed(above))
    return next(filter(None, months), None)


def _month_of(part: str) -> int | None:
    """The month that a folder or heading is: `01`, `January`, `01-January`, `2024-01`."""
    match = _MONTH_OF_YEAR.fullmatch(part.strip(" #*_"))
    if match is None:
        return None
    numbers = month_numbers()
    if match["alone"]:
        return numbers.get(match["alone"])
    if match["name"] and numbers.get(match["name"]) != int(match["month"]):
        return None
    month = int(match["month"])
    return month if 1 <= month <= 12 else None


def _readings(match: re.Match[str], year: int | None = None) -> tuple[DateReading, ...]:
    """The readings of a form; none if the calendar has no such date."""
    found = match.groupdict()
    if found.get("short_year"):
        short = int(found["short_year"])
        year = short + (2000 if short < 70 else 1900)
    elif found.get("year"):
        year = int(found["year"])
    assert year is not None
    if found.get("first"):
        return _readings_by_order(year, int(found["first"]), int(found["second"]))
    period = _named_period(year, found)
    return (DateReading(period),) if period else ()


def _named_period(year: int, found: dict[str, str | None]) -> Period | None:
    if found.get("week"):
        return _week(year, int(found["week"] or 0), found.get("weekday"))
    if found.get("quarter"):
        last_month = 3 * int(found["quarter"] or 0)
        return Period(days_of(year, last_month - 2).first, days_of(year, last_month).last)
    month = int(found.get("month") or 0) or month_numbers().get(found.get("name") or "")
    if not month:
        return None
    day = found.get("day")
    return _period(year, month, int(day) if day else None)


def _readings_by_order(year: int, first: int, second: int) -> tuple[DateReading, ...]:
    """The readings of two numbers: one is the day."""
    by_day = _period(year, second, first)
    by_month = _period(year, first, second)
    if by_day is None or by_month is None:
        if by_day is not None:
            return (DateReading(by_day, "day"),)
        return (DateReading(by_month, "month"),) if by_month is not None else ()
    if by_day == by_month:
        return (DateReading(by_day),)
    return (
        DateReading(by_day, "day", is_certain=False),
        DateReading(by_month, "month", is_certain=False),
    )


def _period(year: int, month: int, day: int | None = None) -> Period | None:
    """The days of a month, or one day; None if the calendar has no such date."""
    if day == 0:
        return None
    try:
        return days_of(year, month, day)
    except ValueError:
        return None


def _week(year: int, week: int, weekday: str | None) -> Period | None:
    """A week of the ISO calendar, or one day of it."""
    try:
        monday = date.fromisocalendar(year, week, 1)
    except ValueError:
        return None
    if weekday:
        day = monday + timedelta(days=int(weekday) - 1)
        return Period(day, day)
    return Period(monday, monday + timedelta(days=6))
