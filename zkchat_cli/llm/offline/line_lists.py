"""Answers to requests for what is listed instead of notes: tasks, broken links, tags, folders."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from zkchat_cli.llm.offline.answer import OfflineAnswer, WantedCall, format_quotes
from zkchat_cli.llm.offline.asked_turn import AskedTurn, FinishedCall
from zkchat_cli.llm.offline.note_descriptions import DUE_TASKS, describe_notes, list_arguments
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.property_names import same_names
from zkchat_cli.llm.offline.quotes import QuoteSource, find_quotes
from zkchat_cli.llm.offline.request_handler import LIST_TOOL, plain_name
from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.text import words
from zkchat_cli.text.line_phrases import line_phrases
from zkchat_cli.text.note_phrases import NotePhrases, note_phrases

BROKEN_LINKS = "broken links"
TIMELINE = "timeline"
DATES = "dates"
TASKS = ("open tasks", "done tasks", DUE_TASKS)
# Tasks and links in an answer, and tags or folders
MOST_TASKS = 8
MOST_NAMES = 20
MOST_ENTRIES = 10
BIRTHDAY = "birthday"
# Fewer are no timeline
FEWEST_ENTRIES = 2


def next_line_calls(
    request: NoteRequest, lists: Sequence[FinishedCall], page: int
) -> list[WantedCall]:
    """The list of the lines or names; tasks of what is no folder are those about it."""
    if request.what not in TASKS:
        return [] if lists else [WantedCall(LIST_TOOL, _line_arguments(request, page))]
    if not lists:
        return [WantedCall(LIST_TOOL, _task_arguments(request, page))]
    if lists[-1].error and request.is_guess and len(lists) == 1:
        return [WantedCall(LIST_TOOL, _task_arguments(_folder_as_name(request), page))]
    return []


def _line_arguments(request: NoteRequest, page: int) -> dict[str, Any]:
    """The arguments of the list tool for what is no task."""
    match request.what:
        case "broken links":
            show, most = BROKEN_LINKS, MOST_TASKS
        case "timeline":
            show, most = TIMELINE, MOST_ENTRIES
        case "dates":
            names = " | ".join(_names_of_dates(request.dated))
            show, most = f"dates of {names}", MOST_ENTRIES
        case _:
            return {"show": request.what}
    return list_arguments(request) | {"show": show, "limit": most, "offset": page * most}


def answer_with_lines(request: NoteRequest, turn: AskedTurn, page: int) -> OfflineAnswer | None:
    """The tags, folders, tasks, broken links or dated lines; None without several of the last."""
    if request.what in TASKS:
        return _answer_with_tasks(request, turn, page)
    phrases = note_phrases(turn.asked, turn.texts)
    if request.what == BROKEN_LINKS:
        return _answer_with_broken_links(turn, page)
    if request.what == TIMELINE:
        return _answer_with_timeline(request, turn, page)
    if request.what == DATES:
        return _answer_with_dates(request, turn, page)
    return _answer_with_names(request.what, turn.calls_of(LIST_TOOL)[-1], phrases)


def _folder_as_name(request: NoteRequest) -> NoteRequest:
    """The request if "in the inbox" names a note, because there is no such folder."""
    return request._replace(folder="", about=f"{request.about} {request.folder}".strip())


def _task_arguments(request: NoteRequest, page: int) -> dict[str, Any]:
    """The arguments of the list tool for tasks, those of the newest notes first."""
    arguments = list_arguments(request) | {"show": request.what, "limit": MOST_TASKS}
    arguments.setdefault("order", "newest")
    return arguments | ({"offset": page * MOST_TASKS} if page else {})


def count_of_tasks(request: NoteRequest, turn: AskedTurn) -> str:
    """How many tasks of what kind there are, in how many notes."""
    lists = turn.calls_of(LIST_TOOL)
    listed = lists[-1]
    if len(lists) > 1:
        request = _folder_as_name(request)
    # Without a typo in it
    request = request._replace(about=str(listed.data.get("about", request.about)))
    phrases = note_phrases(turn.asked, turn.texts)
    is_open = request.what != "done tasks"
    wanted = describe_notes(request, phrases)
    total = int(listed.data.get("total", 0))
    if not total:
        said = phrases.no_open_tasks if is_open else phrases.no_done_tasks
        if request.what == DUE_TASKS and not listed.data.get("dated"):
            said = line_phrases(turn.asked, turn.texts).no_due_dates
        return _with_wanted(said, wanted)
    said = phrases.open_tasks if is_open else phrases.done_tasks
    notes = phrases.notes(int(listed.data.get("notes", 0)))
    return _with_wanted(said, wanted).format(count=phrases.number(total), notes=notes)


def _answer_with_tasks(request: NoteRequest, turn: AskedTurn, page: int) -> OfflineAnswer:
    """The tasks as the notes have them, with how many there are."""
    listed = turn.calls_of(LIST_TOOL)[-1]
    head = count_of_tasks(request, turn)
    total = int(listed.data.get("total", 0))
    if not total:
        return OfflineAnswer(f"{head}\n", "nothing")
    days = listed.data.get("due", ()) if request.what == DUE_TASKS else ()
    days = [*days, *[""] * len(listed.excerpts)]
    lines = [_dated_line(each, day) for each, day in zip(listed.excerpts, days, strict=False)]
    left = total - page * MOST_TASKS - len(lines)
    phrases = note_phrases(turn.asked, turn.texts)
    rest = phrases.and_more_asked.format(count=phrases.number(left)) if left > 0 else ""
    rest = f"\n{rest}\n" if rest else ""
    return OfflineAnswer(f"{head}\n\n{''.join(lines)}{rest}", "answer")


def _dated_line(excerpt: QuoteSource, day: str) -> str:
    """A line, with the name of its note and, unless they say it, its day: as a sentence of its own,
    because nothing in the line says it.
    """
    languages = words.detect_languages([excerpt.text])
    quotes = find_quotes([excerpt], languages, max_group=0)[:1]
    title = plain_name(excerpt.title)
    if day and day not in excerpt.text and day not in title:
        title = f"{day}. {title}"
    return f"- {title}: {format_quotes(quotes)}" if quotes else f"- {title} [{excerpt.source}]\n"


def _with_wanted(said: str, wanted: str) -> str:
    """A sentence with what the tasks are, and without its place if they are just tasks."""
    described = f" {wanted}" if wanted else ""
    # Names of notes may have braces
    described = described.replace(" ,", ",").replace("{", "").replace("}", "")
    return said.replace(" {wanted}", described)


def _answer_with_broken_links(turn: AskedTurn, page: int) -> OfflineAnswer:
    """The links that point to nothing, each with its line and how many there are."""
    listed = turn.calls_of(LIST_TOOL)[-1]
    phrases = note_phrases(turn.asked, turn.texts)
    of_lines = line_phrases(turn.asked, turn.texts)
    total = int(listed.data.get("total", 0))
    if not total:
        return OfflineAnswer(f"{of_lines.no_broken_links}\n", "nothing")
    notes = phrases.notes(int(listed.data.get("notes", 0)))
    head = of_lines.broken_links.format(count=phrases.number(total), notes=notes)
    links = listed.data.get("links", ())
    by_note: dict[str, list[str]] = {}
    for link in links:
        by_note.setdefault(link["path"], []).append(f"[[{plain_name(link['link'])}]]")
    lines: list[str] = []
    for path, targets in by_note.items():
        cited = "".join(f"[{each.source}]" for each in listed.excerpts if each.path == path)
        title = plain_name(PurePosixPath(path).name.removesuffix(".md"))
        lines.append(f"- {title}: {', '.join(dict.fromkeys(targets))} {cited}\n")
    left = total - page * MOST_TASKS - len(links)
    more = phrases.and_more_by.format(count=phrases.number(left), command="`zkchat vault broken`")
    rest = f"\n{more}\n" if left > 0 else ""
    return OfflineAnswer(f"{head}\n\n{''.join(lines)}{rest}", "answer")


def _answer_with_timeline(request: NoteRequest, turn: AskedTurn, page: int) -> OfflineAnswer | None:
    """The dated lines in the order of their days."""
    listed = turn.calls_of(LIST_TOOL)[-1]
    total = int(listed.data.get("total", 0))
    fewest = 1 if request.dates else FEWEST_ENTRIES
    if listed.error or total < fewest:
        return None
    phrases = note_phrases(turn.asked, turn.texts)
    notes = phrases.notes(int(listed.data.get("notes", 0)))
    head = line_phrases(turn.asked, turn.texts).timeline.format(
        count=phrases.number(total), name=plain_name(request.about), notes=notes
    )
    days = listed.data.get("days", ())
    lines = [_dated_line(each, day) for each, day in zip(listed.excerpts, days, strict=False)]
    rest = _rest_of_entries(total - page * MOST_ENTRIES - len(lines), phrases)
    return OfflineAnswer(f"{head}\n\n{''.join(lines)}{rest}", "answer")


def _rest_of_entries(left: int, phrases: NotePhrases) -> str:
    """That there are more entries; empty if there are none."""
    more = phrases.and_more_asked.format(count=phrases.number(left))
    return f"\n{more}\n" if left > 0 else ""


def _answer_with_dates(request: NoteRequest, turn: AskedTurn, page: int) -> OfflineAnswer | None:
    """The lines with the dates of a property, in the order of the year; None without any."""
    listed = turn.calls_of(LIST_TOOL)[-1]
    dated = int(listed.data.get("dated", 0))
    total = int(listed.data.get("total", 0))
    # "Cakes in May" may ask for something else
    is_certain = bool(dated) and request.dated == BIRTHDAY
    if listed.error or not (total or is_certain):
        return None
    phrases = note_phrases(turn.asked, turn.texts)
    of_lines = line_phrases(turn.asked, turn.texts)
    name = of_lines.birthdays if request.dated == BIRTHDAY else plain_name(request.dated)
    if request.dates:
        name = f"{name}, {plain_name(request.dates)}"
    if not total:
        said = of_lines.no_dates.format(name=name, count=phrases.number(dated))
        return OfflineAnswer(f"{said}\n", "nothing")
    notes = phrases.notes(int(listed.data.get("notes", 0)))
    head = of_lines.dates.format(name=name, count=phrases.number(total), notes=notes)
    lines = "".join(_dated_line(each, "") for each in listed.excerpts)
    rest = _rest_of_entries(total - page * MOST_ENTRIES - len(listed.excerpts), phrases)
    return OfflineAnswer(f"{head}\n\n{lines}{rest}", "answer")


def _names_of_dates(written: str) -> Iterable[str]:
    """The names of a property with dates, and those of lists of them."""
    singular = bare_text(written).removesuffix("s")
    names = dict.fromkeys((bare_text(written), singular, *same_names(singular)))
    return (f"{name}{end}" for name in names for end in ("", "s", "e"))


def _answer_with_names(what: str, call: FinishedCall, phrases: NotePhrases) -> OfflineAnswer:
    """The tags or folders, with how many notes have each."""
    counts: Mapping[str, int] = call.data.get("notes", {})
    total = int(call.data.get("total", 0))
    is_tags = what == "tags"
    if not total:
        return OfflineAnswer(f"{phrases.no_tags if is_tags else phrases.no_folders}\n", "nothing")
    mark = "#" if is_tags else ""
    names = [
        f"{mark}{plain_name(name) or phrases.top_folder} ({phrases.number(count)})"
        for name, count in list(counts.items())[:MOST_NAMES]
    ]
    if total > len(names):
        names.append(phrases.and_more.format(count=phrases.number(total - len(names))))
    head = phrases.tags if is_tags else phrases.folders
    said = head.format(count=phrases.number(total), names=", ".join(names))
    return OfflineAnswer(f"{said}\n", "answer")
