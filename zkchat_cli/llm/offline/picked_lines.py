"""Answers to "the second one" and "what did they decide in the last one?" after a list of lines:
about the task, broken link or amount at that place, or the notes with that tag or in that folder.
"""

from collections.abc import Sequence
from typing import Any

from zkchat_cli.llm.offline.amounts import MOST_LINES, answer_with_amount, next_amount_calls
from zkchat_cli.llm.offline.answer import OfflineAnswer, WantedCall, format_quotes
from zkchat_cli.llm.offline.asked_turn import READ_TOOL, AskedTurn, FinishedCall
from zkchat_cli.llm.offline.line_lists import (
    BROKEN_LINKS,
    MOST_NAMES,
    MOST_TASKS,
    TASKS,
    answer_with_lines,
    count_of_tasks,
    next_line_calls,
)
from zkchat_cli.llm.offline.list_positions import LAST, last_page, place_in_list
from zkchat_cli.llm.offline.nested_quotes import with_nested
from zkchat_cli.llm.offline.note_lists import answer_with_list, next_list_calls
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.outlines import answer_with_outline
from zkchat_cli.llm.offline.question import analyze_text
from zkchat_cli.llm.offline.quotes import QuoteSource, RankedQuote, find_quotes
from zkchat_cli.llm.offline.ranking import rank_passages
from zkchat_cli.llm.offline.request_handler import (
    LIST_TOOL,
    RequestHandler,
    explain_error,
    plain_name,
)
from zkchat_cli.llm.offline.selection import select_quotes
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.note_phrases import note_phrases
from zkchat_cli.text.patterns import lazy_pattern

NAMES = ("tags", "folders")
# Further lines of a note on a task
MOST_ON_IT = 3
_TASK = lazy_pattern(r"\[[^\]\n]\] |(?:TODO|DOING|NOW|LATER|WAITING|DONE|CANCELL?ED):? ")


def next_picked_line_calls(request: NoteRequest, turn: AskedTurn) -> Sequence[WantedCall]:
    """The line at the place, then the reading of its note."""
    lists = turn.calls_of(LIST_TOOL)
    if request.what in NAMES:
        named = _notes_with_name(request, turn)
        if named is None:
            return next_line_calls(request, lists, 0)
        return next_list_calls(named, turn.after_calls())
    wanted = next_amount_calls(request, turn) if request.measure else []
    wanted = wanted or next_line_calls(request, lists, 0) or _on_last_page(request, lists)
    if wanted:
        request = _on_shown_page(request, lists)
        return [WantedCall(call.tool, call.arguments | _place(request)) for call in wanted]
    excerpt = _picked_excerpt(request, turn)
    if excerpt is None or turn.calls_of(READ_TOOL):
        return []
    return [WantedCall(READ_TOOL, {"relative_path": excerpt.path})]


def _place(request: NoteRequest) -> dict[str, Any]:
    """Where the wanted line is in the list."""
    size = MOST_LINES if request.measure else MOST_TASKS
    # The broken links of one note are one line
    pick = LAST if request.what == BROKEN_LINKS else request.pick
    return dict(place_in_list(pick, request.page, size))


def _on_shown_page(request: NoteRequest, lists: Sequence[FinishedCall]) -> NoteRequest:
    """The request for the page that was shown last, as soon as the length of the list is known."""
    if not lists or lists[-1].error:
        return request
    size = MOST_LINES if request.measure else MOST_TASKS
    total = int(lists[-1].data.get("shown", lists[-1].data.get("total", 0)))
    return request._replace(page=last_page(request.page, total, size))


def _on_last_page(request: NoteRequest, lists: Sequence[FinishedCall]) -> list[WantedCall]:
    """The list once more, where it had no line at the place because it ends before that page."""
    if not lists or lists[-1].excerpts or not lists[-1].data.get("total"):
        return []
    place = _place(_on_shown_page(request, lists))
    arguments = dict(lists[-1].arguments)
    return [] if arguments["offset"] == place["offset"] else [WantedCall(LIST_TOOL, arguments)]


def _picked_excerpt(request: NoteRequest, turn: AskedTurn) -> QuoteSource | None:
    """The line at the place; None if the list is shorter."""
    lists = turn.calls_of(LIST_TOOL)
    excerpts = lists[-1].excerpts if lists else ()
    if request.what != BROKEN_LINKS:
        return excerpts[-1] if excerpts else None
    first_of_notes = list({each.path: each for each in reversed(excerpts)}.values())[::-1]
    index = _index(request.pick, len(first_of_notes))
    return None if index is None else first_of_notes[index]


