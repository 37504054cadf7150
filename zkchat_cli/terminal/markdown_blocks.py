"""The blocks of a Markdown answer as terminal rows: text, code, tables, rules. rich styles text and highlights code.

`rich.table` is not used: it measures each cell several times, and takes 2.3 ms for 12 rows of three cells, against 0.5 ms here.

A block that is still streaming is split into final rows and rows that may change. `offset` says how much of a block was final before, in
characters, lines or table rows, so a resize in between changes only the rows that come.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from rich.align import AlignMethod
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from zkchat_cli.terminal.text_layout import break_code, line_breaks, wrap

Row = Sequence[Segment]

MIN_TEXT = 8
"""Columns for text on the narrowest screen, whatever indentation comes before it."""
MIN_COLUMN = 8
"""Columns that each column of a table needs on average; with less, each row becomes a record."""
MAX_HIGHLIGHTED_LINE = 1000
"""Characters of a line of code; the expressions of some pygments lexers are slow with longer ones."""
_CODE_STYLES = {
    ("Comment",): "comment",
    ("Keyword",): "magenta",
    ("Operator", "Word"): "magenta",
    ("Name", "Function"): "bold",
    ("Name", "Class"): "bold",
    ("Name", "Tag"): "magenta",
    ("Literal", "String"): "green",
    ("Literal", "Number"): "cyan",
    ("Generic", "Deleted"): "red",
    ("Generic", "Inserted"): "green",
}


@dataclass(frozen=True, slots=True)
class Canvas:
    """The width to draw for, and the console with the styles."""

    console: Console
    width: int = 80

    def row(self, text: Text) -> Row:
        """The row of a text, which loses the spaces at its end."""
        text.rstrip()
        return list(Segment.simplify(text.render(self.console)))


@dataclass(frozen=True, slots=True)
class Prefix:
    """What comes before the rows of a block: the bars of quotes, the marker of an item, indentation."""

    first: tuple[tuple[str, str], ...] = ()
    rest: tuple[tuple[str, str], ...] = ()

    def draw(self, width: int, *, first: bool = False) -> Text:
        """As much of it as leaves room for text, the outermost parts dropped."""
        parts = [*(self.first if first else self.rest)]
        while parts and sum(cell_len(text) for text, _ in parts) > width - MIN_TEXT:
            parts.pop(0)
        return Text.assemble(*parts)


class BlockRows(NamedTuple):
    """The rows of a block from an offset on: final ones, ones that may change, and the offset of the latter."""

    final: list[Row]
    open: list[Row]
    offset: int = 0


@dataclass(slots=True)
class DrawnBlock:
    """Any block. `gap`: an empty row comes before it, with this prefix; `gap_after`: what follows needs one too."""

    prefix: Prefix
    gap: Prefix | None = field(default=None, init=False)
    gap_after: bool = field(default=False, init=False)

    def split(self, offset: int, canvas: Canvas, *, closed: bool) -> BlockRows:
        """The rows from `offset` on; all of them are final if the block is closed."""
        raise NotImplementedError

    def marker_row(self, canvas: Canvas) -> list[Row]:
        """A row for the marker of an item that does not begin with text."""
        return [canvas.row(self.prefix.draw(canvas.width, first=True))] if self.prefix.first != self.prefix.rest else []


@dataclass(slots=True)
class TextBlock(DrawnBlock):
    """A paragraph or heading. The first `certain_length` characters cannot change any more."""

    text: Text
    certain_length: int
    heading: bool = False

    def split(self, offset: int, canvas: Canvas, *, closed: bool) -> BlockRows:
        first, rest = self.prefix.draw(canvas.width, first=True), self.prefix.draw(canvas.width)
        room = max(1, canvas.width - max(first.cell_len, rest.cell_len))
        rows: list[Row] = []
        ends: list[int] = []
        start = 0
        for line in self.text.split("\n", allow_blank=True):
            end = start + len(line) + 1
            if end > offset or not self.text:
                skipped = max(0, offset - start)
                body = line[skipped:] if skipped else line
                breaks = line_breaks(body.plain, room)
                for row, at in zip(body.divide(breaks), [*breaks, len(body) + 1], strict=True):
                    rows.append(canvas.row((rest if offset or rows else first) + row))
                    ends.append(start + skipped + at)
            start = end
        if closed:
            return BlockRows(rows, [])
        plain = self.text.plain
        last_line = plain.rfind("\n") + 1
        limit = last_line if "|" in plain[last_line:] or self.heading else len(plain)  # the line may become the head of a table
        count = sum(end <= min(limit, self.certain_length) for end in ends[:-1])
        return BlockRows(rows[:count], rows[count:], ends[count - 1] if count else offset)


@dataclass(slots=True)
class CodeBlock(DrawnBlock):
    """Lines of code between fences."""

    code: str
    language: str

    def split(self, offset: int, canvas: Canvas, *, closed: bool) -> BlockRows:
        before = [] if offset else self.marker_row(canvas)
        margin = Text.assemble(self.prefix.draw(canvas.width), "  ")
        lines = [*highlight(self.code, self.language, canvas.console).split("\n", allow_blank=True)]
        lines = lines[: self.code.count("\n") + bool(self.code) - self.code.endswith("\n")]
        last = len(lines) if closed else max(offset, len(lines) - 1)
        rows_by_line = [
            [canvas.row(margin + row) for row in break_code(line, max(MIN_TEXT, canvas.width - margin.cell_len))] for line in lines[offset:]
        ]
        final = [row for each in rows_by_line[: last - offset] for row in each]
        unsure = [row for each in rows_by_line[last - offset :] for row in each]
        return BlockRows(before + final, unsure, last) if final or closed else BlockRows([], before + unsure, last)


@dataclass(slots=True)
class TableBlock(DrawnBlock):
    """A table; where the screen is too narrow, each row as a record. It is open to its end, because any row may change the widths."""

    head: list[Text]
    rows: list[list[Text]]
    aligns: list[str]

    def split(self, offset: int, canvas: Canvas, *, closed: bool) -> BlockRows:  # noqa: ARG002
        margin = self.prefix.draw(canvas.width)
        margin.end = ""
        rows = self._draw(max(MIN_TEXT, canvas.width - margin.cell_len), canvas)
        rows = self.marker_row(canvas) + [[*margin.render(canvas.console), *row] if margin else row for row in rows]
        return BlockRows(rows, []) if closed else BlockRows([], rows)

    def _draw(self, room: int, canvas: Canvas) -> list[Row]:
        columns = [*zip(self.head, *self.rows, strict=True)]
        widths = [max(cell_len(line) for cell in column for line in cell.plain.split("\n")) for column in columns]
        space = room - 3 * (len(columns) - 1)
        if sum(widths) > space and room < (MIN_COLUMN + 3) * len(columns):
            return self._records(room, canvas)
        for place, column in enumerate(sorted(range(len(columns)), key=lambda column: widths[column])):
            widths[column] = min(widths[column], space // (len(columns) - place))
            space -= widths[column]
        head = self._lines([Text(style="bold") + cell for cell in self.head], widths, is_head=True)
        rule = Text.assemble(("─┼─".join("─" * width for width in widths), "frame"))
        return [canvas.row(line) for line in (*head, rule, *(line for row in self.rows for line in self._lines(row, widths)))]

    def _lines(self, cells: Sequence[Text], widths: Sequence[int], *, is_head: bool = False) -> list[Text]:
        """The lines of a row. The cells of the head end on the same line, those of other rows begin on it."""
        columns = [[line for part in cell.split("\n") for line in wrap(part, width)] for cell, width in zip(cells, widths, strict=True)]
        height = max(map(len, columns))
        for column, width, align in zip(columns, widths, self.aligns, strict=True):
            for line in column:
                line.rstrip()
                line.align(cast("AlignMethod", align or "left"), width)
            blank = [Text(" " * width)] * (height - len(column))
            column[:] = blank + column if is_head else column + blank
        return [Text.assemble((" │ ", "frame")).join(line) for line in zip(*columns, strict=True)]

    def _records(self, room: int, canvas: Canvas) -> list[Row]:
        if not self.rows:
            return [canvas.row(row) for head in self.head for row in wrap(head, room)]
        rows: list[Row] = []
        for number, cells in enumerate(self.rows):
            rows += [[]] if number else []
            for head, cell in zip(self.head, cells, strict=True):
                name = Text(style="bold") + head + ": " if head else Text()
                lines = [row for line in (name + cell).split("\n") for row in wrap(line, room - 2)]
                rows += [canvas.row(Text("  " if i else "") + line) for i, line in enumerate(lines)]
        return rows


def highlight(code: str, language: str, console: Console) -> Text:
    """Code in the colors of its language; unchanged if the language is unknown."""
    if not language or any(len(line) > MAX_HIGHLIGHTED_LINE for line in code.split("\n")):
        return Text(code)
    from rich.syntax import ANSISyntaxTheme, Syntax  # pygments costs 30 ms, which only an answer with code pays

    theme = ANSISyntaxTheme({token: console.get_style(style) for token, style in _CODE_STYLES.items()})
    text = Syntax(code, language, theme=theme).highlight(code)
    return text if text.plain.rstrip("\n") == code.rstrip("\n") else Text(code)
