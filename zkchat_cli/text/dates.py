"""Dates in a text ("last week", "in March", "seit Montag", 上周) as periods of days.

A week begins on Monday, an ambiguous date is in the past, and `3/5/2024` is the third of May.
"may", "march" and weekdays are dates only beside a number or a preposition.
"""

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache, reduce
from typing import NamedTuple

from zkchat_cli.text.date_ranges import find_range
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.word_lists import FUNCTION_CHARACTERS
from zkchat_cli.text.words import language_of, stopwords, terms

# Characters of a question that are searched for dates
MAX_TEXT = 2_000
LANGUAGES = ("en", "de", "fr", "es", "pt", "zh")
MONTHS = (
    "January February March April May June July August September October November December".split()
)
# `calendar` has those of the system's language
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

_MONTH = (
    "january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|"
    "januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|"
    "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|"
    "janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro"
)
_WEEKDAY = (
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|"
    "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo|"
    "segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira"
)
_UNIT = (
    "days?|weeks?|months?|years?|tag(?:en|e)?|wochen?|monat(?:en|e)?|jahr(?:en|e)?|"
    "jours?|semaines?|mois|ans?|días?|semanas?|mes(?:es)?|años?|dias?|mês|anos?"
)
_LAST = "last|previous|letzte[nrms]?|vorige[nrms]?|últim[oa]"
_PAST_OR_THIS = "past|this|diese[nrms]?|est[ea]"
_LAST_BEHIND = "derni[eè]re?|passée?|pasad[oa]|passad[oa]"
_COUNT = (
    r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|"
    r"eine[mnr]?|zwei|drei|vier|fünf|sechs|une?|deux|trois|quatre|un[ao]?|dos|tres|"
    r"uma?|dois|duas|três|quatro"
)
_DAY = (
    "yesterday|today|vorgestern|gestern|heute|anteayer|ayer|hoy|avant-hier|aujourd'hui|"
    "anteontem|ontem|hoje"
)
_BEFORE = (
    "in|during|since|after|before|until|between|from|on|of|"
    "im|am|seit|vor|nach|zwischen|en|depuis|desde|el|le|"
    r"em|n[oa]|até|após|antes\ d[eo]|depois\ d[eo]"
)
# A day without a year, as Germans and others write it: "am 3.11.", "el 3/11"
_DAY_MONTH = (
    r"(?:(?<=am\ )|(?<=vom\ )|(?<=seit\ )|(?<=vor\ dem\ )|(?<=nach\ dem\ )|(?<=bis\ zum\ ))"
    r"\d{1,2}\.\s?\d{1,2}\.(?!\s?\d)"
    r"|(?:(?<=on\ )|(?<=el\ )|(?<=le\ )|(?<=em\ )|(?<=dia\ )|(?<=día\ ))"
    r"\d{1,2}/\d{1,2}(?![\w/])"
)
_DATE = lazy_pattern(
    rf"""(?<![\w-])(?:(?P<before>{_BEFORE})\s+)?(?:the\s+)?(?P<date>
        (?P<iso>\d{{4}}-(?:W\d\d|\d\d(?:-\d\d)?)(?![\w-])) | \d{{1,2}}[./]\d{{1,2}}[./]\d{{4}}(?!\w)
      | (?P<day_month>{_DAY_MONTH})
      | (?:the\s+)?day\ before\ yesterday\b | (?:{_DAY})\b
      | (?:{_LAST}|{_PAST_OR_THIS})\s+(?:{_UNIT}|{_WEEKDAY}|{_MONTH})\b
      | (?:(?:la|le|el)\s+)?(?:{_UNIT}|{_WEEKDAY}|{_MONTH})\s+(?:{_LAST_BEHIND})\b
      | (?:{_COUNT})\s+(?:{_UNIT})\s+(?:ago|atrás)\b
      | (?:vor|il\ y\ a|hace|há)\s+(?:{_COUNT})\s+(?:{_UNIT})\b
      | (?P<day>\d{{1,2}}(?:st|nd|rd|th|\.)?\s+(?:(?:of|de)\s+)?)?(?P<month>{_MONTH})\b\.?
        (?P<after>\s+\d{{1,2}}(?:st|nd|rd|th)?(?!\w))?(?P<year>,?\s+(?:de\s+)?\d{{4}}(?!\w))?
      | (?P<weekday>{_WEEKDAY})\b
      | (?P<bare_year>(?:19|20)\d\d)(?![\w-]) )
    | (?P<chinese>前天|昨天|今天|上个?星期|上周|[这本]周|上个?月|[这本]个?月|去年|今年
      | (?:\d{{4}}年)?\d{{1,2}}月(?:\d{{1,2}}[日号])? | \d{{4}}年)""",
    re.IGNORECASE | re.VERBOSE,
)
# What each date has, which compiles in a quarter of the time
_HINT_OF_DATE = lazy_pattern(
    rf"\d|前天|[昨今去]|上个?[星周月]|[这本]个?[周月]|\b(?:day|{_DAY}|{_UNIT}|{_WEEKDAY}|{_MONTH})",
    re.IGNORECASE | re.VERBOSE,
)
_ARTICLES = frozenset(("el", "le"))
_LAST_NAMED = lazy_pattern(
    rf"(?:{_LAST})\s(?P<name>{_WEEKDAY}|{_MONTH})|(?:(?:le|el)\s)?(?P<name_before>{_WEEKDAY}|{_MONTH})\s(?:{_LAST_BEHIND})",
    re.IGNORECASE,
)
# "last" as dateparser does not know it
_OTHER_LAST = lazy_pattern(r"^(?:(?P<english>past|previous)\b|vorige)", re.IGNORECASE)
_PORTUGUESE_LAST = lazy_pattern(r"^últim(?P<gender>[oa])\s+(?P<unit>\w+)$", re.IGNORECASE)
# Portuguese numbers, which dateparser does not know
_PORTUGUESE_NUMBERS = {"dois": "2", "duas": "2", "três": "3", "quatro": "4"}
_OPEN_START = frozenset(("until", "before", "bis", "até", "antes de", "antes do"))
_SINCE = frozenset(("since", "seit", "depuis", "desde"))
_AFTER = frozenset(("after", "nach", "após", "depois de", "depois do"))
_DAY_AND_MONTH = lazy_pattern(r"(?P<day>\d{1,2})(?:\.\s?(?=\d+\.)|/)(?P<month>\d{1,2})\.?")
# The 29th of February is at most so many years ago
YEARS_OF_LEAP = 8
_ORDINAL = lazy_pattern(r"(?<=\d)(?:st|nd|rd|th|\.(?=\s))")
_ISO = lazy_pattern(
    r"(?P<year>\d{4})(?:-(?:W(?P<week>\d\d)|(?P<month>\d\d?)(?:-(?P<day>\d\d?))?))?(?![\d])",
    re.IGNORECASE,
)


