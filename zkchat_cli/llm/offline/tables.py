"""Answers to requests for a table: of the properties of notes, or of the list of one note."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from zkchat_cli.llm.offline.answer import EXCERPTS, OfflineAnswer, WantedCall
from zkchat_cli.llm.offline.asked_turn import (
    READ_TOOL,
    SEARCH_TOOL,
    AskedTurn,
    FinishedCall,
    read_excerpts,
)
from zkchat_cli.llm.offline.note_descriptions import (
    count_of_notes,
    format_rest,
    list_arguments,
)
from zkchat_cli.llm.offline.note_lists import (
    ListedNote,
    format_note,
    listed_notes,
    suits_notes,
)
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.property_names import name_in_vault
from zkchat_cli.llm.offline.quotes import QuoteSource, RankedQuote, find_quotes
from zkchat_cli.llm.offline.request_handler import (
    LIST_TOOL,
    RequestHandler,
    explain_error,
    plain_name,
)
from zkchat_cli.llm.offline.summary import summarize_excerpts
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.markdown.tables import is_delimiter_row
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.note_phrases import note_phrases
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.request_phrases import request_phrases
from zkchat_cli.text.truncate import truncate

# Rows and columns that fit a screen of 80 columns and 24 rows
MOST_ROWS = 10
MOST_COLUMNS = 4
LONGEST_CELL = 28
LONGEST_ITEM = 110
# A property that fewer notes have is no column, unless the user names it
FEWEST_NOTES = 2
FEWEST_ITEMS = 2
# A "\\|" is a part of a cell
_CELL_END = lazy_pattern(r"(?<!\\)\|")
SEPARATORS = (": ", " – ", " — ", " - ", " | ")
# Properties that say nothing about the subject of a note
NO_COLUMNS = frozenset(
    "title aliases alias tags tag cssclass cssclasses id uid uuid publish draft".split()
)


def next_table_calls(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """The notes with their properties; if they have none, the note that a search finds first."""
    is_of_note = bool(request.note) and request.direction != "to"
    if is_of_note or turn.documents:
        if turn.calls_of(READ_TOOL) or read_excerpts(turn.documents):
            return []
        return [WantedCall(READ_TOOL, {"relative_path": request.note})]
    lists = turn.calls_of(LIST_TOOL)
    if not lists:
        return [WantedCall(LIST_TOOL, _arguments(request))]
    if lists[-1].error and request.is_guess and len(lists) == 1:
        guess = request._replace(folder="", about=request.folder)
        return [WantedCall(LIST_TOOL, _arguments(guess))]
    if turn.calls_of(READ_TOOL, SEARCH_TOOL):
        return []
    return _calls_for_items(request, lists[-1])


def _calls_for_items(request: NoteRequest, listed: FinishedCall) -> list[WantedCall]:
    """The reading of the best note, for the items of its list; a search if there is no note.

    The notes of a folder or with a tag are rows themselves: no one of them is the best.
    """
    if request.may_be_lookup:
        return _calls_for_named(request, listed)
    if _columns(request, listed_notes(listed)):
        return []
    documents = listed.data.get("documents", ())
    if documents and (request.about or len(documents) == 1):
        return [WantedCall(READ_TOOL, {"relative_path": documents[0]["path"]})]
    if request.about:
        return [WantedCall(SEARCH_TOOL, {"query": request.about, "limit": EXCERPTS})]
    return []


def _calls_for_named(request: NoteRequest, listed: FinishedCall) -> list[WantedCall]:
    """The reading of the note that is named after what the table is of, unless several notes are of
    that kind: the note Insurances may have a table of them.
    """
    if suits_notes(request, listed):
        return []
    named = [note for note in listed_notes(listed) if fold(note.title) == fold(request.about)]
    paths = [note.excerpt.path for note in named if note.excerpt]
    return [WantedCall(READ_TOOL, {"relative_path": path}) for path in paths[:1]]


def _arguments(request: NoteRequest) -> dict[str, Any]:
    arguments = list_arguments(request)
    # A named column may be called otherwise in the notes
    show = ", ".join(filter(None, ("*", arguments.get("show"))))
    return arguments | {"show": show, "limit": MOST_ROWS, "excerpts": MOST_ROWS}


def answer_with_table(
    request: NoteRequest,
    turn: AskedTurn,
    similarities: Similarities | None = None,  # noqa: ARG001
) -> OfflineAnswer | None:
    """A table of properties, or else of the items of a note's list."""
    lists = turn.calls_of(LIST_TOOL)
    if not request.may_be_lookup or (lists and suits_notes(request, lists[-1])):
        return _answer_with_best_table(request, turn)
    return _answer_with_table_in_note(turn)


