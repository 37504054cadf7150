"""Answers to requests for a list or a count of notes."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from zkchat_cli.llm.offline.answer import (
    EXCERPTS,
    OfflineAnswer,
    WantedCall,
    format_quotes,
)
from zkchat_cli.llm.offline.asked_turn import SEARCH_TOOL, AskedTurn, FinishedCall
from zkchat_cli.llm.offline.quotes import QuoteSource
from zkchat_cli.llm.offline.request_handler import (
    LIST_TOOL,
    RequestHandler,
    first_upper,
    plain_name,
)
from zkchat_cli.llm.offline.requests import NoteRequest
from zkchat_cli.llm.offline.summary import summarize_excerpts
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text.answer_phrases import PHRASES
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.word_lists import ENGLISH

# Notes in an answer: with their sources they fit a screen of 24 rows
MOST_SHOWN = 6
# Notes of a time, with a sentence of each
MOST_QUOTED = 5
LONGEST_KEY_LINE = 120
MOST_NAMES = 20
# Notes below a count
MOST_COUNTED = 5
NO_NOTE = "No note {}.\n"


class ListedNote(NamedTuple):
    """A note of a list, and its excerpt if it can be cited."""

    title: str
    day: str
    excerpt: QuoteSource | None
    properties: Mapping[str, str] = {}


def list_arguments(request: NoteRequest) -> dict[str, Any]:
    """The arguments of the list tool for a request, without those that are empty."""
    arguments: dict[str, Any] = {
        "folder": request.folder,
        "tag": request.tag,
        "since": request.dates,
        "until": request.dates,
        "about": request.about,
        "property": request.property,
        "links_to": request.note,
    }
    if request.newest or request.dates:
        arguments["order"] = "newest"
    return {name: value for name, value in arguments.items() if value}


def list_command(request: NoteRequest) -> str:
    """The command that lists all notes of a request."""
    arguments = list_arguments(request)
    newest = arguments.pop("order", "") == "newest"
    words = ["zkchat", "vault", "list"]
    for name, value in arguments.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    if newest:
        words.append("--newest")
    return shlex.join(words)


def describe_notes(request: NoteRequest) -> str:
    """What notes are wanted, as the rest of "12 notes": "about bees with #garden"."""
    parts: list[str] = []
    if request.about:
        parts.append(f"about {plain_name(request.about)}")
    if request.tag:
        parts.append(f"with #{plain_name(request.tag)}")
    if request.property:
        parts.append(f"with {plain_name(request.property)}")
    if request.folder:
        parts.append(f"in {plain_name(request.folder.rstrip('/'))}/")
    if request.note:
        parts.append(f"that link to {plain_name(request.note)}")
    if request.dates:
        parts.append(f", {plain_name(request.dates)}")
    return " ".join(parts).replace(" ,", ",")


def listed_notes(call: FinishedCall) -> list[ListedNote]:
    """The notes in the result of the list tool."""
    excerpts = {excerpt.path: excerpt for excerpt in call.excerpts}
    notes: list[ListedNote] = []
    for document in call.data.get("documents", ()):
        path = str(document["path"])
        excerpt = excerpts.get(path)
        title = str(document.get("title") or PurePosixPath(path).stem)
        properties = document.get("properties", {})
        notes.append(ListedNote(title, str(document.get("date", "")), excerpt, properties))
    return notes


def format_note(note: ListedNote) -> str:
    """`Title [3]`, so that the list of sources says where it is."""
    citation = f" [{note.excerpt.source}]" if note.excerpt else ""
    return f"{plain_name(note.title)}{citation}"


def offset_of_turn(request: NoteRequest, page: int) -> int:
    """How many notes the pages before this one have shown."""
    return page * _page_size(request)


def _page_size(request: NoteRequest) -> int:
    if request.kind == "count":
        return MOST_COUNTED
    most = MOST_QUOTED if _is_by_date(request) else MOST_SHOWN
    return min(request.limit or most, 2 * MOST_SHOWN)


def _is_by_date(request: NoteRequest) -> bool:
    """Whether only a time is wanted: "what did I write last week?"."""
    return bool(request.dates) and not (request.about or request.tag or request.property)


def next_list_calls(request: NoteRequest, turn: AskedTurn, page: int = 0) -> list[WantedCall]:
    """The list; for a folder that does not exist the list about its name, and for a subject that no
    note has a search by meaning.
    """
    lists = turn.calls_of(LIST_TOOL)
    arguments = list_arguments(request)
    if request.what:
        return [] if lists else [WantedCall(LIST_TOOL, {"show": request.what})]
    size = _page_size(request)
    arguments |= {"limit": size, "excerpts": size}
    if page:
        arguments["offset"] = offset_of_turn(request, page)
    if not lists:
        return [WantedCall(LIST_TOOL, arguments)]
    last = lists[-1]
    if last.error and request.is_guess and len(lists) == 1:
        guess = request._replace(folder="", about=request.folder)
        return [WantedCall(LIST_TOOL, list_arguments(guess) | {"limit": size, "excerpts": size})]
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
    if not lists:
        return None
    last = lists[-1]
    if last.error:
        return OfflineAnswer(f"{first_upper(plain_name(lists[0].error))}\n", "nothing")
    if request.what:
        return _answer_with_names(request.what, last)
    if "about" in last.arguments and not request.about:
        request = request._replace(folder="", about=request.folder)
    total = int(last.data.get("total", 0))
    if not total:
        return _answer_without_notes(request, turn)
    shown = listed_notes(last)
    wanted = describe_notes(request)
    head = f"{plural(total, 'note')} {wanted}".strip().replace(" ,", ",")
    if request.kind == "count" and not wanted:
        return OfflineAnswer(f"You have {plural(total, 'note')}.\n", "answer")
    if request.limit and request.limit < total:
        head = f"The {'newest ' if request.newest else ''}{len(shown)} of {head}"
        total = offset_of_turn(request, page) + len(shown)
    elif page:
        head = f"{head}, from {offset_of_turn(request, page) + 1}"
    lines = [_line(request, note) for note in shown]
    left = total - offset_of_turn(request, page) - len(shown)
    rest = f"\nand {left:,} more: `{list_command(request)}`\n" if left > 0 else ""
    return OfflineAnswer(f"{head}:\n\n{''.join(lines)}{rest}", "answer")


def _line(request: NoteRequest, note: ListedNote) -> str:
    day = f"{note.day} " if note.day and not note.title.startswith(note.day) else ""
    if not _is_by_date(request) or note.excerpt is None:
        return f"- {day}{format_note(note)}\n"
    key_lines = summarize_excerpts([note.excerpt], 1)
    if not key_lines or len(key_lines[0].text) > LONGEST_KEY_LINE:
        return f"- {day}{format_note(note)}\n"
    return f"- {day}{plain_name(note.title)}: {format_quotes(key_lines)}"


def _answer_without_notes(request: NoteRequest, turn: AskedTurn) -> OfflineAnswer:
    """That there is no such note, with those that are near in meaning."""
    if _is_by_date(request):
        return OfflineAnswer(f"{PHRASES[ENGLISH].nothing_in_period}\n", "nothing")
    wanted = describe_notes(request)
    missing = NO_NOTE.format(f"is {wanted}" if request.about else f"was found {wanted}".strip())
    near: dict[str, QuoteSource] = {}
    for call in turn.calls_of(SEARCH_TOOL):
        for excerpt in call.excerpts:
            near.setdefault(excerpt.path, excerpt)
    if not near:
        return OfflineAnswer(missing, "nothing")
    nearest = [ListedNote(each.title, "", each) for each in list(near.values())[:3]]
    lines = "".join(f"- {format_note(note)}\n" for note in nearest)
    return OfflineAnswer(f"{missing}Nearest in meaning:\n\n{lines}", "most_likely")


def _answer_with_names(what: str, call: FinishedCall) -> OfflineAnswer:
    """The tags or folders, with how many notes have each."""
    counts: Mapping[str, int] = call.data.get("notes", {})
    total = int(call.data.get("total", 0))
    if not total:
        return OfflineAnswer(f"Your notes have no {what}.\n", "nothing")
    mark = "#" if what == "tags" else ""
    names = [
        f"{mark}{plain_name(name) or 'the top folder'} ({count:,})"
        for name, count in _first(counts, MOST_NAMES)
    ]
    rest = f", and {total - len(names):,} more" if total > len(names) else ""
    return OfflineAnswer(
        f"{plural(total, what.removesuffix('s'))}, with their notes: {', '.join(names)}{rest}\n",
        "answer",
    )


def _first(counts: Mapping[str, int], most: int) -> Sequence[tuple[str, int]]:
    return list(counts.items())[:most]


LIST = RequestHandler(frozenset((LIST_TOOL,)), next_list_calls, answer_with_list)
