"""Answers to requests for a table: of the properties of notes, or of the list of one note."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from zkchat_cli.llm.offline.answer import EXCERPTS, OfflineAnswer, WantedCall
from zkchat_cli.llm.offline.asked_turn import (
    READ_TOOL,
    SEARCH_TOOL,
    AskedTurn,
    FinishedCall,
)
from zkchat_cli.llm.offline.note_descriptions import (
    count_of_notes,
    format_rest,
    list_arguments,
)
from zkchat_cli.llm.offline.note_lists import (
    ListedNote,
    answer_without_notes,
    format_note,
    listed_notes,
    suits_notes,
)
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.outlines import answer_with_outline
from zkchat_cli.llm.offline.passage_languages import is_foreign
from zkchat_cli.llm.offline.property_survey import names_call
from zkchat_cli.llm.offline.quotes import QuoteSource, comparable_words
from zkchat_cli.llm.offline.request_handler import (
    LIST_TOOL,
    RequestHandler,
    explain_error,
    plain_name,
)
from zkchat_cli.llm.offline.row_orders import sort_rows
from zkchat_cli.llm.offline.summary import summarize_excerpts
from zkchat_cli.llm.offline.table_columns import (
    ChosenColumns,
    choose_columns,
    find_column,
)
from zkchat_cli.llm.offline.typos import is_typo
from zkchat_cli.llm.offline.written_tables import (
    LONGEST_ITEM,
    MOST_COLUMNS,
    MOST_ROWS,
    render_table,
    table_cell,
    table_of_note,
)
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text.answer_phrases import PHRASES, language_for
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.line_phrases import line_phrases
from zkchat_cli.text.note_phrases import note_phrases
from zkchat_cli.text.request_phrases import request_phrases
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.word_lists import REQUEST_LANGUAGES

# Notes that are put in order
MOST_SORTED = 100
# A property that fewer notes have is no column, unless the user names it
FEWEST_NOTES = 2
# Properties that say nothing about the subject of a note
NO_COLUMNS = frozenset(
    "title aliases alias tags tag cssclass cssclasses id uid uuid publish draft".split()
)


def next_table_calls(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """The notes with their properties; if they have none, the note that a search finds first."""
    is_of_note = bool(request.note) and request.direction != "to"
    if is_of_note or turn.documents:
        if turn.calls_of(READ_TOOL) or turn.named_excerpts:
            return []
        return [WantedCall(READ_TOOL, {"relative_path": request.note})]
    lists = turn.calls_of(LIST_TOOL)
    if not lists:
        return [WantedCall(LIST_TOOL, _arguments(request))]
    if lists[-1].error and request.is_guess and len(lists) == 1:
        guess = request._replace(folder="", about=request.folder)
        return [WantedCall(LIST_TOOL, _arguments(guess))]
    if turn.calls_of(READ_TOOL, SEARCH_TOOL):
        return _find_note(request, turn)
    return _calls_for_property(request, lists) or _calls_for_items(request, turn)


def _calls_for_property(request: NoteRequest, lists: Sequence[FinishedCall]) -> list[WantedCall]:
    """The notes with the property that the subject names in another language, where no note is
    about it: "Prioritäten als Tabelle".
    """
    if not request.about or lists[0].data.get("total") != 0:
        return []
    if len(lists) == 1:
        return [names_call({})]
    name = _property_of_subject(request, lists)
    if not name or len(lists) > 2:
        return []
    return [WantedCall(LIST_TOOL, _arguments(NoteRequest("table", property=name)))]


def _property_of_subject(request: NoteRequest, lists: Sequence[FinishedCall]) -> str:
    """The property that is called like the subject; empty if the vault has none."""
    if len(lists) < 2 or lists[0].data.get("total") != 0:
        return ""
    return find_column(request.about, list(lists[1].data.get("notes", {})))


def _calls_for_items(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """The reading of the best note, for its table or list; a search if there is no note.

    The notes of a folder or with a tag are rows themselves: no one of them is the best.
    """
    listed = turn.calls_of(LIST_TOOL)[-1]
    if request.may_be_lookup:
        return [] if suits_notes(request, listed) else _read_named(request, listed)
    if named := _read_named(request, listed):
        return named
    if _columns(request, listed_notes(listed)).found:
        return []
    documents = listed.data.get("documents", ())
    if documents and (request.about or len(documents) == 1):
        return [WantedCall(READ_TOOL, {"relative_path": documents[0]["path"]})]
    return _find_note(request, turn) if request.about else []


def _find_note(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """A search for the subject; then the reading of the nearest note in another language, which has
    other words for it.
    """
    searches = turn.calls_of(SEARCH_TOOL)
    if turn.calls_of(READ_TOOL):
        return []
    if not searches:
        return [WantedCall(SEARCH_TOOL, {"query": request.about, "limit": EXCERPTS})]
    found = searches[-1].excerpts
    is_across = is_foreign(turn.question, found) or is_foreign(request.about, found)
    paths = [excerpt.path for excerpt in found[:1]] if is_across else []
    return [WantedCall(READ_TOOL, {"relative_path": path}) for path in paths]


def _has_property(request: NoteRequest, listed: FinishedCall) -> bool:
    """Whether several of the listed notes have a property that is called like the subject."""
    return bool(find_column(request.about, _columns(request, listed_notes(listed)).found))


def _read_named(request: NoteRequest, listed: FinishedCall) -> list[WantedCall]:
    """The reading of the note that is named after what the table is of: the note Insurances may
    have a table of them.
    """
    named = [note for note in listed_notes(listed) if _is_named(request, note.title)]
    paths = [note.excerpt.path for note in named if note.excerpt]
    return [WantedCall(READ_TOOL, {"relative_path": path}) for path in paths[:1]]


def _is_named(request: NoteRequest, title: str) -> bool:
    """Whether a note is named after the subject, in any form."""
    if not request.about:
        return False
    if fold(title) == fold(request.about) or is_typo(fold(request.about), fold(title)):
        return True
    return comparable_words(title, REQUEST_LANGUAGES) == comparable_words(
        request.about, REQUEST_LANGUAGES
    )


def _arguments(request: NoteRequest) -> dict[str, Any]:
    arguments = list_arguments(request)
    # A named column may be called otherwise in the notes
    show = ", ".join(filter(None, ("*", arguments.get("show"))))
    # The first rows of an order may be any of the notes
    most = MOST_SORTED if request.order else MOST_ROWS
    return arguments | {"show": show, "limit": most, "excerpts": most}


def answer_with_table(
    request: NoteRequest,
    turn: AskedTurn,
    similarities: Similarities | None = None,  # noqa: ARG001
) -> OfflineAnswer | None:
    """A table of properties, or else of the items of a note's list."""
    lists = turn.calls_of(LIST_TOOL)
    if name := _property_of_subject(request, lists):
        columns = f"{name}, {request.columns}"
        request = request._replace(about="", property=name, columns=columns, may_be_lookup=False)
    if not request.may_be_lookup or (lists and suits_notes(request, lists[-1])):
        return _answer_with_best_table(request, turn)
    answer = _answer_with_table_in_note(request, turn)
    if answer is None and lists and _has_property(request, lists[-1]):
        answer = _answer_with_best_table(request, turn)
    return answer