def _answer_with_best_table(request: NoteRequest, turn: AskedTurn) -> OfflineAnswer | None:
    """The first that there is: properties of the notes, the table or list of one, key lines."""
    lists = turn.calls_of(LIST_TOOL)
    if lists and (table := _table_of_properties(request, lists[-1], turn)):
        return OfflineAnswer(table, "answer")
    reads = [call for call in turn.calls_of(READ_TOOL) if not call.error]
    excerpts = [excerpt for call in reads for excerpt in call.excerpts]
    of_note = excerpts or read_excerpts(turn.documents)
    table = _table_in_note(of_note, turn) or _table_of_items(of_note, turn)
    if table:
        return OfflineAnswer(table, "answer")
    if lists and (table := _table_of_key_lines(request, lists[-1], turn)):
        return OfflineAnswer(table, "answer")
    if turn.calls_of(READ_TOOL) and turn.calls_of(READ_TOOL)[-1].error:
        return explain_error(turn.calls_of(READ_TOOL)[-1], note_phrases(turn.asked, turn.texts))
    return None


def _answer_with_table_in_note(turn: AskedTurn) -> OfflineAnswer | None:
    """The table or the list in the note that was read, if it has one."""
    read = [excerpt for call in turn.calls_of(READ_TOOL) for excerpt in call.excerpts]
    table = _table_in_note(read, turn) or _table_of_items(read, turn)
    return OfflineAnswer(table, "answer") if table else None


def _named_columns(request: NoteRequest) -> list[str]:
    text = request.columns.replace(" and ", ",").replace(" und ", ",").replace(" et ", ",")
    text = text.replace(" y ", ",").replace(" e ", ",")
    return [name.strip().casefold() for name in text.split(",") if name.strip()]


def _columns(request: NoteRequest, notes: Iterable[ListedNote]) -> list[str]:
    """The properties that the user names, or those that several notes have; none if no note has
    any.
    """
    notes = list(notes)
    counts = Counter(name for note in notes for name in note.properties if name not in NO_COLUMNS)
    known = [name for name, _ in counts.most_common()]
    named = [name_in_vault(name, known) or name for name in _named_columns(request)]
    if any(name in note.properties for note in notes for name in named):
        return named[:MOST_COLUMNS]
    # "type: book" is in each row of a table of books
    for each in request.property.split("; "):
        counts.pop(each.partition(":")[0], None)
    return [name for name, count in counts.most_common() if count >= FEWEST_NOTES][:MOST_COLUMNS]


def _table_of_properties(request: NoteRequest, call: FinishedCall, turn: AskedTurn) -> str:
    """The notes with their properties; empty if they have none."""
    notes = listed_notes(call)
    columns = _columns(request, notes)
    if not columns:
        return ""
    rows = [_row(note, columns) for note in notes]
    total = int(call.data.get("total", 0))
    of_notes = note_phrases(turn.asked, turn.texts)
    phrases = request_phrases(turn.asked, turn.texts)
    head = phrases.properties_of.format(notes=count_of_notes(total, request, of_notes))
    rest = format_rest(total - len(notes), request, of_notes)
    return f"{head}\n\n{_render([phrases.note, *columns], rows)}{rest}"


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
    return f"{head}\n\n{_render([phrases.note, phrases.text], rows)}{rest}"


def _row(note: ListedNote, columns: Iterable[str]) -> list[str]:
    values = [_cell(note.properties.get(name, "")) for name in columns]
    return [format_note(note), *values]


def _cell(text: str) -> str:
    return truncate(plain_name(text).replace("|", "/"), LONGEST_CELL)


