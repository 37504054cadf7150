"""Styled lines in the columns of a screen, without rich, which the first prompt and pipes do not
load.

rich.table cannot put a cell below the row instead of at its right, which narrow lists of sources
need.
"""

import sys
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

Spans = tuple[StyledSpan, ...]
GAP = "   "
MAX_LEFT = 60
"""Columns, at most half the screen, up to which a left part moves the column of the right parts. A
longer left part moves only its own right part.
"""
# Columns by which the further rows of a broken line are indented
INDENT = 4
TAB = 4
_ZERO_WIDTH_JOINER = "\u200d"


class _MeasuredLine(NamedTuple):
    """A line with the columns that its parts need."""

    line: StyledLine
    left: int
    right: int

    def fits(self, room: float) -> bool:
        """Whether the line has two parts, and `room` is enough for both side by side."""
        return bool(self.line.right) and self.left + self.right <= room


def lay_out(lines: Iterable[StyledLine], width: int | None, quoted: str = "{}") -> list[Spans]:
    """The rows of these lines in `width` columns, or of any length without a width.

    The right parts form a column, and long lines are broken between words. `quoted` is the format
    of quoted text.
    """
    measured = [_measure(each, quoted) for each in lines]
    room = sys.maxsize if width is None else width - len(GAP)
    column = _right_column([each for each in measured if each.fits(room)], room, width)
    rows: list[Spans] = []
    for each in measured:
        if each.fits(room):
            gap = StyledSpan(" " * max(0, column - each.left) + GAP)
            rows.append((*each.line.left, gap, *each.line.right))
        else:
            rows += _stacked(each.line, width)
    return rows


def break_lines(text: str, columns: int) -> str:
    """Text with its long lines broken between words, and the further rows indented."""
    lines = []
    for line in text.expandtabs(TAB).split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        if indent <= INDENT:
            indent += INDENT
        lines.append(styled_line(line, indent=indent))
    return "\n".join(joined_text(row) for row in lay_out(lines, columns))


def count_columns(text: str) -> int:
    """How many columns a text needs, measured without rich, which takes 20 ms to import."""
    if text.isascii():
        return len(text)
    return sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    if unicodedata.combining(character) or character == _ZERO_WIDTH_JOINER:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def joined_text(spans: Iterable[StyledSpan]) -> str:
    """The text of a row without its styles."""
    return "".join(span.text for span in spans)


def _measure(line: StyledLine, quoted: str) -> _MeasuredLine:
    left = _sanitize_spans(line.left, quoted)
    right = _sanitize_spans(line.right, quoted)
    return _MeasuredLine(
        StyledLine(left, right, line.indent),
        count_columns(joined_text(left)),
        count_columns(joined_text(right)),
    )


def _sanitize_spans(spans: Iterable[StyledSpan], quoted: str) -> Spans:
    safe = []
    for span in spans:
        text = sanitize_name(span.text)
        safe.append(span._replace(text=quoted.format(text) if span.quoted else text))
    return tuple(safe)


def _right_column(lines: Sequence[_MeasuredLine], room: int, width: int | None) -> int:
    """The column where the right parts begin: after the longest left part.

    A left part that is very long, or that would leave no room for some right part, does not count.
    """
    max_left = max(MAX_LEFT, (width or 0) // 2)
    column = max((each.left for each in lines if each.left <= max_left), default=0)
    return min([column, *(room - each.right for each in lines)])


def _stacked(line: StyledLine, width: int | None) -> list[Spans]:
    """The rows of a line with its right part below the left one."""
    rows = _break_spans(line.left, line.indent, width)
    if line.right:
        margin = StyledSpan(" " * min(line.indent, (width or 0) // 2))
        rows += _break_spans((margin, *line.right), line.indent, width)
    return rows


def _break_spans(spans: Spans, indent: int, width: int | None) -> list[Spans]:
    text = joined_text(spans)
    if width is None or count_columns(text) <= width:
        return [spans]
    # This import loads rich
    from zkchat_cli.terminal.text_layout import line_breaks

    indent = min(indent, width // 2)
    breaks = line_breaks(text, width)[:1]
    # The rows after the first are indented, and so have less room
    for start in breaks[:1]:
        following = line_breaks(text[start:], max(1, width - indent))
        breaks += [start + each for each in following]
    rows: list[Spans] = []
    for begin, end in pairwise([0, *breaks, len(text)]):
        margin = [StyledSpan(" " * indent)] if rows else []
        end = begin + len(text[begin:end].rstrip())
        rows.append((*margin, *_slice(spans, begin, end)))
    return rows


def _slice(spans: Spans, begin: int, end: int) -> Iterable[StyledSpan]:
    """The spans between two offsets of their joined text, without empty ones."""
    start = 0
    for span in spans:
        text = span.text[max(0, begin - start) : max(0, end - start)]
        if text:
            yield span._replace(text=text)
        start += len(span.text)