def _answer_with_best_table(request: NoteRequest, turn: AskedTurn) -> OfflineAnswer | None:
    """The first that there is: the table or list of the note with that name, properties of the
    notes, the table or list of another note, key lines.
    """
    lists = turn.calls_of(LIST_TOOL)
    of_note = _note_that_was_read(turn)
    table = table_of_note(of_note, request.columns, turn, request.order)
    if table and turn.calls_of(SEARCH_TOOL):
        not_sure = PHRASES[language_for(turn.asked, turn.texts)].not_sure
        return OfflineAnswer(f"{not_sure}\n\n{table}", "most_likely")
    if lists and not (table and _is_named(request, of_note[0].title)):
        table = _table_of_properties(request, lists[-1], turn) or table
        table = table or _table_of_key_lines(request, lists[-1], turn)
    return OfflineAnswer(table, "answer") if table else _explain_missing(request, turn)


def _note_that_was_read(turn: AskedTurn) -> list[QuoteSource]:
    """The excerpts of the note that was read, or of the named documents."""
    reads = [call for call in turn.calls_of(READ_TOOL) if not call.error]
    excerpts = [excerpt for call in reads for excerpt in call.excerpts]
    return excerpts or turn.named_excerpts


def _explain_missing(request: NoteRequest, turn: AskedTurn) -> OfflineAnswer | None:
    """That there is no such note, or none about the subject; the outline of a note that has neither
    a table nor a list. None where there is no subject.
    """
    reads = turn.calls_of(READ_TOOL)
    if reads and reads[-1].error:
        return explain_error(reads[-1], note_phrases(turn.asked, turn.texts))
    if request.note and _note_that_was_read(turn):
        return answer_with_outline(request, turn)
    return answer_without_notes(request, turn) if request.about else None


def _answer_with_table_in_note(request: NoteRequest, turn: AskedTurn) -> OfflineAnswer | None:
    """The table or the list in the note that was read, if it has one."""
    read = [excerpt for call in turn.calls_of(READ_TOOL) for excerpt in call.excerpts]
    table = table_of_note(read, request.columns, turn, request.order)
    return OfflineAnswer(table, "answer") if table else None


