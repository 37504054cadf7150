"""The rows of Markdown tables and their cells."""

from collections.abc import Iterable, Iterator

from zkchat_cli.text.patterns import lazy_pattern

_BAR = lazy_pattern(r"(?<!\\)\|")
_CELL = lazy_pattern(r"(?:[^\\|\[\n]++|\\.|\[\[[^\[\]\n]*+\]\]|\[|\\)++")
"""The bar of a wikilink's alias does not end a cell, though Obsidian wants it escaped."""
_DELIMITER = lazy_pattern(r"[\s:|-]++")
_DELIMITER_BELOW_HEADER = lazy_pattern(
    r"(?!-[ \t]|.$)\|?[ \t]*+:?-++:?(?:[ \t]*+\|[ \t]*+:?-++:?)*+[ \t]*+\|?[ \t]*+$"
)
"""The row below the header; `- |` would be a list, and a dash by itself underlines a heading."""


def is_delimiter_of(row: str, header: str) -> bool:
    """Whether a row makes the line above it the header of a table: it has as many columns."""
    if "|" not in header or not _DELIMITER_BELOW_HEADER.match(row):
        return False
    return _column_count(row) == _column_count(header)


def _column_count(row: str) -> int:
    cells = _BAR.split(row.strip())
    return len(cells) - (not cells[0]) - (len(cells) > 1 and not cells[-1])


def cell_spans(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the cells of the row between two positions are."""
    for cell in _CELL.finditer(text, begin, end):
        yield cell.span()


def table_cells(row: str) -> list[str]:
    """The texts of a table row's cells, empty ones left out."""
    cells = (cell.replace("\\|", "|").strip() for cell in _BAR.split(row))
    return [cell for cell in cells if cell]


def is_delimiter_row(row: str) -> bool:
    """Whether a table row is the one that divides its header from the others: `|---|---|`."""
    return bool(_DELIMITER.fullmatch(row))


def table_rows(lines: Iterable[str]) -> list[str]:
    """The rows of a table as lines of text, cells between middle dots, without the delimiter."""
    rows = [line for line in lines if not is_delimiter_row(line)]
    return [" · ".join(table_cells(row)) for row in rows]
