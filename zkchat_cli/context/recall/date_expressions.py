"""Dates that a question names ("in May", "on 3 June 2023", "last week", "vor zwei Tagen") as periods of days."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

TOLERANCE = 3
"""Days around a named day: events are told a few days later and planned a few days ahead."""
MAX_YEARS = 100
_MAX_QUESTION = 2000


def _numbered(names: str, first: int) -> dict[str, int]:
    """The number of each name, counted from `first`: commas separate the numbers, spaces the names of one."""
    return {name: number for number, same in enumerate(names.split(","), first) for name in same.split()}


_MONTHS = _numbered(
    "january januar jan,february februar feb,march märz mar,april apr,may mai,june juni jun,july juli jul,august aug,september sep sept,"
    "october oktober oct okt,november nov,december dezember dec dez",
    1,
)
_DAYS = _numbered("monday montag,tuesday dienstag,wednesday mittwoch,thursday donnerstag,friday freitag,saturday samstag,sunday sonntag", 0)
_AMBIGUOUS = {"may", "march", "mar", "jan", "sep"}
"""Also words or names: months only next to a number or a preposition."""
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_NAMED = re.compile(
    rf"(?:(?P<before>in|during|since|until|last|early|mid|late|of|im|seit)\s+)?"
    rf"(?:\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?)?\b(?P<month>{_MONTH})\b\.?"
    rf"(?:\s+(?P<after>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d))?(?:,?\s+(?P<year>\d{{4}})\b)?"
)
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})(?:-(\d{1,2}))?\b")
_CHINESE = re.compile(r"(?:(\d{4})\s*年)?\s*(\d{1,2})\s*月(?:\s*(\d{1,2})\s*[日号])?")
_YEAR = re.compile(r"(?:\b(?:in|during|of|since|im jahr)\s+|^)((?:19|20)\d\d)\b(?!-)|((?:19|20)\d\d)\s*年(?!\s*\d)")
_AGO = re.compile(
    r"\b(?P<n>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten)\s+(?P<unit>day|week|month|year)s?\s+ago\b"
    r"|\bvor\s+(?P<zahl>\d{1,3}|eine[mnr]|zwei|drei|vier|fünf|sechs)\s+(?P<einheit>tag|woche|monat|jahr)"
)
_NUMBERS = _numbered("a an one einem einen einer,two zwei,three drei,four vier,five fünf,six sechs,seven,eight,nine,ten", 1)
_UNITS = {"day": 1, "tag": 1, "week": 7, "woche": 7, "month": 30, "monat": 30, "year": 365, "jahr": 365}
_RELATIVE = {
    r"\btoday\b|\bheute\b|今天": (0, 0),
    r"\bday before yesterday\b|\bvorgestern\b|前天": (2, 2),
    r"(?<!before )\byesterday\b|\bgestern\b|昨天": (1, 1),
    r"\bthis week\b|\bdiese woche\b|[这本]周": (0, 6),
    r"\blast week\b|\b(?:letzte|vorige) woche\b|上周|上星期": (3, 14),
    r"\bthis month\b|\bdiesen monat\b|这个月|本月": (0, 30),
    r"\blast month\b|\b(?:letzten|vorigen) monat\b|上个?月": (14, 62),
    r"\blast year\b|\bletztes jahr\b|去年": (180, 730),
    r"\brecently\b|\blately\b|\bneulich\b|\bkürzlich\b|最近": (0, 14),
}
"""Days ago, from and to; generous, since people do not count them."""
_WEEKDAY = re.compile(rf"\b(?:on|last|am|letzten)\s+({'|'.join(_DAYS)})\b")


@dataclass(frozen=True, slots=True)
class Period:
    """From the first through the last day."""

    first: date
    last: date


def find_periods(question: str, today: date, years: Iterable[int]) -> tuple[Period, ...]:
    """The periods a question names on `today`. A month without a year is that month in each of `years`."""
    text = " ".join(question[:_MAX_QUESTION].casefold().split())
    known = tuple(years)[-MAX_YEARS:]
    found: list[Period] = []
    for match in _NAMED.finditer(text):
        day = match["day"] or match["after"]
        if match["month"] in _AMBIGUOUS and not (match["before"] or day or match["year"]):
            continue
        found += _dated(match["year"], str(_MONTHS[match["month"]]), day, known)
    for pattern in (_ISO, _CHINESE):
        for match in pattern.finditer(text):
            found += _dated(match[1], match[2], match[3], known)
    found += [p for match in _YEAR.finditer(text) for p in _dated(match[1] or match[2], None, None, known)]
    return (*found, *_relative(text, today))


def _dated(year: str | None, month: str | None, day: str | None, years: tuple[int, ...]) -> list[Period]:
    found = []
    for each in (int(year),) if year else years:
        try:
            if day and month:
                middle = date(each, int(month), int(day))
                found.append(_around(middle, middle))
            elif month:
                first = date(each, int(month), 1)
                found.append(Period(first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)))
            else:
                found.append(Period(date(each, 1, 1), date(each, 12, 31)))
        except (ValueError, OverflowError):  # the 30th of February, the year 0
            continue
    return found


def _relative(text: str, today: date) -> list[Period]:
    found = [_ago(today, *ago) for pattern, ago in _RELATIVE.items() if re.search(pattern, text)]
    for match in _AGO.finditer(text):
        number, unit = match["n"] or match["zahl"], _UNITS[match["unit"] or match["einheit"]]
        days = (int(number) if number.isdecimal() else _NUMBERS[number]) * unit
        found.append(_ago(today, days - unit // 2, days + unit // 2))
    for match in _WEEKDAY.finditer(text):
        days = (today.weekday() - _DAYS[match[1]] - 1) % 7 + 1
        found.append(_ago(today, days, days))
    return [period for period in found if period is not None]


def _ago(today: date, fewest: int, most: int) -> Period | None:
    try:
        return _around(today - timedelta(days=most), today - timedelta(days=fewest), 1 if most - fewest < TOLERANCE else 0)
    except OverflowError:
        return None


def _around(first: date, last: date, days: int = TOLERANCE) -> Period:
    try:
        return Period(first - timedelta(days=days), last + timedelta(days=days))
    except OverflowError:
        return Period(first, last)