class Period(NamedTuple):
    """Days from the first through the last."""

    first: date = date.min
    last: date = date.max

    def intersect(self, other: "Period") -> "Period":
        """The days in both; empty (`last` before `first`) if there are none."""
        return Period(max(self.first, other.first), min(self.last, other.last))


class NamedPeriod(NamedTuple):
    """A period that a text names, the words of it, and the text without them."""

    period: Period
    words: str
    rest: str


# Beside other words, the month and the weekday of today are no dates
_ANY_DAYS = (date(year=1950, month=1, day=1), date(year=1950, month=7, day=15))


def find_period_words(text: str) -> NamedPeriod | None:
    """The words of a period in a text, whatever today is; the days that they mean are any."""
    found = (find_period(text, day) for day in _ANY_DAYS)
    return next(filter(None, found), None)


def find_period(text: str, today: date) -> NamedPeriod | None:
    """The period that a question names; None if it names none.

    "Due today" is about a subject: a date of the present counts only if hardly a word is left, a
    figure only in a short question.
    """
    ranged = _named_range(text, today)
    if ranged is not None:
        return ranged
    if not _HINT_OF_DATE.search(text):
        return None
    periods: list[Period] = []
    matches: list[re.Match[str]] = []
    subject = _DATE.sub(" ", text[:MAX_TEXT])
    has_subject = not is_all_stopwords(subject)
    is_long = len(terms(subject)) > MAX_BESIDE_BARE
    for match in _DATE.finditer(text[:MAX_TEXT]):
        period = _written_period(match, today)
        if period is None:
            continue
        is_subject = has_subject and period.first <= today <= period.last < date.max
        if not is_subject and not (is_long and _is_bare(match)):
            periods.append(period)
            matches.append(match)
    if not periods:
        return None
    rest = text
    for match in reversed(matches):
        rest = rest[: match.start()] + rest[match.end() :]
    words = " ".join(match[0] for match in matches)
    return NamedPeriod(_whole_period(periods), words, " ".join(rest.split()))


