"""Answers to requests for a list or a count of notes."""

from collections.abc import Mapping
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import NamedTuple

from zkchat_cli.llm.offline.answer import (
    EXCERPTS,
    OfflineAnswer,
    WantedCall,
    format_quotes,
)
from zkchat_cli.llm.offline.asked_turn import SEARCH_TOOL, AskedTurn, FinishedCall
from zkchat_cli.llm.offline.line_lists import TASKS, answer_with_lines, next_line_calls
from zkchat_cli.llm.offline.note_descriptions import (
    count_of_notes,
    describe_notes,
    format_rest,
    list_arguments,
)
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.quotes import QuoteSource, comparable_words
from zkchat_cli.llm.offline.request_handler import (
    LIST_TOOL,
    RequestHandler,
    explain_error,
    plain_name,
)
from zkchat_cli.llm.offline.summary import summarize_excerpts
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.answer_phrases import PHRASES, language_for
from zkchat_cli.text.note_phrases import note_phrases

# Notes in an answer: with their sources they fit a screen of 24 rows
MOST_SHOWN = 6
# Notes of a time, with a sentence of each
MOST_QUOTED = 5
LONGEST_KEY_LINE = 120
# Sentences of the only note of a time
MOST_OF_ONE = 4
# Notes below a count
MOST_COUNTED = 6
# Notes with a name in their titles, tags or folders, so that it is a kind of note
FEWEST_OF_A_KIND = 2
# Properties that say what kind of note one is
KIND_PROPERTIES = frozenset("type kind category class typ art kategorie tipo categoria".split())


class ListedNote(NamedTuple):
    """A note of a list, and its excerpt if it can be cited."""

    title: str
    day: str
    excerpt: QuoteSource | None
    properties: Mapping[str, str] = {}


def listed_notes(call: FinishedCall) -> list[ListedNote]:
    """The notes in the result of the list tool."""
    notes: list[ListedNote] = []
    for document in call.data.get("documents", ()):
        path = str(document["path"])
        title = str(document.get("title") or PurePosixPath(path).stem)
        properties = document.get("properties", {})
        excerpts = [excerpt for excerpt in call.excerpts if excerpt.path == path]
        # A note with a heading for each day is listed once for each of them
        days = document.get("sections") or [document.get("date", "")]
        for day, excerpt in zip_longest(days, excerpts[: len(days)]):
            notes.append(ListedNote(title, str(day), excerpt, properties))
    return notes


def format_note(note: ListedNote) -> str:
    """`Title [3]`, so that the list of sources says where it is."""
    citation = f" [{note.excerpt.source}]" if note.excerpt else ""
    return f"{plain_name(note.title)}{citation}"


def offset_of_turn(request: NoteRequest, page: int) -> int:
    """How many notes the pages before this one have shown."""
    return page * page_size(request)


def page_size(request: NoteRequest) -> int:
    """How many notes an answer lists."""
    if request.kind == "count":
        return MOST_COUNTED
    most = MOST_QUOTED if _is_by_date(request) else MOST_SHOWN
    return min(request.limit or most, 2 * MOST_SHOWN)


def _is_by_date(request: NoteRequest) -> bool:
    """Whether only a time is wanted: "what did I write last week?"."""
    return bool(request.dates) and not (request.about or request.tag or request.property)


def suits_notes(request: NoteRequest, listed: FinishedCall) -> bool:
    """Whether several of the listed notes are what a request names: it is in their titles, tags,
    folders or types. "All recipes" means notes then, and in other notes what they say of recipes.
    """
    languages = words.detect_languages(excerpt.text for excerpt in listed.excerpts)
    wanted = comparable_words(request.about, languages)
    count = 0
    for document in listed.data.get("documents", ()):
        folders, _, name = str(document["path"]).rpartition("/")
        names = [folders, name, str(document.get("title", "")), *document.get("tags", ())]
        properties = document.get("properties", {})
        names += [value for key, value in properties.items() if key in KIND_PROPERTIES]
        count += any(wanted <= comparable_words(each, languages) for each in names)
    return bool(wanted) and count >= FEWEST_OF_A_KIND


def _suits(request: NoteRequest, listed: FinishedCall) -> bool:
    """Whether what was listed is what a request names: for "tasks of the board" there are some."""
    if request.what in TASKS:
        return int(listed.data.get("total", 0)) > 0
    if request.is_guess and request.folder:
        return not listed.error
    return bool(request.what) or suits_notes(request, listed)


