"""The lines of notes that are listed instead of notes: tasks, broken links, dates and amounts."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zkchat_cli.text.dates import Period
from zkchat_cli.text.numbers import plural
from zkchat_cli.tools.base import ToolOutput
from zkchat_cli.tools.line_requests import (
    LinePlace,
    LineRequest,
    describe_rest,
    read_places,
    wanted_time,
)
from zkchat_cli.tools.listed_amounts import list_amounts
from zkchat_cli.tools.listed_dates import DATES, list_dated_lines, list_property_dates
from zkchat_cli.vault.catalog import NoteSelection
from zkchat_cli.vault.index.values import NoteEntry
from zkchat_cli.vault.note_tasks import NoteTask, correct_words, find_tasks, has_words
from zkchat_cli.vault.vault import Vault

DUE_TASKS = "due tasks"
BROKEN_LINKS = "broken links"
TIMELINE = "timeline"
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
        of_time = wanted_time(vault, selection)
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
    shown = found.tasks[begin : begin + limit]
    places = [LinePlace(each.path, each.task.line, each.task.line) for each in shown]
    chunks = read_places(vault, places)
    return ToolOutput(
        chunks=chunks,
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
