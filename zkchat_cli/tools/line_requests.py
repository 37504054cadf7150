"""Requests for lines of notes, and their time."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.dates import Period
from zkchat_cli.vault.catalog import NoteSelection
from zkchat_cli.vault.index.values import NoteEntry
from zkchat_cli.vault.vault import Vault

# In more of them, any note may have a date
MOST_YEARS = 5
DAYS_OF_YEAR = 366


class LineRequest(NamedTuple):
    """What lines are listed: `show` says what they have, and the dates are those of tasks."""

    show: str
    about: str
    since: str
    until: str
    begin: int
    limit: int


class LinesOfTime(NamedTuple):
    """The time that lines are wanted of, and the notes of that time."""

    period: Period
    notes: Mapping[str, NoteEntry]

    def has(self, days: Period) -> bool:
        """Whether days are of that time."""
        return days.intersect(self.period) == days

    def has_month(self, month: int) -> bool:
        """Whether a month is of that time, whatever its year; 0 is none."""
        first, last = self.period.first, self.period.last
        if (last - first).days > DAYS_OF_YEAR:
            return bool(month)
        if first.month <= last.month:
            return first.month <= month <= last.month
        return month >= first.month or 1 <= month <= last.month

    def may_have(self, path: str, text: str) -> bool:
        """Whether a note may have something of that time: it is of it, or names its year."""
        years = range(self.period.first.year, self.period.last.year + 1)
        if path in self.notes or len(years) > MOST_YEARS:
            return True
        return any(str(year) in text for year in years)


def wanted_time(vault: Vault, selection: NoteSelection) -> LinesOfTime | None:
    """The time of a selection; None for any."""
    period = vault.catalog.read_period(selection.since, selection.until)
    if period is None:
        return None
    return LinesOfTime(period, {note.path: note for note in vault.catalog.list_notes(selection)})


class LinePlace(NamedTuple):
    """Lines of a note, the first and the last of them."""

    path: str
    first: int
    last: int


def read_places(vault: Vault, places: Iterable[LinePlace]) -> tuple[ContentChunk, ...]:
    """An excerpt for each of the places that are still there."""
    chunks: list[ContentChunk] = []
    for place in places:
        chunks += vault.reader.chunks(place.path, place.first, place.last)[:1]
    return tuple(chunks)


def describe_rest(begin: int, shown: int, found: int) -> str:
    """How to get what is not shown; empty if nothing is left."""
    if not shown:
        return "No note matches."
    end = begin + shown
    if end < found:
        return f"{found - end} more: ask again with offset={end}, a folder or a tag."
    return ""
