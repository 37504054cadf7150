"""Spans of a text: where something begins and ends, in the text's order."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence

_NOT_NEWLINE = re.compile(r"[^\n]")


def is_inside(position: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a position is in one of these spans, which are sorted."""

    def start_of(span: tuple[int, int]) -> int:
        start, _ = span
        return start

    before = bisect_right(spans, position, key=start_of)
    if before == 0:
        return False
    _, end = spans[before - 1]
    return position < end


def replace_spans(
    text: str, spans: Iterable[tuple[int, int]], replace: Callable[[str], str]
) -> str:
    """The text with what `replace` makes of these spans, which are in order."""
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces += [text[at:start], replace(text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


def blank_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with spaces in place of these spans, so that all positions and lines stay the
    same.
    """
    return replace_spans(text, spans, lambda span: _NOT_NEWLINE.sub(" ", span))