def _columns(request: NoteRequest, notes: Iterable[ListedNote]) -> ChosenColumns:
    """The properties that the user names, or those that several notes have; none if no note has
    any. A property that is called like the subject comes first: "table of priorities".
    """
    notes = list(notes)
    counts = Counter(name for note in notes for name in note.properties if name not in NO_COLUMNS)
    known = [name for name, _ in counts.most_common()]
    # Named properties may be any
    every = [*known, *NO_COLUMNS.intersection(name for note in notes for name in note.properties)]
    named = choose_columns(request.columns, every)
    if named.found:
        return named._replace(found=named.found[:MOST_COLUMNS])
    # "type: book" is in each row of a table of books
    for each in request.property.split("; "):
        counts.pop(each.partition(":")[0], None)
    common = [name for name, count in counts.most_common() if count >= FEWEST_NOTES]
    subject = find_column(request.about, common) if request.about else ""
    common.sort(key=lambda name: name != subject)
    return named._replace(found=tuple(common[:MOST_COLUMNS]))


def _with_order(
    request: NoteRequest, columns: ChosenColumns, notes: Sequence[ListedNote]
) -> ChosenColumns:
    """The columns with the one that the rows are sorted by; it is missing if no note has it."""
    if not request.order:
        return columns
    wanted = request.order.removeprefix("-")
    name = find_column(
        wanted, list(dict.fromkeys(name for each in notes for name in each.properties))
    )
    if not name:
        return columns._replace(missing=(*columns.missing, wanted))
    found = dict.fromkeys((*columns.found[: MOST_COLUMNS - 1], name))
    return columns._replace(found=tuple(found))


def _table_of_properties(request: NoteRequest, call: FinishedCall, turn: AskedTurn) -> str:
    """The notes with their properties; empty if they have none."""
    notes = listed_notes(call)
    columns = _with_order(request, _columns(request, notes), notes)
    if not columns.found:
        return ""
    sorted_by = find_column(request.order.removeprefix("-"), columns.found) if request.order else ""
    if sorted_by:
        notes = sort_rows(notes, request.order, lambda note: note.properties.get(sorted_by, ""))
    notes = notes[:MOST_ROWS]
    rows = [_row(note, columns.found) for note in notes]
    total = int(call.data.get("total", 0))
    of_notes = note_phrases(turn.asked, turn.texts)
    phrases = request_phrases(turn.asked, turn.texts)
    head = phrases.properties_of.format(notes=count_of_notes(total, request, of_notes))
    rest = format_rest(total - len(notes), request, of_notes)
    lacking = line_phrases(turn.asked, turn.texts).no_property
    said = "".join(f"\n{lacking.format(name=plain_name(name))}\n" for name in columns.missing)
    return f"{head}\n\n{render_table([phrases.note, *columns.found], rows)}{rest}{said}"


def render_properties(notes: Sequence[ListedNote], turn: AskedTurn) -> str:
    """A table of notes with the properties that several of them have; empty without any."""
    columns = _columns(NoteRequest("table"), notes).found
    if not columns:
        return ""
    phrases = request_phrases(turn.asked, turn.texts)
    return render_table([phrases.note, *columns], [_row(note, columns) for note in notes])


def _table_of_key_lines(request: NoteRequest, call: FinishedCall, turn: AskedTurn) -> str:
    """The notes, each with a sentence of it: they have neither properties nor lists."""
    notes = listed_notes(call)
    rows: list[list[str]] = []
    for note in notes:
        quotes = summarize_excerpts([note.excerpt], 1) if note.excerpt else []
        line = quotes[0].text.replace("|", "/") if quotes else ""
        rows.append([format_note(note), truncate(plain_name(line), LONGEST_ITEM)])
    if not rows:
        return ""
    of_notes = note_phrases(turn.asked, turn.texts)
    phrases = request_phrases(turn.asked, turn.texts)
    total = int(call.data.get("total", 0))
    head = of_notes.list_of.format(notes=count_of_notes(total, request, of_notes))
    rest = format_rest(total - len(notes), request, of_notes)
    return f"{head}\n\n{render_table([phrases.note, phrases.text], rows)}{rest}"


def _row(note: ListedNote, columns: Iterable[str]) -> list[str]:
    values = [table_cell(note.properties.get(name, "")) for name in columns]
    return [format_note(note), *values]


TABLE = RequestHandler(
    frozenset((LIST_TOOL, READ_TOOL, SEARCH_TOOL)), next_table_calls, answer_with_table
)
