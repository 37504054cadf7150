"""A table on a screen: columns aligned by what characters take there; cells folded where it is too narrow, or else each row as a record."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from zkchat_cli.terminal.markdown.flow import folded
from zkchat_cli.terminal.markdown.grammar import may_be_head
from zkchat_cli.terminal.markdown.pieces import NEWLINE, Piece, rows, widths

Cell = Sequence[Piece]
Align = Literal["left", "right", "center"]

LEAST_COLUMN = 8
"""Columns that each column must have on average, or the table is laid out as records."""
LINE_BREAK = re.compile(r"<br[ \t]{0,9}/?>", re.IGNORECASE)
"""What begins another line within a cell."""
_DELIMITER = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*+\|?[ \t]*")
_BARS = re.compile(r"\\.|`+|\|")


def delimiter(line: str) -> tuple[Align, ...] | None:
    """The columns' alignments, if this is the line under a table's head."""
    line = line.strip(" \t")
    if "|" not in line or not _DELIMITER.fullmatch(line):
        return None
    return tuple("center" if c[0] == c[-1] == ":" and len(c) > 1 else "right" if c[-1] == ":" else "left" for c in cells(line))


def may_begin(line: str) -> bool:
    """Whether a line is a table's head if the line under one follows."""
    return line.startswith("|") or (may_be_head(line, ended=True) and len(cells(line)) > 1)


def cells(line: str) -> list[str]:
    """The cells of a row; a bar that is escaped, or within code or a link to a note, does not part them."""
    line = line.strip(" \t")
    line = line.removeprefix("|")
    made, begin, ticks, at = list[str](), 0, "", 0
    while found := _BARS.search(line, at):
        at = found.end()
        if found[0][0] == "`":
            if not ticks:
                ticks = found[0] if line.find(found[0], at) >= 0 else ""
            elif ticks == found[0]:
                ticks = ""
        elif found[0] == "|" and not ticks and not _in_link(line, begin, found.start()):
            made.append(line[begin : found.start()])
            begin = at
    if line[begin:].strip():
        made.append(line[begin:])
    return [cell.strip(" \t").replace("\\|", "|") for cell in made]


def _in_link(line: str, begin: int, at: int) -> bool:
    opened = line.rfind("[[", max(begin, at - 300), at)
    return opened >= 0 and line.find("]]", opened, at) < 0 <= line.find("]]", at, at + 300)


@dataclass(frozen=True, slots=True)
class Look:
    """The lines a table is drawn with."""

    bar: str = "│"
    rule: str = "─"
    crossing: str = "┼"


class Table:
    """Rows that are `added` until the table is `settled`, which fixes its columns; then each further row stands by itself."""

    def __init__(self, head: Sequence[Cell], aligns: Sequence[Align], look: Look) -> None:
        self._aligns = aligns
        self._look = look
        self._head = self._fit(head)
        self._natural = [max(1, _widest(cell)) for cell in self._head]
        self._waiting: list[list[Cell]] = []
        self._begun = False

    def fork(self) -> "Table":
        other = Table(self._head, self._aligns, self._look)
        other._natural, other._waiting, other._begun = [*self._natural], [*self._waiting], self._begun
        return other

    def add(self, row: Sequence[Cell]) -> None:
        """A row is cut or filled to the columns that the head has; once begun, it has to do with the widths there are."""
        fitting = self._fit(row)
        if not self._begun:
            self._natural = [max(size, _widest(cell)) for size, cell in zip(self._natural, fitting, strict=True)]
        self._waiting.append(fitting)

    def rows(self, columns: int) -> list[Piece]:
        """What has not been given yet, laid out on so many columns; this fixes the widths of the table's columns."""
        sizes = self._sizes(columns)
        made: list[Piece] = []
        if not self._begun and sizes is not None:
            made += self._row([[piece._replace(style=f"{piece.style} bold".strip()) for piece in cell] for cell in self._head], sizes)
            rule = f"{self._look.rule}{self._look.crossing}{self._look.rule}".join(self._look.rule * size for size in sizes)
            made += [Piece(rule, "frame"), NEWLINE]
        for row in self._waiting:
            if sizes is not None:
                made += self._row(row, sizes)
            else:
                made += [NEWLINE] if self._begun or made else []
                made += self._record(row, columns)
        if sizes is None and not self._waiting and not self._begun:
            made += [piece for cell in self._head for row in folded(cell, columns) for piece in (*row, NEWLINE)]
        self._waiting, self._begun = [], True
        return made

    def settle(self) -> None:
        """More rows follow than are waited for: what they bring may be a little wider."""
        if not self._begun:
            self._natural = [size + max(4, size // 4) for size in self._natural]

    def is_higher(self, columns: int, lines: int) -> bool:
        """Whether what waits takes more than so many lines, or the rows before it did."""
        return self._begun or len(self._waiting) > lines or sum(piece is NEWLINE for piece in self.fork().rows(columns)) > lines

    def _fit(self, row: Sequence[Cell]) -> list[Cell]:
        return [row[i] if i < len(row) else () for i in range(len(self._aligns))]

    def _sizes(self, columns: int) -> list[int] | None:
        """The widths of the columns, those that are too wide alike; None where there is no room for a table."""
        count = len(self._natural)
        room = columns - 3 * (count - 1)
        if sum(self._natural) <= room:
            return self._natural
        if room < LEAST_COLUMN * count:
            return None
        sizes, left, narrow = [0] * count, room, sorted(range(count), key=lambda i: self._natural[i])
        for place, i in enumerate(narrow):
            sizes[i] = min(self._natural[i], left // (count - place))
            left -= sizes[i]
        return sizes

    def _row(self, row: Sequence[Cell], sizes: Sequence[int]) -> list[Piece]:
        columns = [folded(cell, size) or [[]] for cell, size in zip(row, sizes, strict=True)]
        made: list[Piece] = []
        for line in range(max(map(len, columns))):
            blank = 0
            for i, (column, size, align) in enumerate(zip(columns, sizes, self._aligns, strict=True)):
                if i:
                    made += [Piece(f"{' ' * blank} {self._look.bar} ", "frame")]
                pieces = column[line] if line < len(column) else []
                spare = max(0, size - widths(pieces))
                before = {"left": 0, "right": spare, "center": spare // 2}[align]
                made += [Piece(" " * before)] if before and pieces else []
                made += pieces
                blank = spare - before if pieces else size
            made.append(NEWLINE)
        return made

    def _record(self, row: Sequence[Cell], columns: int) -> list[Piece]:
        made: list[Piece] = []
        for head, cell in zip(self._head, row, strict=True):
            name = [piece._replace(style=f"{piece.style} bold".strip()) for piece in head]
            said = [*name, Piece(": ", "bold"), *cell] if head else cell
            for i, line in enumerate(folded(said, columns - 2) if said else []):
                made += [Piece("  ")] if i else []
                made += [*line, NEWLINE]
        return made


def _widest(cell: Cell) -> int:
    """The columns that the widest line of a cell takes."""
    return max(map(widths, rows(cell)), default=0)
