"""Answers to questions about a day ("what did I weigh on 3 November?"): what the notes of that day
say, and that they do not say it. What was on other days is no answer. The same holds for a month
where a message only names that: "and in June?". Pure.
"""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from zkchat_cli.llm.offline.answer import OfflineAnswer, WantedCall, format_quotes
from zkchat_cli.llm.offline.asked_turn import AskedTurn, FinishedCall, read_excerpts
from zkchat_cli.llm.offline.question import AnalyzedQuestion
from zkchat_cli.llm.offline.quotes import QuoteSource, RankedQuote, comparable_words
from zkchat_cli.llm.offline.ranking import RankedPassages, rank_passages
from zkchat_cli.llm.offline.request_handler import LIST_TOOL
from zkchat_cli.llm.offline.selection import select_quotes
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.answer_phrases import phrases_for
from zkchat_cli.text.date_forms import read_leading
from zkchat_cli.text.dates import Period, find_period

# Notes of a day that are looked at
MOST_NOTES = 6
MOST_NOTES_OF_MONTH = 20
MOST_QUOTES = 3
# From this similarity on, a passage of the day answers without a word of the question
NEAR = 0.4
# Only the length of a period and its day and month matter
_ANY_DAY = date(year=1950, month=1, day=1)


class WantedTime(NamedTuple):
    """A day, or with `is_month` its month; by its month where the question names no year."""

    day: date
    has_year: bool
    is_month: bool = False

    def is_in(self, period: Period) -> bool:
        """Whether a period is this day, or within this month."""
        if self.is_month:
            days = (period.first, period.last)
            is_same = all(day.month == self.day.month for day in days)
            return is_same and (not self.has_year or period.first.year == self.day.year)
        if period.first != period.last:
            return False
        if self.has_year:
            return period.first == self.day
        return (period.first.month, period.first.day) == (self.day.month, self.day.day)

    @property
    def written(self) -> str:
        """`2026-01-31`, or `2026-01`."""
        written = self.day.isoformat()
        return written.rpartition("-")[0] if self.is_month else written


def is_about_day(question: AnalyzedQuestion) -> bool:
    """Whether a question asks what was on a single day, or only for a month."""
    found = find_period(question.dates, _ANY_DAY) if question.dates else None
    if found is None:
        return False
    return found.period.first == found.period.last or _is_about_month(question)


def _is_about_month(question: AnalyzedQuestion) -> bool:
    """Whether a message only names another month than the question before it."""
    found = find_period(question.dates, _ANY_DAY) if question.dates else None
    if found is None or not question.only_names_time:
        return False
    first, last = found.period
    return first.day == 1 and first.month == last.month and first != last


def day_calls(question: AnalyzedQuestion, turn: AskedTurn) -> list[WantedCall]:
    """The list of the notes of the day, if the question asks about one."""
    if turn.documents or not is_about_day(question):
        return []
    arguments = {"since": question.dates, "until": question.dates}
    most = MOST_NOTES_OF_MONTH if _is_about_month(question) else MOST_NOTES
    return [WantedCall(LIST_TOOL, {**arguments, "limit": most, "excerpts": most})]


def answer_about_day(
    question: AnalyzedQuestion, turn: AskedTurn, similarities: Similarities | None
) -> OfflineAnswer | None:
    """What the notes of the day say; None if the question is about no day."""
    lists = turn.calls_of(LIST_TOOL)
    if not lists or lists[-1].error or not is_about_day(question):
        return None
    excerpts = read_excerpts(turn.results)
    undated = question._replace(text=_without_dates(question.text), dates="")
    ranked = rank_passages(undated, excerpts, similarities)
    wanted = _wanted_time(question, lists[-1].data.get("documents", ()))
    listed = _sources_of_time(lists[-1], excerpts, wanted)
    of_day = [
        quote
        for quote in ranked.all
        if not quote.is_question and (quote.excerpt.source in listed or _is_of_day(quote, wanted))
    ]
    if of_day:
        return _quote_day(undated, of_day, wanted, similarities)
    # "on Tuesday" may be about any of them
    is_certain = wanted.is_month or any(map(str.isdigit, question.dates))
    return _quote_other_days(question, ranked) if is_certain else None


