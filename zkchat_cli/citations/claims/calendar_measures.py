"""Dates and times of the day in the tokens of a text: "3. April 2021", "March 14, 2022", "half past
nine", "18 h 15".
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from zkchat_cli.citations.claims import measure_words
from zkchat_cli.citations.claims.measure_tokens import MeasureToken
from zkchat_cli.text.spelled_numbers import SPELLED_LANGUAGES, spelled_number
from zkchat_cli.text.word_lists import GERMAN

_FIRST_YEAR = 1400
_LAST_YEAR = 2200
_NOON = 12 * 60
_DAY = 24 * 60
_MOST_DAYS = 31
_MONTHS_OF_A_YEAR = 12
_LAST_HOUR = 24
_LAST_MINUTE = 59
_OF = frozenset("of de del do d the , . den st nd rd th".split())
_PAST = {"past": 1, "after": 1, "nach": 1, "to": -1, "vor": -1, "before": -1}
_BEHIND = {"et": 1, "y": 1, "e": 1, "menos": -1, "moins": -1}
_QUARTERS = frozenset("quarter viertel quart cuarto quarto".split())
_HALVES = frozenset("half demie demi media meia".split())
_ARTICLES = frozenset("a le un um".split())
_CLOCK_STARTS = frozenset("at a as las um gegen vers ab vor nach".split())


class DateParts(NamedTuple):
    """Year, month and day of a date, as far as they are named."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def named(self) -> int:
        """How many parts are named."""
        return sum(part is not None for part in self)

    def fits(self, other: "DateParts") -> bool:
        """Whether the parts that both name are the same, and there are some."""
        pairs = [
            (mine, theirs)
            for mine, theirs in zip(self, other, strict=True)
            if mine is not None and theirs is not None
        ]
        return bool(pairs) and all(mine == theirs for mine, theirs in pairs)


class FoundDate(NamedTuple):
    """A date, and the index of the token behind it. One in digits may have a second reading."""

    readings: tuple[DateParts, ...]
    end: int


class FoundTime(NamedTuple):
    """The minutes since midnight that a time of the day may mean, and the index of the token behind
    it.
    """

    readings: tuple[float, ...]
    end: int


@cache
def _months() -> dict[str, int]:
    found: dict[str, int] = {}
    for number, forms in enumerate(measure_words.MONTHS, 1):
        found.update(dict.fromkeys(forms.split("/"), number))
    return found


def is_month(word: str) -> bool:
    """Whether a folded word can be a month."""
    return word in _months()


def read_date(tokens: Sequence[MeasureToken], at: int) -> FoundDate | None:
    """The date that begins at a token."""
    token = tokens[at]
    if token.kind == "iso":
        year, month, day = map(int, token.text.split("-"))
        return FoundDate((DateParts(year, month, day),), at + 1)
    if token.kind == "numeric":
        first, second, year = map(int, re.split("[./]", token.text))
        readings = {DateParts(year, second, first)}
        if "/" in token.text:
            readings.add(DateParts(year, first, second))
        valid = [parts for parts in readings if (parts.month or 0) <= _MONTHS_OF_A_YEAR]
        return FoundDate(tuple(valid), at + 1) if valid else None
    return _day_first(tokens, at) or _month_first(tokens, at) or _year_only(tokens, at)


def _day_first(tokens: Sequence[MeasureToken], at: int) -> FoundDate | None:
    day = _whole(tokens[at], 1, _MOST_DAYS)
    if day is None:
        return None
    month_at = _skip(tokens, at + 1, _OF)
    month = _month(tokens, month_at, beside_number=True)
    if month is None:
        return None
    year, end = _year(tokens, month_at + 1)
    return FoundDate((DateParts(year, month, day),), end)


def _month_first(tokens: Sequence[MeasureToken], at: int) -> FoundDate | None:
    month = _month(tokens, at, beside_number=False)
    if month is None:
        return None
    day = _whole(tokens[at + 1], 1, _MOST_DAYS) if at + 1 < len(tokens) else None
    year, end = _year(tokens, at + (1 if day is None else 2))
    return FoundDate((DateParts(year, month, day),), end)


def _year_only(tokens: Sequence[MeasureToken], at: int) -> FoundDate | None:
    year = _whole(tokens[at], _FIRST_YEAR, _LAST_YEAR)
    if year is None or len(tokens[at].text) != 4:
        return None
    return FoundDate((DateParts(year),), at + 1)


def _year(tokens: Sequence[MeasureToken], at: int) -> tuple[int | None, int]:
    """The year behind a month, and the index of the token behind it."""
    year_at = _skip(tokens, at, _OF)
    year = _whole(tokens[year_at], 1, _LAST_YEAR) if year_at < len(tokens) else None
    if year is None or len(tokens[year_at].text) != 4:
        return None, at
    return year, year_at + 1


def _skip(tokens: Sequence[MeasureToken], at: int, words: frozenset[str]) -> int:
    """The index of the first token from one on that is not among these words, two at most."""
    for _ in range(2):
        if at < len(tokens) and tokens[at].folded in words:
            at += 1
    return at


def _month(tokens: Sequence[MeasureToken], at: int, *, beside_number: bool) -> int | None:
    """The number of the month that a token names."""
    if at >= len(tokens):
        return None
    word = tokens[at]
    number = _months().get(word.folded)
    if number is None or beside_number:
        return number
    has_day = at + 1 < len(tokens) and tokens[at + 1].kind == "number"
    is_clear = word.folded not in measure_words.NO_MONTHS
    is_named = word.text[0].isupper() and at > 0
    return number if has_day or is_clear or is_named else None


