"""Lines laid out on a screen: columns aligned, what does not fit broken between words, each piece still looking and opening as it should.

The words are broken first and dressed afterwards: so no escape sequence is ever measured, or broken in the middle.
"""

import unicodedata
from collections.abc import Callable, Iterable, Sequence

from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.views.text import StyledLine, StyledSpan

Measure = Callable[[str], int]
GAP = "   "
_BARE = StyledSpan("")
WIDEST_LEFT = 60
"""Columns, or else half the screen, up to which what stands before a column of its own moves that column; what is longer pushes it aside
for its own line only."""


def lay_out(lines: Iterable[StyledLine], width: int | None, *, plain: bool) -> list[tuple[StyledSpan, ...]]:
    """The rows of these lines on `width` columns, or as wide as they are. `plain`: nothing can be styled there."""
    if width is None:
        measure: Measure = columns
    else:
        from prompt_toolkit.utils import get_cwidth as measure  # which an interactive chat has loaded, and nothing else needs
    safe = [StyledLine(_safe(each.left, plain), _safe(each.right, plain), each.indent) for each in lines]
    column = _column(safe, width, measure)
    return [row for each in safe for row in _rows(each, column, width, measure)]


def columns(text: str) -> int:
    """How many columns a text takes, without the tables of an interactive chat."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) or c == "\u200d" else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _safe(spans: Iterable[StyledSpan], plain: bool) -> tuple[StyledSpan, ...]:
    made = []
    for span in spans:
        text = sanitize_name(span.text)
        made.append(StyledSpan(f"»{text}«" if plain and span.quoted else text, span.style, span.path))
    return tuple(made)


def _column(lines: Sequence[StyledLine], width: int | None, measure: Measure) -> int:
    """Where what is `right` begins, gap not counted, so that of the lines that fit beside it as many as can are aligned."""
    sizes = [(measure(_text(each.left)), measure(_text(each.right))) for each in lines if each.right]
    fitting = [(left, right) for left, right in sizes if width is None or left + len(GAP) + right <= width]
    if not fitting:
        return 0
    widest = max([left for left, _ in fitting if left <= max(WIDEST_LEFT, (width or 0) // 2)], default=0)
    return widest if width is None else min(widest, width - len(GAP) - max(right for _, right in fitting))


def _rows(line: StyledLine, column: int, width: int | None, measure: Measure) -> list[tuple[StyledSpan, ...]]:
    if not line.right:
        return _broken(line.left, line.indent, width, measure)
    left = measure(_text(line.left))
    if width is None or left + len(GAP) + measure(_text(line.right)) <= width:
        return [(*line.left, StyledSpan(" " * max(0, column - left) + GAP), *line.right)]
    below = (StyledSpan(" " * min(line.indent, width // 2)), *line.right)
    return _broken(line.left, line.indent, width, measure) + _broken(below, line.indent, width, measure)


def _broken(spans: tuple[StyledSpan, ...], indent: int, width: int | None, measure: Measure) -> list[tuple[StyledSpan, ...]]:
    text = _text(spans)
    if width is None or measure(text) <= width:
        return [spans]
    from zkchat_cli.terminal.wrapping import Wrapper  # as above

    wrapper = Wrapper(width, " " * min(indent, width // 2), chops=True)
    return _dressed(wrapper.feed(text) + wrapper.close(), spans)


def _dressed(broken: str, spans: Iterable[StyledSpan]) -> list[tuple[StyledSpan, ...]]:
    """The broken text's rows with the looks of the spans it came from: breaking has changed nothing but spaces."""
    looks = (span for span in spans for c in span.text if c != " ")
    rows = []
    for row in broken.split("\n"):
        pieces: list[tuple[StyledSpan, list[str]]] = []
        spaces = ""
        for c in row:
            if c == " ":
                spaces += c
                continue
            look = next(looks)
            if not pieces or look is not pieces[-1][0]:
                pieces += [(_BARE, [spaces]), (look, [])]
                spaces = ""
            pieces[-1][1].append(spaces + c)
            spaces = ""
        rows.append(tuple(StyledSpan("".join(text), look.style, look.path) for look, text in pieces))
    return rows


def _text(spans: Iterable[StyledSpan]) -> str:
    return "".join(span.text for span in spans)
