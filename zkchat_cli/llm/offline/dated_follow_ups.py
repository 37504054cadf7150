"""Messages that ask the question before again for another time: "and on the 4th?", "and in May?".
Pure.
"""

import unicodedata
from collections.abc import Callable, Sequence

from zkchat_cli.llm.offline.note_scope import PUNCTUATION, read_dates
from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.models.reports import RequestKind
from zkchat_cli.text.dates import NamedPeriod
from zkchat_cli.text.month_names import is_month_name
from zkchat_cli.text.patterns import lazy_pattern

# Messages before a follow-up that may be follow-ups themselves
MOST_CHAINED = 6
# Other requests are narrowed to a time as such
LOOK_UPS = ("lookup", "definition", "when", "how_to")
KindOfRequest = Callable[[str, Sequence[str]], RequestKind | None]
"""The kind of the request that a message is after others."""
_AND = lazy_pattern(
    r"(?:(?:(?:and|but|und|et|y|e|mais|pero|mas) )?(?:what about|how about|the same for|same for"
    r"|wie war es|wie ist es|was ist mit|dasselbe fur|das gleiche fur|pour|la meme chose pour"
    r"|que tal|que hay de|lo mismo para|quanto a|o mesmo para) (?:(?:the|das|le|el|o) )?"
    r"|(?:and|but|und|et|y|e) )?(?P<rest>.+)"
)
_DAY = lazy_pattern(
    r"(?:on )?the (?P<day>\d{1,2})(?:st|nd|rd|th)?|(?:on )?(?P<day2>\d{1,2})(?:st|nd|rd|th)"
    r"|am (?P<day3>\d{1,2})\.?|le (?P<day4>\d{1,2})(?:er)?|el (?:dia )?(?P<day5>\d{1,2})"
    r"|(?:no )?dia (?P<day6>\d{1,2})"
)
_YEAR_FIRST = lazy_pattern(r"(?P<before>\d{4}-\d{1,2}-)\d{1,2}")
_DAY_OF_DATE = lazy_pattern(r"(?<!\d)\d{1,2}(?:st|nd|rd|th)?(?!\d)")
_YEAR = lazy_pattern(r"(?P<joint>,| d[eo])? ?\b(?P<year>(?:19|20)\d\d)\b")
_WORD = lazy_pattern(r"[^\W\d_]+")
LAST_DAY = 31


def complete_question(message: str, earlier: Sequence[str], kind_of: KindOfRequest) -> str:
    """A message with the words of the question before it, if it only names another time than that
    one does, or a time for a look-up without one; else as it is. `earlier`: the messages before it,
    without small talk.
    """
    text = unicodedata.normalize("NFC", " ".join(message.split())).strip(PUNCTUATION)
    asked = _AND.fullmatch(bare_text(text))
    if asked is None or not earlier:
        return message
    rest = text[asked.start("rest") :]
    if not _names_time(rest):
        return message
    recent = earlier[-MOST_CHAINED:]
    question = complete_question(recent[-1], recent[:-1], kind_of)
    named = read_dates(question)
    if named is None and _is_date(rest) and kind_of(recent[-1], recent[:-1]) in LOOK_UPS:
        asked_before = question.rstrip(PUNCTUATION)
        return f"{asked_before} {rest}{question[len(asked_before) :]}"
    if named is None:
        return message
    words = _with_time(named, rest) if named.words in question else ""
    return question.replace(named.words, words) if words else message


def _names_time(text: str) -> bool:
    """Whether a text is nothing but a time: a day of a month, a month, or another date."""
    return bool(_DAY.fullmatch(bare_text(text))) or is_month_name(text) or _is_date(text)


def _is_date(text: str) -> bool:
    named = read_dates(text)
    return named is not None and not named.rest.strip(PUNCTUATION)


def _with_time(named: NamedPeriod, time: str) -> str:
    """The words of a date with another time in their place; empty if they do not suit it."""
    day = _DAY.fullmatch(bare_text(time))
    if day:
        number = next(value for value in day.groupdict().values() if value)
        return _with_day(named, int(number))
    month = _month_in(time)
    if not month or any(map(str.isdigit, time)):
        return time
    found = _YEAR.search(named.words)
    # "And in June?" after "in May 2025" is of that year
    year = f"{found['joint'] or ''} {found['year']}" if found else ""
    if month != time:
        return f"{time}{year}"
    before = _month_in(named.words)
    if before:
        return _DAY_OF_DATE.sub("", named.words.replace(before, month)).replace("  ", " ").strip()
    return named.words.replace(found["year"], f"{month}{year}") if found else ""


def _month_in(text: str) -> str:
    """The month in a text, as it is written; empty without one."""
    return next(filter(is_month_name, _WORD.findall(text)), "")


def _with_day(named: NamedPeriod, day: int) -> str:
    """The words of a date with another day of the same month; empty if they name no day."""
    if not 1 <= day <= LAST_DAY or named.period.first != named.period.last:
        return ""
    words = named.words
    if _YEAR_FIRST.search(words):
        return _YEAR_FIRST.sub(rf"\g<before>{day:02}", words)
    return _DAY_OF_DATE.sub(str(day), words, count=1) if _DAY_OF_DATE.search(words) else ""
