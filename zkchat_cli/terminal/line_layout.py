"""`StyledLine` values as rows of a screen: the right parts in one column, long lines broken between words.

A pipe gets lines of any length, measured without rich: importing it costs 40 ms. rich.table cannot put a cell below the row instead of
beside it, which narrow lists of sources need.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise

from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.views.text import StyledLine, StyledSpan

Spans = tuple[StyledSpan, ...]
GAP = "   "
MAX_LEFT = 60
"""Columns, or half the screen, up to which a left part moves the column of the right parts; a longer one moves only its own right part."""


def lay_out(lines: Iterable[StyledLine], width: int | None, *, plain: bool) -> list[Spans]:
    """The rows of these lines in `width` columns, or of any length.

    `plain`: the output has no styles.
    """
    safe = [StyledLine(_sanitize_spans(each.left, plain), _sanitize_spans(each.right, plain), each.indent) for each in lines]
    column = _right_column(safe, width)
    return [row for each in safe for row in _line_rows(each, column, width)]


def columns(text: str) -> int:
    """How many columns a text takes, measured without rich, which costs 20 ms."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) or c == "\u200d" else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _sanitize_spans(spans: Iterable[StyledSpan], plain: bool) -> Spans:
    texts = ((span, sanitize_name(span.text)) for span in spans)
    return tuple(span._replace(text=f"»{text}«" if plain and span.quoted else text) for span, text in texts)


def _right_column(lines: Sequence[StyledLine], width: int | None) -> int:
    """Where the right parts begin, without the gap: as many of the lines that fit as possible are aligned."""
    sizes = [(columns(_joined_text(each.left)), columns(_joined_text(each.right))) for each in lines if each.right]
    fitting = [(left, right) for left, right in sizes if width is None or left + len(GAP) + right <= width]
    if not fitting:
        return 0
    widest = max([left for left, _ in fitting if left <= max(MAX_LEFT, (width or 0) // 2)], default=0)
    return widest if width is None else min(widest, width - len(GAP) - max(right for _, right in fitting))


def _line_rows(line: StyledLine, column: int, width: int | None) -> list[Spans]:
    if not line.right:
        return _break_spans(line.left, line.indent, width)
    left = columns(_joined_text(line.left))
    if width is None or left + len(GAP) + columns(_joined_text(line.right)) <= width:
        return [(*line.left, StyledSpan(" " * max(0, column - left) + GAP), *line.right)]
    below = (StyledSpan(" " * min(line.indent, width // 2)), *line.right)
    return [row for part in (line.left, below) for row in _break_spans(part, line.indent, width)]


def _break_spans(spans: Spans, indent: int, width: int | None) -> list[Spans]:
    text = _joined_text(spans)
    if width is None or columns(text) <= width:
        return [spans]
    from zkchat_cli.terminal.text_layout import hanging_breaks  # loads rich

    indent = min(indent, width // 2)
    breaks = [0, *hanging_breaks(text, width, indent), len(text)]
    rows = [_slice_spans(spans, start, start + len(text[start:end].rstrip())) for start, end in pairwise(breaks)]
    return [rows[0], *((StyledSpan(" " * indent), *row) for row in rows[1:])]


def _slice_spans(spans: Spans, start: int, end: int) -> Spans:
    """The characters from `start` to `end` of these spans."""
    parts: list[StyledSpan] = []
    for span in spans:
        if part := span.text[max(0, start) : max(0, end)]:
            parts.append(span if part == span.text else StyledSpan(part, span.style, span.path))
        start, end = start - len(span.text), end - len(span.text)
    return tuple(parts)


def _joined_text(spans: Iterable[StyledSpan]) -> str:
    return "".join(span.text for span in spans)
