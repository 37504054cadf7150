"""Tables in an answer.

`rich.table` takes 2.3 ms for 12 rows of three cells, this takes 0.5 ms.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import cast

from rich.align import AlignMethod
from rich.cells import cell_len
from rich.text import Text

from zkchat_cli.terminal.text_layout import wrap

# Fewest columns of the screen for each column of a table, on average; with fewer, each row becomes
# a record
MIN_COLUMN = 8
SEPARATOR = " │ "
RULE = "─"
CROSS = "─┼─"
INDENT = "  "

Cells = Sequence[Text]


def table_rows(lines: Sequence[Cells], aligns: Sequence[str], width: int) -> list[Text]:
    """The rows of a table in `width` columns; its head comes first. `aligns` has `left`, `center`
    or `right` for each column.
    """
    head = lines[0]
    for cell in head:
        cell.stylize("bold")
    widths = [_natural_width(column) for column in zip(*lines, strict=True)]
    room = width - len(SEPARATOR) * (len(widths) - 1)
    needed = (MIN_COLUMN + len(SEPARATOR)) * len(widths)
    if sum(widths) > room and width < needed:
        return _records(lines, width)
    widths = _fit(widths, room)
    rows: list[Text] = []
    for line in lines:
        rows += _line_rows(line, widths, aligns)
        if line is head:
            rows.append(Text(CROSS.join(RULE * each for each in widths), "dim"))
    return rows


def _natural_width(column: Cells) -> int:
    """The cells that the longest line of a column needs."""
    return max(cell_len(line) for cell in column for line in cell.plain.split("\n"))


def _fit(widths: Sequence[int], room: int) -> list[int]:
    """Narrower widths that fit into the room: narrow columns keep their width, and wide ones share
    the rest.
    """
    fitted = list(widths)
    narrowest_first = sorted(range(len(widths)), key=lambda column: widths[column])
    for place, column in enumerate(narrowest_first):
        share = room // (len(widths) - place)
        fitted[column] = min(widths[column], share)
        room -= fitted[column]
    return fitted


def _line_rows(line: Cells, widths: Sequence[int], aligns: Sequence[str]) -> list[Text]:
    """The rows of one line of the table, each cell wrapped in its column."""
    columns = [wrap(cell, width) for cell, width in zip(line, widths, strict=True)]
    rows: list[Text] = []
    # A column has None below its last row
    for pieces in zip_longest(*columns):
        texts: list[Text] = []
        for piece, width, align in zip(pieces, widths, aligns, strict=True):
            text = piece or Text()
            text.rstrip()
            text.align(cast("AlignMethod", align), width)
            texts.append(text)
        rows.append(Text.assemble((SEPARATOR, "dim")).join(texts))
    return rows


def _records(lines: Sequence[Cells], width: int) -> list[Text]:
    """Each line of the table as a paragraph, with the name of the column before each cell."""
    head, *body = lines
    if not body:
        names: list[Text] = []
        for name in head:
            names += wrap(name, width)
        return names
    rows: list[Text] = []
    for line in body:
        if rows:
            rows.append(Text())
        for name, value in zip(head, line, strict=True):
            text = Text.assemble(name, ": " if name else "", value)
            first, *others = wrap(text, width - len(INDENT))
            rows.append(first)
            rows += [Text(INDENT) + row for row in others]
    return rows