def next_list_calls(request: NoteRequest, turn: AskedTurn, page: int = 0) -> list[WantedCall]:
    """The list; for a folder that does not exist the list about its name, and for a subject that no
    note has a search by meaning.
    """
    lists = turn.calls_of(LIST_TOOL)
    arguments = list_arguments(request)
    if request.what:
        return next_line_calls(request, lists, page)
    size = page_size(request)
    arguments |= {"limit": size, "excerpts": size}
    if request.may_be_lookup:
        arguments["show"] = ", ".join(sorted(KIND_PROPERTIES))
    if page:
        arguments["offset"] = offset_of_turn(request, page)
    if not lists:
        return [WantedCall(LIST_TOOL, arguments)]
    last = lists[-1]
    if last.error and request.is_guess and len(lists) == 1 and not request.may_be_lookup:
        guess = request._replace(folder="", about=request.folder)
        return [WantedCall(LIST_TOOL, list_arguments(guess) | {"limit": size, "excerpts": size})]
    if request.may_be_lookup:
        return []
    has_none = not last.error and last.data.get("total") == 0
    if has_none and request.about and not turn.calls_of(SEARCH_TOOL):
        return [WantedCall(SEARCH_TOOL, {"query": request.about, "limit": EXCERPTS})]
    return []


def answer_with_list(
    request: NoteRequest,
    turn: AskedTurn,
    similarities: Similarities | None = None,  # noqa: ARG001
    page: int = 0,
) -> OfflineAnswer | None:
    """The list or the count, with how to see the rest."""
    lists = turn.calls_of(LIST_TOOL)
    if not lists or (request.may_be_lookup and not _suits(request, lists[-1])):
        return None
    last = lists[-1]
    phrases = note_phrases(turn.asked, turn.texts)
    if last.error:
        return explain_error(lists[0], phrases)
    if request.what:
        return answer_with_lines(request, turn, page)
    if request.is_guess and "about" in last.arguments and not request.about:
        request = request._replace(folder="", about=request.folder)
    total = int(last.data.get("total", 0))
    if not total:
        return answer_without_notes(request, turn)
    if request.kind == "count" and not describe_notes(request, phrases):
        notes = count_of_notes(total, request, phrases)
        return OfflineAnswer(f"{phrases.total_of.format(notes=notes)}\n", "answer")
    return _format_list(request, turn, total, offset_of_turn(request, page))


def _format_list(request: NoteRequest, turn: AskedTurn, total: int, before: int) -> OfflineAnswer:
    """The notes of the last list after those that were shown before, with how to see the rest."""
    phrases = note_phrases(turn.asked, turn.texts)
    shown = listed_notes(turn.calls_of(LIST_TOOL)[-1])
    notes = count_of_notes(total, request, phrases)
    head = phrases.list_of.format(notes=notes)
    if request.limit and request.limit < total:
        head = phrases.newest_of if request.newest else phrases.first_of
        head = phrases.oldest_of if request.oldest else head
        head = head.format(count=len(shown), notes=notes)
        total = before + len(shown)
    elif before:
        head = phrases.continued.format(notes=notes, first=before + 1)
    most = MOST_OF_ONE if total == 1 else 1
    lines = [_line(request, note, most) for note in shown]
    rest = format_rest(total - before - len(shown), request, phrases)
    return OfflineAnswer(f"{head}\n\n{''.join(lines)}{rest}", "answer")


def _line(request: NoteRequest, note: ListedNote, most: int) -> str:
    """A note; of a time with as many of its key lines, each as a line of its own."""
    is_in_title = note.day in note.title.replace("_", "-")
    day = "" if is_in_title else f"{note.day} "
    if not _is_by_date(request) or note.excerpt is None:
        return f"- {day}{format_note(note)}\n"
    key_lines = summarize_excerpts([note.excerpt], most)
    short = [line for line in key_lines if len(line.text) <= LONGEST_KEY_LINE]
    if not short or short[0] != key_lines[0]:
        return f"- {day}{format_note(note)}\n"
    name = f"- {day}{plain_name(note.title)}"
    return "".join(f"{name}: {format_quotes([line])}" for line in short)


def answer_without_notes(request: NoteRequest, turn: AskedTurn) -> OfflineAnswer:
    """That there is no such note, with those that are near in meaning."""
    if _is_by_date(request):
        phrases_of_period = PHRASES[language_for(turn.asked, turn.texts)]
        return OfflineAnswer(f"{phrases_of_period.nothing_in_period}\n", "nothing")
    phrases = note_phrases(turn.asked, turn.texts)
    missing = phrases.none_about if request.about else phrases.none_found
    missing = f"{missing.format(wanted=describe_notes(request, phrases))}\n"
    missing = missing.replace(" .", ".").replace(" ,", ",")
    near: dict[str, QuoteSource] = {}
    for call in turn.calls_of(SEARCH_TOOL):
        for excerpt in call.excerpts:
            near.setdefault(excerpt.path, excerpt)
    if not near:
        return OfflineAnswer(missing, "nothing")
    nearest = [ListedNote(each.title, "", each) for each in list(near.values())[:3]]
    lines = "".join(f"- {format_note(note)}\n" for note in nearest)
    return OfflineAnswer(f"{missing}{phrases.nearest}\n\n{lines}", "most_likely")


LIST = RequestHandler(frozenset((LIST_TOOL,)), next_list_calls, answer_with_list)
