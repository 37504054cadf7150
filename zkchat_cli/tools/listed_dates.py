"""Lists of what has a date: the timeline of a subject, and the dates of a property."""

from collections.abc import Iterable
from datetime import date, timedelta

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.dates import Period
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.tools.base import ToolOutput
from zkchat_cli.tools.line_requests import (
    LinePlace,
    LineRequest,
    describe_rest,
    read_places,
    wanted_time,
)
from zkchat_cli.vault.catalog import NoteSelection
from zkchat_cli.vault.line_dates import written_period
from zkchat_cli.vault.note_timeline import DatedLines, find_dated_lines
from zkchat_cli.vault.property_dates import PropertyDate, find_property_dates
from zkchat_cli.vault.vault import Vault

DATES = "dates of "
MOST_NOTES_OF_TIMELINE = 1000
LONGEST_MONTH = timedelta(days=31)
_WRITTEN_YEAR = lazy_pattern(
    r"\d{4}|(?:last|this|next) year|(?:letzte|diese|nächste|vorige)[sn] Jahr"
    r"|(?:este|último|próximo) a[nñ]o|a[nñ]o (?:pasado|passado)|année dernière"
)


def list_dated_lines(vault: Vault, selection: NoteSelection, wanted: LineRequest) -> ToolOutput:
    """What the notes say about something, in the order of its days, each as an excerpt."""
    anytime = vault.catalog.list_notes(selection._replace(since="", until=""))
    of_time = wanted_time(vault, selection)
    if of_time is None:
        # The best ones come first
        anytime = anytime[:MOST_NOTES_OF_TIMELINE]
    found: list[tuple[str, DatedLines]] = []
    for note in anytime:
        text = vault.reader.read_if_there(note.path) or ""
        if of_time is not None and not of_time.may_have(note.path, text):
            continue
        lines = find_dated_lines(vault.reader.parse(note.path), note.title, wanted.about)
        if of_time is not None:
            lines = [each for each in lines if of_time.has(each.period)]
        found += [(note.path, each) for each in lines]
    found.sort(key=lambda each: (each[1].period.first, each[0], each[1].first))
    shown = found[wanted.begin :][: wanted.limit]
    chunks = read_places(vault, (LinePlace(path, each.first, each.last) for path, each in shown))
    return ToolOutput(
        chunks=chunks,
        data={
            "total": len(found),
            "notes": len({path for path, _ in found}),
            "days": [written_period(each.period) for _, each in shown],
        },
        note=describe_rest(wanted.begin, len(chunks), len(found)),
        outcome=f"{len(chunks)} of {plural(len(found), 'dated line')}",
    )


def list_property_dates(vault: Vault, selection: NoteSelection, wanted: LineRequest) -> ToolOutput:
    """The lines with dates of a property, `dates of birthday | born`, from the first day of the
    wanted time on. A time without a year is of any year.
    """
    names = [fold(name.strip()) for name in wanted.show.removeprefix(DATES).split("|")]
    period = vault.catalog.due_period(wanted.since, wanted.until)
    dated: list[tuple[str, PropertyDate]] = []
    for note in vault.catalog.list_notes(selection._replace(since="", until="")):
        text = vault.reader.read_if_there(note.path) or ""
        dated += [(note.path, each) for each in find_property_dates(text, note.title, names)]
    found = dated
    if period is not None:
        found = _dates_of_time(dated, period, any_year=not _WRITTEN_YEAR.search(wanted.since))
    first = period.first if period else date.min
    found.sort(key=lambda each: (*each[1].place_after(first), each[0]))
    shown = found[wanted.begin :][: wanted.limit]
    chunks = read_places(vault, (LinePlace(path, each.line, each.line) for path, each in shown))
    return ToolOutput(
        chunks=chunks,
        data={
            "total": len(found),
            "notes": len({path for path, _ in found}),
            "dated": len(dated),
        },
        note=describe_rest(wanted.begin, len(chunks), len(found)),
        outcome=f"{len(chunks)} of {plural(len(found), 'date')}",
    )


def _dates_of_time(
    dated: Iterable[tuple[str, PropertyDate]], period: Period, *, any_year: bool
) -> list[tuple[str, PropertyDate]]:
    """The dates of a time; of a month without any, also those of other years, as birthdays are."""
    dated = list(dated)
    found = [each for each in dated if each[1].is_in(period, any_year=any_year)]
    is_short = period.last - period.first < LONGEST_MONTH
    if not found and is_short:
        return [each for each in dated if each[1].is_in(period, any_year=True)]
    return found
