"""What "yesterday" and "two years ago" mean in a text of a known day, in English, German, French,
Spanish, Portuguese and Chinese.

`text/dates` reads dates in questions with a library that takes 0.3 s to load. Here a table is
enough: it has only expressions that can mean nothing else, so not "hier" and "mañana".
"""

import re
from collections.abc import Mapping
from datetime import date, timedelta
from typing import TypeVar

from zkchat_cli.text.dates import MONTHS
from zkchat_cli.text.patterns import lazy_pattern

_Key = TypeVar("_Key", int, str)

_UNITS: Mapping[str, str] = {
    "day": "days?|tag(?:en?)?|jours?|días?|dias?|天",
    "week": "weeks?|wochen?|semaines?|semanas?|周|星期",
    "month": "months?|monat(?:en?)?|mois|mes(?:es)?|mês|月",
    "year": "years?|jahr(?:en?)?|ans?|années?|años?|anos?|年",
    "weekend": "weekends?|wochenende",
}
_WEEKDAYS: Mapping[int, str] = {
    0: "monday|montag|lundi|lunes|segunda-feira",
    1: "tuesday|dienstag|mardi|martes|terça-feira",
    2: "wednesday|mittwoch|mercredi|miércoles|quarta-feira",
    3: "thursday|donnerstag|jeudi|jueves|quinta-feira",
    4: "friday|freitag|vendredi|viernes|sexta-feira",
    5: "saturday|samstag|samedi|sábado",
    6: "sunday|sonntag|dimanche|domingo",
}
_NUMBERS: Mapping[int, str] = {
    1: "an?|one|eine[mnrs]?|une?|una?|uma?|一",
    2: "two|zwei|deux|dos|dois|duas|两|二",
    3: "three|drei|trois|tres|três|三",
    4: "four|vier|quatre|cuatro|quatro|四",
    5: "five|fünf|cinq|cinco|五",
    6: "six|sechs|seis|六",
    7: "seven|sieben|sept|siete|sete|七",
    8: "eight|acht|huit|ocho|oito|八",
    9: "nine|neun|neuf|nueve|nove|九",
    10: "ten|zehn|dix|diez|dez|十",
}
_DAYS_AWAY: Mapping[int, str] = {
    -2: "(?:the )?day before yesterday|vorgestern|avant-hier|anteayer|anteontem|前天",
    -1: "yesterday|last night|gestern|ayer|ontem|昨天",
    1: "tomorrow|demain|amanhã|明天",
}
_NAMED = "|".join(_DAYS_AWAY.values()).replace(" ", r"\ ")
_ONE = (
    "week|month|year|weekend|woche|monat|jahr|wochenende|semaine|mois|année|semana|mes|año|mês|ano"
)
_UNIT = "|".join(_UNITS.values())
_WEEKDAY = "|".join(_WEEKDAYS.values())
_NUMBER = "|".join(_NUMBERS.values())
_RELATIVE = lazy_pattern(
    rf"""(?<![^\W_])(?:(?P<named>{_NAMED})
      | (?<!\bthe\s)(?:last|this\ past|letzte[nrms]?|vorige[nrms]?)\s(?P<last>{_ONE}|{_WEEKDAY})
      | (?<!\bthe\s)(?:next|nächste[nrms]?|kommende[nrms]?)\s(?P<next>{_ONE}|{_WEEKDAY})
      | (?P<last_behind>{_ONE}|{_WEEKDAY})\s(?:derni[eè]re?|passée?|pasad[oa]|passad[oa])
      | (?P<count>\d{{1,3}}|{_NUMBER})\s(?P<ago>{_UNIT})\sago
      | (?:vor|il\sy\sa|hace|há)\s(?P<count_behind>\d{{1,3}}|{_NUMBER})\s(?P<since>{_UNIT})
      )(?![^\W_])
      | (?P<chinese_day>前天|昨天|明天)
      | (?:上个?|去)(?P<chinese_last>周|星期|月|年)
      | (?:下个?|明)(?P<chinese_next>周|星期|月|年)
      | (?P<chinese_count>\d{{1,3}}|[一两二三四五六七八九十])个?(?P<chinese_ago>天|周|星期|月|年)前
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Not "the last week" or "the next year": they may be those of a story."""
_PIECES = (
    *(
        "yesterday",
        "tomorrow",
        "last ",
        "next ",
        "this past ",
        "ago",
        "gestern",
        "letzte",
        "vorige",
    ),
    *("nächste", "kommende", "vor ", "derni", "passé", "demain", "avant-hier", "il y a", "ayer"),
    *("passad", "há ", "ontem", "amanhã", "pasad", "hace ", "前", "昨", "明", "上", "下", "去"),
)
"""Pieces of words: every expression has one. This saves the search for whole ones in most texts."""


def with_dates(text: str, written: str) -> str:
    """The text with the date behind each relative expression: "yesterday [7 May 2023]". `written`
    is the day on which it was written, as `2023-05-08`; the text stays as it is if that is no date.
    """
    lower = text.lower()
    if not any(piece in lower for piece in _PIECES):
        return text
    try:
        day = date.fromisoformat(written)
    except ValueError:
        return text

    def dated(match: re.Match[str]) -> str:
        meaning = _meaning(match, day)
        return f"{match[0]} [{meaning}]" if meaning else match[0]

    return _RELATIVE.sub(dated, text)


def _meaning(match: re.Match[str], day: date) -> str:
    """The date that an expression means; empty if the calendar has none."""
    named = _first_group(match, "named", "chinese_day")
    last = _first_group(match, "last", "last_behind", "chinese_last")
    following = _first_group(match, "next", "chinese_next")
    count = _first_group(match, "count", "count_behind", "chinese_count")
    try:
        if named:
            return _format_day(day + timedelta(days=_find(named, _DAYS_AWAY)))
        if last:
            return _beside(last, -1, day)
        if following:
            return _beside(following, 1, day)
        unit = _find(_first_group(match, "ago", "since", "chinese_ago"), _UNITS)
        return _period(unit, -_read_number(count), day)
    except (ValueError, OverflowError):
        return ""


def _first_group(match: re.Match[str], *names: str) -> str:
    """What the first of these groups that matched has; empty if none did."""
    return next(filter(None, map(match.group, names)), "")


def _find(word: str, patterns: Mapping[_Key, str]) -> _Key:
    """The key of the pattern that a word matches. Raises ValueError."""
    for key, pattern in patterns.items():
        if re.fullmatch(pattern, word, re.IGNORECASE):
            return key
    raise ValueError(word)


def _read_number(word: str) -> int:
    """The number that digits or a word say. Raises ValueError."""
    return int(word) if word.isdecimal() else _find(word, _NUMBERS)


def _beside(name: str, direction: int, day: date) -> str:
    """The period or weekday of this name before a day (-1), or after it (1)."""
    if not re.fullmatch(_WEEKDAY, name, re.IGNORECASE):
        return _period(_find(name, _UNITS), direction, day)
    weekday = _find(name, _WEEKDAYS)
    # From one to seven days: "last Friday" on a Friday was a week ago
    days = (direction * (weekday - day.weekday()) - 1) % 7 + 1
    return _format_day(day + timedelta(days=direction * days))


def _period(unit: str, count: int, day: date) -> str:
    """The day, week, month or year that is so many of them after a day (before it, if negative)."""
    match unit:
        case "day":
            return _format_day(day + timedelta(days=count))
        case "year":
            return str(date(day.year + count, 1, 1).year)
        case "month":
            months = day.year * 12 + day.month - 1 + count
            return _format_month(date(months // 12, months % 12 + 1, 1))
    monday = day + timedelta(weeks=count, days=-day.weekday())
    if unit == "weekend":
        saturday = monday + timedelta(days=5)
        return f"{saturday.day} to {_format_day(saturday + timedelta(days=1))}"
    return f"week of {_format_day(monday)}"


def _format_day(day: date) -> str:
    return f"{day.day} {_format_month(day)}"


def _format_month(day: date) -> str:
    return f"{MONTHS[day.month - 1]} {day.year}"
