"""Tables of what one note has: its own tables, items or sections with fields below them ("ip:
10.0.0.2"), or else the items of its lists.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from zkchat_cli.llm.offline.asked_turn import AskedTurn
from zkchat_cli.llm.offline.quotes import QuoteSource, RankedQuote, find_quotes
from zkchat_cli.llm.offline.request_handler import plain_name
from zkchat_cli.llm.offline.row_orders import sort_rows
from zkchat_cli.llm.offline.table_columns import choose_columns, find_column, named_columns
from zkchat_cli.markdown.blocks import MarkdownBlock, blocks
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.markdown.tables import is_delimiter_row
from zkchat_cli.text import words
from zkchat_cli.text.note_phrases import note_phrases
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.request_phrases import request_phrases
from zkchat_cli.text.truncate import truncate

# Rows and columns that fit a screen of 80 columns and 24 rows
MOST_ROWS = 10
MOST_COLUMNS = 4
LONGEST_CELL = 28
LONGEST_ITEM = 110
FEWEST_ITEMS = 2
SEPARATORS = (": ", " – ", " — ", " - ", " | ")
# A "\\|" is a part of a cell
_CELL_END = lazy_pattern(r"(?<!\\)\|")
_FIELD = lazy_pattern(r"[*_]*(?P<key>[^\W\d_][\w /-]{0,28}?)[*_]*::?[*_]*\s+(?P<value>\S.*)")
_PART_END = lazy_pattern(r"\s*[,;|()]\s*|\s+[–—-]\s+|:\s+")


class WrittenRow(NamedTuple):
    """The cells of a row, with the number of its excerpt."""

    cells: tuple[str, ...]
    source: int


class WrittenTable(NamedTuple):
    """A table of a note: the names of its columns, and its rows."""

    columns: tuple[str, ...]
    rows: tuple[WrittenRow, ...]


def table_of_note(
    excerpts: Sequence[QuoteSource], wanted: str, turn: AskedTurn, order: str = ""
) -> str:
    """The table of a note that has most of the wanted columns, with only these if there are any, in
    the order of a column; empty if the note has neither a table nor a list.
    """
    if not excerpts:
        return ""
    item = request_phrases(turn.asked, turn.texts).item
    tables = [*_tables_in(excerpts), *_tables_of_fields(excerpts, item)]
    tables += _tables_of_parts(excerpts, wanted, item)
    if not tables:
        listed = _table_of_items(excerpts, turn)
        return f"{listed}{_tell_missing(excerpts, (), wanted, turn)}" if listed else ""
    sorted_by = order.removeprefix("-")
    named = ", ".join(filter(None, (wanted, sorted_by)))
    best = max(tables, key=lambda table: len(choose_columns(named, table.columns).found))
    best = _sorted_by(best, order)
    title = plain_name(excerpts[0].title)
    chosen = choose_columns(wanted, best.columns)
    shown = _with_columns(best, chosen.found or best.columns[:MOST_COLUMNS])
    head = request_phrases(turn.asked, turn.texts).items_of.format(name=title)
    rest = _rest_of_note(len(shown.rows) - MOST_ROWS, title, turn)
    known = list(dict.fromkeys(name for table in tables for name in table.columns))
    missing = _tell_missing(excerpts, best.columns if chosen.found else known, named, turn)
    return f"{head}\n\n{_render_written(shown)}{rest}{missing}"


def _sorted_by(table: WrittenTable, order: str) -> WrittenTable:
    """The table in the order of a column; as it is if it has none of that name."""
    name = find_column(order.removeprefix("-"), table.columns) if order else ""
    if not name:
        return table
    place = table.columns.index(name)

    def cell_of(row: WrittenRow) -> str:
        return row.cells[place] if place < len(row.cells) else ""

    return table._replace(rows=tuple(sort_rows(table.rows, order, cell_of)))


def render_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def table_cell(text: str) -> str:
    """A text that fits a cell."""
    return truncate(plain_name(text).replace("|", "/"), LONGEST_CELL)


def _render_written(table: WrittenTable) -> str:
    columns = [table_cell(name) for name in table.columns]
    shown: list[list[str]] = []
    for row in table.rows[:MOST_ROWS]:
        cells = [table_cell(cell) for cell in row.cells][: len(columns)]
        cells += [""] * (len(columns) - len(cells))
        shown.append([*cells[:-1], f"{cells[-1]} [{row.source}]".strip()])
    return render_table(columns, shown)


def _with_columns(table: WrittenTable, names: Sequence[str]) -> WrittenTable:
    """A table with these columns only, behind the first one, which says what each row is of."""
    wanted = dict.fromkeys([table.columns[0], *names[:MOST_COLUMNS]])
    places = [table.columns.index(name) for name in wanted]
    rows = [
        WrittenRow(
            tuple(row.cells[place] if place < len(row.cells) else "" for place in places),
            row.source,
        )
        for row in table.rows
    ]
    return WrittenTable(tuple(wanted), tuple(rows))


def _tell_missing(
    excerpts: Sequence[QuoteSource], known: Sequence[str], wanted: str, turn: AskedTurn
) -> str:
    """That a note has none of the wanted columns, or not all of them; empty if it has."""
    missing = choose_columns(wanted, known).missing
    if not missing:
        return ""
    phrases = request_phrases(turn.asked, turn.texts)
    title = plain_name(excerpts[0].title)
    names = ", ".join(map(plain_name, missing))
    said = phrases.no_column.format(name=title, missing=names)
    if known:
        columns = ", ".join(map(plain_name, known))
        said = phrases.other_columns.format(name=title, missing=names, columns=columns)
    return f"\n{said}\n"


def _tables_in(excerpts: Sequence[QuoteSource]) -> Iterator[WrittenTable]:
    """The Markdown tables of a note, without empty rows. A long one is in several excerpts, and
    only the first has the header.
    """
    lines = [(line, each.source) for each in excerpts for line in each.text.split("\n")]
    rows: list[WrittenRow] = []
    for (line, source), (below, _) in pairwise([*lines, ("", 0), ("", 0)]):
        if is_delimiter_row(line):
            continue
        if "|" in line and (rows or is_delimiter_row(below)):
            cells = _CELL_END.split(line.strip().removeprefix("|").removesuffix("|"))
            rows.append(WrittenRow(tuple(to_plain_text(cell).strip() for cell in cells), source))
        elif rows:
            yield from _whole_table(rows)
            rows = []


def _whole_table(rows: Sequence[WrittenRow]) -> Iterator[WrittenTable]:
    """The table of these rows, its header first; nothing without others."""
    header, *others = rows
    filled = [row for row in others if any(row.cells)]
    if filled:
        yield WrittenTable(header.cells, tuple(filled))


class _Record(NamedTuple):
    """An item or a section, and the fields below it."""

    name: str
    source: int
    fields: dict[str, str]


class _RecordReader:
    """Collects the items and sections of a note with their fields."""

    def __init__(self) -> None:
        self.found: list[_Record] = []
        self._section: _Record | None = None
        self._items: list[tuple[int, _Record]] = []

    def read(self, block: MarkdownBlock, source: int) -> None:
        """Go on to the next block."""
        if block.kind == "heading":
            self._section = self._begin(block.text, source)
            self._items = []
        elif block.kind == "item":
            self._read_item(block, source)
        elif block.kind == "paragraph" and self._section is not None:
            self._add_fields(self._section, block.lines)

    def _begin(self, text: str, source: int) -> _Record:
        record = _Record(to_plain_text(text).strip().rstrip(":"), source, {})
        self.found.append(record)
        return record

    def _read_item(self, block: MarkdownBlock, source: int) -> None:
        self._items = [each for each in self._items if each[0] < block.level]
        owner = self._items[-1][1] if self._items else self._section
        field = _FIELD.fullmatch(to_plain_text(block.lines[0]).strip())
        if owner is not None and field:
            self._add_fields(owner, block.lines)
            return
        record = self._begin(block.lines[0], source)
        self._add_fields(record, block.lines[1:])
        self._items.append((block.level, record))

    @staticmethod
    def _add_fields(record: _Record, lines: Sequence[str]) -> None:
        for line in lines:
            if field := _FIELD.fullmatch(to_plain_text(line).strip()):
                record.fields.setdefault(field["key"].strip(), field["value"].strip())


def _tables_of_fields(excerpts: Sequence[QuoteSource], item: str) -> Iterator[WrittenTable]:
    """The items or sections of a note that have the same fields below them, as a table."""
    reader = _RecordReader()
    for excerpt in excerpts:
        for block in blocks(excerpt.text):
            reader.read(block, excerpt.source)
    yield from _table_of_records(reader.found, item)


def _table_of_records(records: Sequence[_Record], item: str) -> Iterator[WrittenTable]:
    """A table of the fields that several records have; nothing without any."""
    counts = Counter(name for record in records for name in record.fields)
    names = [name for name, count in counts.items() if count >= FEWEST_ITEMS]
    with_fields = [each for each in records if not each.fields.keys().isdisjoint(names)]
    if names:
        rows = [
            WrittenRow((each.name, *(each.fields.get(name, "") for name in names)), each.source)
            for each in with_fields
        ]
        yield WrittenTable((item, *names), tuple(rows))


def _tables_of_parts(
    excerpts: Sequence[QuoteSource], wanted: str, item: str
) -> Iterator[WrittenTable]:
    """The items of a note that name the wanted columns, "atlas: ip 10.0.0.2, 32 GB ram"."""
    records: list[_Record] = []
    for quote in _items_of_lists(excerpts):
        first, *parts = _PART_END.split(quote.text)
        fields: dict[str, str] = {}
        for part in parts:
            for name in named_columns(wanted):
                begin, _, end = part.partition(" ")
                before, _, last = part.rpartition(" ")
                if end and choose_columns(name, [begin]).found:
                    fields.setdefault(name, end)
                elif before and choose_columns(name, [last]).found:
                    fields.setdefault(name, before)
        records.append(_Record(first, quote.sources[0], fields))
    yield from _table_of_records(records, item)


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
    return f"{head}\n\n{render_table(columns, rows)}{rest}"


def _common_separator(items: Sequence[RankedQuote]) -> str:
    """What separates two columns in most of the items; empty if nothing does."""
    for separator in SEPARATORS:
        if 2 * sum(separator in item.text for item in items) > len(items):
            return separator
    return ""
