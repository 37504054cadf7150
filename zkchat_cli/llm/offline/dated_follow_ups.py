"""Messages that ask the question before again for another time: "and on the 4th?". Pure."""

from collections.abc import Sequence

from zkchat_cli.llm.offline.note_scope import PUNCTUATION, read_dates
from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.text.dates import NamedPeriod
from zkchat_cli.text.patterns import lazy_pattern

# Messages before a follow-up that may be follow-ups themselves
MOST_CHAINED = 6
_AND = lazy_pattern(
    r"(?:(?:and|but|what about|how about|und|wie war es|was ist mit|et(?: pour)?|y|e|que tal) )?"
    r"(?P<rest>.+)"
)
_DAY = lazy_pattern(
    r"(?:on )?the (?P<day>\d{1,2})(?:st|nd|rd|th)?|(?:on )?(?P<day2>\d{1,2})(?:st|nd|rd|th)"
    r"|am (?P<day3>\d{1,2})\.?|le (?P<day4>\d{1,2})(?:er)?|el (?:dia )?(?P<day5>\d{1,2})"
    r"|(?:no )?dia (?P<day6>\d{1,2})"
)
_YEAR_FIRST = lazy_pattern(r"(?P<before>\d{4}-\d{1,2}-)\d{1,2}")
_DAY_OF_DATE = lazy_pattern(r"(?<!\d)\d{1,2}(?:st|nd|rd|th)?(?!\d)")
LAST_DAY = 31


def complete_question(message: str, earlier: Sequence[str]) -> str:
    """A message with the words of the question before it, if it only names another time than that
    one does; else as it is. `earlier`: the messages before it, without small talk.
    """
    asked = _AND.fullmatch(bare_text(" ".join(message.split())).strip(PUNCTUATION))
    if asked is None or not earlier:
        return message
    rest = message.strip(PUNCTUATION)[-len(asked["rest"]) :]
    day = _DAY.fullmatch(asked["rest"])
    named = read_dates(rest)
    is_date = named is not None and not named.rest.strip(PUNCTUATION)
    if not (day or is_date):
        return message
    recent = earlier[-MOST_CHAINED:]
    question = complete_question(recent[-1], recent[:-1])
    of_question = read_dates(question)
    if of_question is None or of_question.words not in question:
        return message
    words = rest
    if day:
        number = next(value for value in day.groupdict().values() if value)
        words = _with_day(of_question, int(number))
    return question.replace(of_question.words, words) if words else message


def _with_day(named: NamedPeriod, day: int) -> str:
    """The words of a date with another day of the same month; empty if they name no day."""
    if not 1 <= day <= LAST_DAY or named.period.first != named.period.last:
        return ""
    words = named.words
    if _YEAR_FIRST.search(words):
        return _YEAR_FIRST.sub(rf"\g<before>{day:02}", words)
    return _DAY_OF_DATE.sub(str(day), words, count=1) if _DAY_OF_DATE.search(words) else ""