def _render(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


class _WrittenRow(NamedTuple):
    """A row of a Markdown table, with the number of its excerpt."""

    cells: tuple[str, ...]
    source: int


def _first_table(excerpts: Sequence[QuoteSource]) -> list[_WrittenRow]:
    """The rows of the first table of a note, its header first. A long one is in several excerpts,
    and only the first has the header.
    """
    lines = [(line, each.source) for each in excerpts for line in each.text.split("\n")]
    rows: list[_WrittenRow] = []
    for (line, source), (below, _) in pairwise([*lines, ("", 0)]):
        if is_delimiter_row(line):
            continue
        if "|" in line and (rows or is_delimiter_row(below)):
            cells = _CELL_END.split(line.strip().removeprefix("|").removesuffix("|"))
            rows.append(_WrittenRow(tuple(map(to_plain_text, cells)), source))
        elif rows:
            break
    return rows


def _table_in_note(excerpts: Sequence[QuoteSource], turn: AskedTurn) -> str:
    """The first table of a note, without empty rows; empty if it has none."""
    header, *rows = _first_table(excerpts) or [_WrittenRow((), 0)]
    rows = [row for row in rows if any(cell.strip() for cell in row.cells[:MOST_COLUMNS])]
    if not rows:
        return ""
    columns = [_cell(name) for name in header.cells][:MOST_COLUMNS]
    shown: list[list[str]] = []
    for row in rows[:MOST_ROWS]:
        cells = [_cell(cell) for cell in row.cells][: len(columns)]
        cells += [""] * (len(columns) - len(cells))
        shown.append([*cells[:-1], f"{cells[-1]} [{row.source}]".strip()])
    title = plain_name(excerpts[0].title)
    head = request_phrases(turn.asked, turn.texts).items_of.format(name=title)
    rest = _rest_of_note(len(rows) - len(shown), title, turn)
    return f"{head}\n\n{_render(columns, shown)}{rest}"


def _rest_of_note(left: int, title: str, turn: AskedTurn) -> str:
    """That a note has more rows; empty if it has not."""
    if left <= 0:
        return ""
    phrases = note_phrases(turn.asked, turn.texts)
    return f"\n{phrases.and_more_in.format(count=phrases.number(left), name=title)}\n"


def _items_of_lists(excerpts: Sequence[QuoteSource]) -> list[RankedQuote]:
    """The items of a note's lists, each by itself."""
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    quotes = find_quotes(excerpts, languages, max_group=0)
    return [
        quote
        for quote in quotes
        if quote.passage.kind == "item" and not quote.passage.is_below_heading
    ]


def _table_of_items(excerpts: Sequence[QuoteSource], turn: AskedTurn) -> str:
    """The items of a note's lists; empty if it has none."""
    items = _items_of_lists(excerpts)
    if len(items) < FEWEST_ITEMS:
        return ""
    title = plain_name(excerpts[0].title)
    phrases = request_phrases(turn.asked, turn.texts)
    separator = _common_separator(items)
    columns = [phrases.item, phrases.text] if separator else [plain_name(items[0].section[-1])]
    rows: list[list[str]] = []
    for item in items[:MOST_ROWS]:
        first, _, second = item.text.partition(separator) if separator else (item.text, "", "")
        cells = [first, second] if separator else [first]
        cells = [truncate(plain_name(cell).replace("|", "/"), LONGEST_ITEM) for cell in cells]
        rows.append([*cells[:-1], f"{cells[-1]} [{item.sources[0]}]"])
    head = phrases.items_of.format(name=title)
    rest = _rest_of_note(len(items) - len(rows), title, turn)
    return f"{head}\n\n{_render(columns, rows)}{rest}"


def _common_separator(items: Sequence[RankedQuote]) -> str:
    """What separates two columns in most of the items; empty if nothing does."""
    for separator in SEPARATORS:
        if 2 * sum(separator in item.text for item in items) > len(items):
            return separator
    return ""


TABLE = RequestHandler(
    frozenset((LIST_TOOL, READ_TOOL, SEARCH_TOOL)), next_table_calls, answer_with_table
)