def _sources_of_time(
    listed: FinishedCall, excerpts: Sequence[QuoteSource], wanted: WantedTime
) -> set[int]:
    """The numbers of the excerpts of that time: those that are listed, and of a month all of its
    notes.
    """
    sources = {excerpt.source for excerpt in listed.excerpts}
    if not wanted.is_month:
        return sources
    documents = listed.data.get("documents", ())
    # Others have sections of other months
    paths = {each["path"] for each in documents if "sections" not in each}
    return sources | {excerpt.source for excerpt in excerpts if excerpt.path in paths}


def _without_dates(text: str) -> str:
    found = find_period(text, _ANY_DAY)
    return found.rest if found else text


def _wanted_time(question: AnalyzedQuestion, documents: Sequence[dict[str, str]]) -> WantedTime:
    """The time that the notes of the list have, which know what "yesterday" means, or else the one
    that the question names.
    """
    is_month = _is_about_month(question)
    for document in documents:
        if leading := read_leading(str(document.get("date", ""))):
            return WantedTime(leading[0].period.first, has_year=True, is_month=is_month)
    found = find_period(question.dates, _ANY_DAY)
    day = found.period.first if found else _ANY_DAY
    return WantedTime(day, has_year=str(day.year) in question.dates, is_month=is_month)


def _is_of_day(quote: RankedQuote, wanted: WantedTime) -> bool:
    """Whether a passage, or the heading or title above it, names the day."""
    for name in (quote.text, *quote.passage.headings, quote.excerpt.title):
        if any(wanted.is_in(reading.period) for reading in read_leading(name)):
            return True
    found = find_period(quote.text, _ANY_DAY)
    return found is not None and wanted.is_in(found.period)


def _quote_day(
    question: AnalyzedQuestion,
    of_day: Sequence[RankedQuote],
    wanted: WantedTime,
    similarities: Similarities | None,
) -> OfflineAnswer:
    """The passages of the day, best first, with how sure they answer."""
    texts = [quote.text for quote in of_day]
    subject = _comparable_subject(question, texts)
    cosines = (similarities(question.text, texts) if similarities else None) or []
    nearness = dict(zip(texts, cosines, strict=False))
    answering = [
        quote for quote in of_day if subject & quote.words or nearness.get(quote.text, 0.0) >= NEAR
    ]
    phrases = phrases_for(question.asked, texts)
    if answering:
        quotes = format_quotes(select_quotes(answering, MOST_QUOTES))
        return OfflineAnswer(f"{phrases.from_notes}\n\n{quotes}", "answer")
    unclear = phrases.unclear_in_month if wanted.is_month else phrases.unclear_on_day
    said = unclear.format(day=wanted.written)
    quotes = format_quotes(select_quotes(of_day, MOST_QUOTES))
    return OfflineAnswer(f"{said}\n\n{quotes}", "most_likely")


def _quote_other_days(question: AnalyzedQuestion, ranked: RankedPassages) -> OfflineAnswer:
    """That no note is of the day, with what others have of the question's words."""
    texts = [quote.text for quote in ranked.all]
    subject = _comparable_subject(question, texts)
    phrases = phrases_for(question.asked, texts)
    said = phrases.nothing_in_period
    nearest = [quote for quote in ranked.on_topic if subject & quote.words]
    if not nearest:
        return OfflineAnswer(f"{said}\n", "nothing")
    quotes = format_quotes(select_quotes(nearest, MOST_QUOTES))
    return OfflineAnswer(f"{said} {phrases.not_sure}\n\n{quotes}", "most_likely")


def _comparable_subject(question: AnalyzedQuestion, texts: Sequence[str]) -> frozenset[str]:
    """The words of the question's subject as those of passages are compared."""
    languages = words.detect_languages(texts)
    return comparable_words(" ".join(sorted(question.subject)), languages)