def _notes_with_name(request: NoteRequest, turn: AskedTurn) -> NoteRequest | None:
    """The request for the notes with the tag, or in the folder, at the place; None without one."""
    lists = turn.calls_of(LIST_TOOL)
    names = list(lists[0].data.get("notes", {})) if lists and request.what in NAMES else []
    index = _index(request.pick, len(names[:MOST_NAMES]))
    # The top folder has no name
    if index is None or not names[index]:
        return None
    if request.what == "tags":
        return NoteRequest("list", tag=names[index])
    return NoteRequest("list", folder=names[index])


def _index(pick: int, count: int) -> int | None:
    """The index of a place among so many; None if there are fewer."""
    index = count - 1 if pick == LAST else pick - 1
    return index if 0 <= index < count else None


def answer_with_picked_line(
    request: NoteRequest, turn: AskedTurn, similarities: Similarities | None
) -> OfflineAnswer | None:
    """The line with its section and what its note says on it; how many lines there are if there is
    none at the place.
    """
    lists = turn.calls_of(LIST_TOOL)
    if not lists:
        return None
    if lists[-1].error:
        return explain_error(lists[-1], note_phrases(turn.asked, turn.texts))
    named = _notes_with_name(request, turn)
    if named is not None:
        return answer_with_list(named, turn.after_calls())
    excerpt = _picked_excerpt(request, turn)
    if excerpt is not None:
        return _answer_about(excerpt, request, turn, similarities)
    return _tell_how_many(request, turn)


def _tell_how_many(request: NoteRequest, turn: AskedTurn) -> OfflineAnswer | None:
    if request.what in TASKS:
        return OfflineAnswer(f"{count_of_tasks(request, turn)}\n", "nothing")
    if request.measure:
        return answer_with_amount(request, turn)
    return answer_with_lines(request, turn, 0)


def _answer_about(
    excerpt: QuoteSource,
    request: NoteRequest,
    turn: AskedTurn,
    similarities: Similarities | None,
) -> OfflineAnswer:
    """A line, what is nested in it, and the lines of its note on it. Of a property the note is
    told, because the property says nothing about itself.
    """
    languages = words.detect_languages([excerpt.text])
    quotes = find_quotes([excerpt], languages)[:1]
    title = plain_name(excerpt.title)
    if not quotes:
        return OfflineAnswer(f"- {title} [{excerpt.source}]\n", "answer")
    if request.measure and quotes[0].passage.kind == "row":
        note = NoteRequest("outline", note=excerpt.path)
        outline = answer_with_outline(note, turn, similarities)
        if outline is not None:
            return outline
    read = [each for call in turn.calls_of(READ_TOOL) for each in call.excerpts]
    lines = _with_lines_on_it(quotes[0], read, request.question, similarities)
    heading = plain_name(excerpt.heading or "")
    place = f"{title} › {heading}" if heading not in ("", title) else title
    return OfflineAnswer(f"{place}:\n\n{format_quotes(lines)}", "answer")


def _with_lines_on_it(
    line: RankedQuote,
    note: Sequence[QuoteSource],
    question: str,
    similarities: Similarities | None,
) -> list[RankedQuote]:
    """The line with what is nested in it, then the best other lines of its note, which are no tasks
    themselves.
    """
    subject = _TASK.sub("", line.text)
    ranked = rank_passages(analyze_text(f"{question} {subject}".strip()), note, similarities)
    on_topic = list(ranked.on_topic)
    if question:
        # Beside the rare words of a question, those of the task are common
        said = {quote.text for quote in on_topic}
        of_task = rank_passages(analyze_text(subject), note, similarities).on_topic
        on_topic += [quote for quote in of_task if quote.text not in said]
    same = [
        quote
        for quote in ranked.all
        if quote.text == line.text and quote.section[-1:] == line.section[-1:]
    ]
    wanted = same[0] if same else line
    others = [
        quote
        for quote in on_topic
        if quote.is_complete and wanted.text not in quote.text and not _TASK.match(quote.text)
    ]
    on_it = select_quotes(others, MOST_ON_IT) if others else []
    return with_nested([wanted, *on_it], ranked.all)


PICKED_LINE = RequestHandler(
    frozenset((LIST_TOOL, READ_TOOL)), next_picked_line_calls, answer_with_picked_line
)