def _whole(token: MeasureToken, least: int, most: int) -> int | None:
    """The number of a token if it is a whole one in these bounds."""
    if token.kind != "number" or not token.text.isdecimal() or len(token.text) > 4:
        return None
    return int(token.text) if least <= int(token.text) <= most else None


def read_clock(
    tokens: Sequence[MeasureToken], words: Sequence[str], at: int, language: str
) -> FoundTime | None:
    """The time of the day that begins at a token. `words` are the folded texts of the tokens."""
    if tokens[at].kind == "clock":
        hours, minutes = map(int, re.split(r"\D+", tokens[at].text))
        if hours > _LAST_HOUR or minutes > _LAST_MINUTE:
            return None
        return _by_half_of_day(words, FoundTime((hours * 60.0 + minutes,), at + 1), digital=True)
    found = _past_hour(words, at, language) or _full_hour(tokens, words, at, language)
    return _by_half_of_day(words, found, digital=False) if found else None


def _by_half_of_day(words: Sequence[str], found: FoundTime, *, digital: bool) -> FoundTime:
    """The time with what follows it: "pm", "p. m.", "de la tarde"."""
    [time] = found.readings[:1]
    half = _half_of_day(words, found.end)
    if half is not None:
        is_evening, end = half
        if is_evening:
            return FoundTime((time + _NOON if time < _NOON else time,), end)
        return FoundTime((time % _NOON,), end)
    if digital or time > _NOON:
        return found
    return found._replace(readings=(time, (time + _NOON) % _DAY))


def _half_of_day(words: Sequence[str], at: int) -> tuple[bool, int] | None:
    """Whether words behind a time mean the evening, and the index behind them."""
    for end in range(at + 1, min(at + 5, len(words) + 1)):
        word = words[end - 1]
        joined = "".join(words[at:end]).replace(".", "")
        if joined in ("am", "pm") or word in measure_words.EVENING | measure_words.MORNING:
            is_evening = joined == "pm" or word in measure_words.EVENING
            return is_evening, end + (words[end : end + 1] == ["."] and joined != word)
        if word not in ("a", "p", ".", "m", "de", "la", "du", "da", "in", "the", "uhr", "h"):
            return None
    return None


def _hour(words: Sequence[str], at: int, language: str) -> tuple[float, int] | None:
    """The hour in digits or words at a token, and the index behind it."""
    if at >= len(words):
        return None
    if words[at].isdecimal() and len(words[at]) <= 2:
        return float(words[at]), at + 1
    if language not in SPELLED_LANGUAGES:
        return None
    found = spelled_number(words, at, language)
    return (found.value, at + 1) if found and found.size == 1 else None


def _past_hour(words: Sequence[str], at: int, language: str) -> FoundTime | None:
    """ "half past nine", "Viertel nach sechs", "halb zehn"."""
    if words[at] == "halb" and language == GERMAN:
        hour = _hour(words, at + 1, language)
        return FoundTime((hour[0] * 60 - 30,), hour[1]) if hour else None
    part = {**dict.fromkeys(_QUARTERS, 15), **dict.fromkeys(_HALVES, 30)}.get(words[at])
    sign = _PAST.get(words[at + 1]) if at + 1 < len(words) else None
    if part is None or sign is None:
        return None
    hour = _hour(words, at + 2, language)
    return FoundTime((hour[0] * 60 + sign * part,), hour[1]) if hour else None


def _full_hour(
    tokens: Sequence[MeasureToken], words: Sequence[str], at: int, language: str
) -> FoundTime | None:
    """ "9 Uhr 30", "at nine", "a las nueve y media", "à neuf heures et quart"."""
    hour = _hour(words, at, language)
    if hour is None or hour[0] > _LAST_HOUR:
        return None
    value, end = hour
    before = words[at - 1] if at else ""
    named = end < len(words) and words[end] in measure_words.CLOCK_HOURS
    is_clear = named and words[end] in ("uhr", "oclock", "o'clock")
    minutes, behind = _minutes_behind(words, end + named)
    if behind == end + named and not is_clear and not _is_hour(tokens, words, at, end, named):
        return None
    is_time = is_clear or before in _CLOCK_STARTS
    return FoundTime((value * 60 + minutes,), behind) if is_time else None


def _is_hour(
    tokens: Sequence[MeasureToken], words: Sequence[str], at: int, end: int, named: bool
) -> bool:
    """Whether a number behind "at" is an hour: nothing that is counted follows it."""
    follows = tokens[end].kind if end < len(tokens) else "mark"
    ends = follows == "mark" or words[end] in ("on", "in", "and", "am", "pm", "every", "each")
    return named or (at > 0 and words[at - 1] in ("at", "las", "as") and ends)


def _minutes_behind(words: Sequence[str], at: int) -> tuple[float, int]:
    """The minutes behind an hour, and the index of the token behind them."""
    if at < len(words) and words[at].isdecimal() and words[at - 1] in measure_words.CLOCK_HOURS:
        return float(words[at]), at + 1
    sign = _BEHIND.get(words[at]) if at < len(words) else None
    if sign is None:
        return 0, at
    part_at = at + 1 + (at + 1 < len(words) and words[at + 1] in _ARTICLES)
    part = words[part_at] if part_at < len(words) else ""
    parts: Mapping[str, float] = {**dict.fromkeys(_QUARTERS, 15), **dict.fromkeys(_HALVES, 30)}
    return (sign * parts[part], part_at + 1) if part in parts else (0, at)