def _named_range(text: str, today: date) -> NamedPeriod | None:
    """The period from one date to another that share their month or preposition; None without
    such dates.
    """
    found = find_range(text[:MAX_TEXT])
    if found is None:
        return None
    first = parse_period(found.first, today)
    last = parse_period(found.last, today)
    if first is None or last is None:
        return None
    if first.first > last.last:
        # Each date alone is the last one in the past
        first = _a_year_before(first)
    rest = text[: found.begin] + text[found.end :]
    words = text[found.begin : found.end]
    return NamedPeriod(Period(first.first, last.last), words, " ".join(rest.split()))


def _a_year_before(period: Period) -> Period:
    """The same days or month of the year before."""
    year, month = period.first.year - 1, period.first.month
    is_day = period.first == period.last
    day = min(period.first.day, monthrange(year, month)[1])
    return days_of(year, month, day if is_day else None)


def _is_bare(match: re.Match[str]) -> bool:
    """Whether a date with a figure or month has no preposition."""
    if match["before"]:
        return False
    return bool(match["iso"] or match["month"] or re.search(r"\d", match[0]))


def _whole_period(periods: Sequence[Period]) -> Period:
    """The period that several dates of one question mean."""
    # "since Monday until today": each limits the other
    if any(period.first == date.min or period.last == date.max for period in periods):
        return reduce(Period.intersect, periods)
    return Period(min(periods).first, max(period.last for period in periods))


# Words of a question about a date; in a longer text, a date without "on" or "in" is one of its
# words
MAX_BESIDE_BARE = 5
_SAYS_NOTHING = frozenset(
    (
        "happen happened happening write wrote written note notes noted make made learn learned on "
        "gemacht getan geschrieben notiert gelernt passiert los gab geschehen new changed change "
        "neu neues geandert fait note nouveau hice hicimos nuevo "
        "fiz fizemos escrevi anotei aprendi mudou aconteceu novo"
    ).split()
)
_CHINESE_SAYS_NOTHING = lazy_pattern(f"[{''.join(sorted(FUNCTION_CHARACTERS))}做干啥写记事发生]")


def is_all_stopwords(text: str) -> bool:
    """Whether nothing is left to search for beside a date: "what did I do"."""
    words = [term.partition("'")[0] for term in terms(_CHINESE_SAYS_NOTHING.sub(" ", text))]
    return not set(words) - stopwords(language_of(words)) - _SAYS_NOTHING


def _written_period(match: re.Match[str], today: date) -> Period | None:
    before = (match["before"] or "").lower()
    words = match["chinese"] or match["date"]
    beside_number = match["day"] or match["after"] or match["year"]
    if match["month"] and not beside_number and (not before or before in _ARTICLES):
        return None
    if (match["weekday"] or match["bare_year"]) and not before:
        return None
    period = parse_period(words, today)
    if period is None and before in _ARTICLES:
        period = parse_period(f"{before} {words}", today)
    return _open_period(before, period) if period else None


