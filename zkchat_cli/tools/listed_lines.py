"""The lines of notes that are listed instead of notes: tasks, broken links and amounts."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.dates import Period
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.tools.base import ToolOutput
from zkchat_cli.vault.catalog import NoteSelection
from zkchat_cli.vault.index.values import NoteEntry
from zkchat_cli.vault.line_dates import period_of_line, written_period
from zkchat_cli.vault.line_names import heading_level
from zkchat_cli.vault.note_amounts import NoteAmount, find_amounts, read_query
from zkchat_cli.vault.note_tasks import NoteTask, correct_words, find_tasks, has_words
from zkchat_cli.vault.note_timeline import DatedLines, find_dated_lines
from zkchat_cli.vault.property_dates import PropertyDate, find_property_dates
from zkchat_cli.vault.vault import Vault

# Sums are rounded, so that 0.1 and 0.2 are 0.3
MOST_DECIMALS = 6
DUE_TASKS = "due tasks"
BROKEN_LINKS = "broken links"
TIMELINE = "timeline"
DATES = "dates of "
AMOUNTS = "amounts of "
# Only the lines with the highest or lowest of them
HIGHEST = "highest of "
LOWEST = "lowest of "
TASKS = {
    "tasks": ("open", "done"),
    "open tasks": ("open",),
    "done tasks": ("done",),
    DUE_TASKS: ("open",),
}
"""The states of the tasks that are listed by each name."""


MOST_NOTES_OF_TIMELINE = 1000
# In more of them, any note may have a date
MOST_YEARS = 5
LONGEST_MONTH = timedelta(days=31)
_WRITTEN_YEAR = lazy_pattern(
    r"\d{4}|(?:last|this|next) year|(?:letzte|diese|nächste|vorige)[sn] Jahr"
    r"|(?:este|último|próximo) a[nñ]o|a[nñ]o (?:pasado|passado)|année dernière"
)


class LineRequest(NamedTuple):
    """What lines are listed: `show` says what they have, and the dates are those of tasks."""

    show: str
    about: str
    since: str
    until: str
    begin: int
    limit: int


class FoundTask(NamedTuple):
    """A task with the path of its note, and all that says what it is about: its own words, what is
    above it, and the names and tags of its note.
    """

    path: str
    task: NoteTask
    subject: str = ""


class FoundTasks(NamedTuple):
    """Tasks, and how many of the open ones have a day on which they are due. `about` is their
    subject without a typo, if it was written with one.
    """

    tasks: tuple[FoundTask, ...]
    dated: int
    about: str = ""

    def due_in(self, period: Period | None) -> "FoundTasks":
        """Those that are due in a period, or at all, the first first."""
        due = [found for found in self.tasks if found.task.due]
        if period is not None:
            first = period.first.isoformat()
            last = period.last.isoformat()
            due = [found for found in due if first <= found.task.due <= last]
        due.sort(key=lambda found: found.task.due)
        return self._replace(tasks=tuple(due))


def lists_lines(show: str) -> bool:
    """Whether lines are wanted instead of notes."""
    is_named = show.startswith((AMOUNTS, HIGHEST, LOWEST, DATES))
    return show in (*TASKS, BROKEN_LINKS, TIMELINE) or is_named


def list_lines(vault: Vault, selection: NoteSelection, wanted: LineRequest) -> ToolOutput:
    """The wanted lines of the selected notes. Raises UsageError for what is no date."""
    show, about, since, until, begin, limit = wanted
    if show == TIMELINE:
        return list_dated_lines(vault, selection, wanted)
    if show.startswith(DATES):
        return list_property_dates(vault, selection, wanted)
    if show.startswith((AMOUNTS, HIGHEST, LOWEST)):
        # A line may have a date of its own
        anytime = vault.catalog.list_notes(selection._replace(since="", until=""))
        of_time = _wanted_time(vault, selection)
        return list_amounts(vault, anytime, show, begin, limit, of_time)
    notes = vault.catalog.list_notes(selection)
    if show == BROKEN_LINKS:
        return list_broken_links(vault, notes, begin, limit)
    tasks = find_listed_tasks(vault, notes, show, about)
    if show == DUE_TASKS:
        tasks = tasks.due_in(vault.catalog.due_period(since, until))
    return list_tasks(vault, tasks, begin, limit)


def locate_link(vault: Vault, written: str) -> str:
    """The path of a note that is named, perhaps with a minus; empty without a name. Raises
    VaultError for a note that does not exist.
    """
    name = written.removeprefix("-")
    return vault.locate(name).path if name else ""


def find_listed_tasks(
    vault: Vault, notes: Iterable[NoteEntry], show: str, about: str
) -> FoundTasks:
    """The tasks of notes, in their order; those about something have its words in their line, above
    it, or in the names and tags of their note. A word that none has is taken for a mistyped one.
    """
    found: list[FoundTask] = []
    for note in notes:
        names = f"{note.title} {note.path} {' '.join(note.tags)}"
        for task in find_tasks(vault.reader.read_if_there(note.path) or ""):
            if task.state in TASKS[show]:
                subject = f"{names} {task.above} {task.text}"
                found.append(FoundTask(note.path, task, subject))
    wanted, corrected = _tasks_about(found, about)
    return FoundTasks(tuple(wanted), sum(bool(each.task.due) for each in wanted), corrected)


def _tasks_about(found: Sequence[FoundTask], about: str) -> tuple[Sequence[FoundTask], str]:
    """The tasks about something, and what that is without a typo if it has one."""
    if not about:
        return found, ""
    wanted = [each for each in found if has_words(each.subject, about)]
    if wanted:
        return wanted, ""
    corrected = correct_words(about, (each.subject for each in found))
    if corrected == about:
        return [], ""
    return [each for each in found if has_words(each.subject, corrected)], corrected


def list_tasks(vault: Vault, found: FoundTasks, begin: int, limit: int) -> ToolOutput:
    """The lines of the tasks as excerpts, and how many there are in how many notes."""
    chunks: list[ContentChunk] = []
    shown = found.tasks[begin : begin + limit]
    for each in shown:
        chunks += vault.reader.chunks(each.path, each.task.line, each.task.line)[:1]
    return ToolOutput(
        chunks=tuple(chunks),
        data={
            "total": len(found.tasks),
            "notes": len({each.path for each in found.tasks}),
            "dated": found.dated,
            "due": [each.task.due for each in shown],
        }
        | ({"about": found.about} if found.about and found.tasks else {}),
        note=describe_rest(begin, len(chunks), len(found.tasks)),
        outcome=f"{len(chunks)} of {plural(len(found.tasks), 'task')}",
    )


def list_broken_links(
    vault: Vault, notes: Iterable[NoteEntry], begin: int, limit: int
) -> ToolOutput:
    """The links of notes that point to nothing, with their lines as excerpts."""
    paths = {note.path for note in notes}
    links = [link for link in vault.graph.broken_links() if link.row.source in paths]
    shown = links[begin : begin + limit]
    return ToolOutput(
        chunks=vault.reader.link_lines(link.row for link in shown),
        data={
            "total": len(links),
            "notes": len({link.row.source for link in links}),
            "links": [{"path": link.row.source, "link": link.text} for link in shown],
        },
        note=describe_rest(begin, len(shown), len(links)),
        outcome=f"{len(shown)} of {plural(len(links), 'broken link')}",
    )


def list_dated_lines(vault: Vault, selection: NoteSelection, wanted: LineRequest) -> ToolOutput:
    """What the notes say about something, in the order of its days, each as an excerpt."""
    anytime = vault.catalog.list_notes(selection._replace(since="", until=""))
    of_time = _wanted_time(vault, selection)
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
    chunks: list[ContentChunk] = []
    for path, each in shown:
        chunks += vault.reader.chunks(path, each.first, each.last)[:1]
    return ToolOutput(
        chunks=tuple(chunks),
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
    chunks: list[ContentChunk] = []
    for path, each in shown:
        chunks += vault.reader.chunks(path, each.line, each.line)[:1]
    return ToolOutput(
        chunks=tuple(chunks),
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


class LinesOfTime(NamedTuple):
    """The time that lines are wanted of, and the notes of that time."""

    period: Period
    notes: Mapping[str, NoteEntry]

    def has(self, days: Period) -> bool:
        """Whether days are of that time."""
        return days.intersect(self.period) == days

    def may_have(self, path: str, text: str) -> bool:
        """Whether a note may have something of that time: it is of it, or names its year."""
        years = range(self.period.first.year, self.period.last.year + 1)
        if path in self.notes or len(years) > MOST_YEARS:
            return True
        return any(str(year) in text for year in years)


def _wanted_time(vault: Vault, selection: NoteSelection) -> LinesOfTime | None:
    """The time of a selection; None for any."""
    period = vault.catalog.read_period(selection.since, selection.until)
    if period is None:
        return None
    return LinesOfTime(period, {note.path: note for note in vault.catalog.list_notes(selection)})


def list_amounts(
    vault: Vault,
    notes: Iterable[NoteEntry],
    written: str,
    begin: int,
    limit: int,
    of_time: LinesOfTime | None = None,
) -> ToolOutput:
    """The sum, the highest and the lowest of the amounts in notes, and the lines that have them as
    excerpts. Of a time are those with a date in it, and those without one in the notes of it.
    """
    which, _, names = written.partition(" of ")
    query = read_query(names)
    found: list[tuple[str, NoteAmount]] = []
    for note in notes:
        text = vault.reader.read_if_there(note.path) or ""
        if of_time is not None and not of_time.may_have(note.path, text):
            continue
        amounts = find_amounts(text, query, note.title)
        if of_time is not None:
            amounts = _amounts_of_time(amounts, note.path, text, of_time)
        found += [(note.path, amount) for amount in amounts]
    values = [amount.value for _, amount in found]
    extremes = {"highest": max(values, default=0.0), "lowest": min(values, default=0.0)}
    wanted = found
    if which in extremes:
        wanted = [each for each in found if each[1].value == extremes[which]]
    chunks: list[ContentChunk] = []
    for path, amount in wanted[begin : begin + limit]:
        chunks += vault.reader.chunks(path, amount.line, amount.line)[:1]
    return ToolOutput(
        chunks=tuple(chunks),
        data={
            "total": len(found),
            "notes": len({path for path, _ in found}),
            "sum": round(sum(values), MOST_DECIMALS),
            "shown": len(wanted),
            **extremes,
        },
        note=describe_rest(begin, len(chunks), len(wanted)),
        outcome=plural(len(found), "amount"),
    )


def _amounts_of_time(
    amounts: Iterable[NoteAmount], path: str, text: str, of_time: LinesOfTime
) -> list[NoteAmount]:
    """The amounts in the text of a note that are of a time: by the date of their line; without one,
    those in its sections of that time, or all if it has no such sections.
    """
    lines = text.split("\n")
    note = of_time.notes.get(path)
    spans: list[range] = []
    if note is not None:
        spans = [_span_of_section(lines, section.line) for section in note.sections]
        spans = spans or [range(len(lines) + 1)]
    within: list[NoteAmount] = []
    for amount in amounts:
        days = period_of_line(lines, amount.line)
        is_within = any(amount.line in span for span in spans)
        if days is not None:
            is_within = of_time.has(days)
        if is_within:
            within.append(amount)
    return within


def _span_of_section(lines: Sequence[str], first: int) -> range:
    """The lines from a heading on, before the next one that is no lower."""
    level = heading_level(lines[first - 1])
    for number, line in enumerate(lines[first:], first + 1):
        if 0 < heading_level(line) <= level:
            return range(first, number)
    return range(first, len(lines) + 1)


def describe_rest(begin: int, shown: int, found: int) -> str:
    """How to get what is not shown; empty if nothing is left."""
    if not shown:
        return "No note matches."
    end = begin + shown
    if end < found:
        return f"{found - end} more: ask again with offset={end}, a folder or a tag."
    return ""