def _open_period(before: str, period: Period) -> Period | None:
    """The period that a preposition makes of a date: "after May" has no last day."""
    try:
        if before in _SINCE:
            return Period(period.first)
        if before in _AFTER:
            return Period(period.last + timedelta(days=1))
        if before in _OPEN_START:
            return Period(last=period.first - timedelta(days=1))
    except OverflowError:
        # Programs write 9999-12-31 for "never": no day is after it
        return None
    return period


@lru_cache(maxsize=256)
def parse_period(words: str, today: date) -> Period | None:
    """The days that a single date means ("2024-05", "last week", "gestern"); None if it is no
    date.
    """
    words = " ".join(words.split())
    if iso := _ISO.fullmatch(words):
        return _iso_period(iso)
    if written := _DAY_AND_MONTH.fullmatch(words):
        return _past_day(int(written["day"]), int(written["month"]), today)
    if last := _LAST_NAMED.fullmatch(words):
        period = parse_period(last["name"] or last["name_before"], today)
        if period and period.last >= today:
            return days_of(period.first.year - 1, period.first.month)
        return period
    return _parsed_period(words, today)


def _past_day(day: int, month: int, today: date) -> Period | None:
    """The last day with this number in this month; None if the calendar has no such day."""
    for year in range(today.year, today.year - YEARS_OF_LEAP - 1, -1):
        try:
            found = date(year, month, day)
        except ValueError:
            continue
        if found <= today:
            return Period(found, found)
    return None


def _parsed_period(words: str, today: date) -> Period | None:
    """The days of a date in the words of a language that dateparser knows."""
    words = _OTHER_LAST.sub(lambda other: "last" if other["english"] else "letzte", words)
    words = _PORTUGUESE_LAST.sub(r"\g<unit> passad\g<gender>", words)
    words = " ".join(_PORTUGUESE_NUMBERS.get(word.lower(), word) for word in words.split())
    # 0.3 s, only for a text with something like a date
    from dateparser.date import DateDataParser

    noon = datetime(today.year, today.month, today.day, 12)
    settings = {
        "RELATIVE_BASE": noon,
        "PREFER_DATES_FROM": "past",
        "PREFER_DAY_OF_MONTH": "first",
        "DATE_ORDER": "DMY",
        # The base is a day and no moment. dateparser would look for the zone of the system, and
        # fail for what it does not know, such as the POSIX form CET-1CEST.
        "TIMEZONE": "UTC",
    }
    try:
        found = DateDataParser(languages=list(LANGUAGES), settings=settings).get_date_data(
            _ORDINAL.sub("", words)
        )
    except (ValueError, OverflowError):
        return None
    return _period_around(found.date_obj.date(), found.period) if found.date_obj else None


def _period_around(day: date, unit: str) -> Period:
    """The week, month or year of a day, or just the day."""
    match unit:
        case "week":
            monday = day - timedelta(days=day.weekday())
            return Period(monday, monday + timedelta(days=6))
        case "month":
            return days_of(day.year, day.month)
        case "year":
            return days_of(day.year)
    return Period(day, day)


def days_of(year: int, month: int | None = None, day: int | None = None) -> Period:
    """The days of a year, of a month, or one day. Raises ValueError for no such date."""
    first = date(year, month or 1, day or 1)
    if day:
        return Period(first, first)
    last_month = month or 12
    _, days = monthrange(year, last_month)
    return Period(first, date(year, last_month, days))


def _iso_period(match: re.Match[str]) -> Period | None:
    """The days of a year, a month, a week or a day; None if the calendar has no such date."""
    year, week, month, day = (
        int(part) if part else None for part in match.group("year", "week", "month", "day")
    )
    try:
        if week is not None:
            return Period(
                date.fromisocalendar(year or 0, week, 1), date.fromisocalendar(year or 0, week, 7)
            )
        return days_of(year or 0, month, day)
    except (ValueError, OverflowError):
        return None
