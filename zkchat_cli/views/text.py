"""Styled lines as values: text, style and link target. The view model between views and screen.

A terminal shows styles and links; a pipe gets the text alone. The screen sanitizes and wraps.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

PROMPT = "you › "
"""What comes before the user's messages."""
_SPOKEN_SIGNS = {"✓": "ok: ", "✗": "problem: ", "→": "current: ", "──": "", "══": ""}
"""What a screen reader gets for the signs that begin a line."""
_SIGN = re.compile(rf"^(\s*(?:- )?)({'|'.join(_SPOKEN_SIGNS)}) ", re.MULTILINE)


class StyledSpan(NamedTuple):
    """Text in one style (`"bold green"`). `path`, relative to the vault, is the note that a click opens.

    `quoted` text is put between » and « where there are no styles.
    A screen reader gets `spoken` instead of the text, where that is a sign or a drawing.
    """

    text: str
    style: str = ""
    path: str | None = None
    quoted: bool = False
    spoken: str | None = None


class StyledLine(NamedTuple):
    """One line. `right` is a second column, aligned over all lines shown together, or below where there is no room.

    Wrapped text continues `indent` columns in. Line ends inside the text are shown, not printed.
    """

    left: tuple[StyledSpan, ...]
    right: tuple[StyledSpan, ...] = ()
    indent: int = 4


def styled_line(text: str = "", style: str = "", indent: int = 4) -> StyledLine:
    """A line in one style."""
    return StyledLine((StyledSpan(text, style),) if text else (), indent=indent)


def spoken_text(text: str) -> str:
    """Lines with words for the signs at their beginnings."""
    return _SIGN.sub(lambda match: match[1] + _SPOKEN_SIGNS[match[2]], text)


def spoken_line(line: StyledLine) -> StyledLine:
    """A line for a screen reader: words for its signs and drawings."""
    first, *rest = map(_spoken_span, line.left or (StyledSpan(""),))
    return line._replace(left=(first._replace(text=spoken_text(first.text)), *rest), right=tuple(map(_spoken_span, line.right)))


def _spoken_span(span: StyledSpan) -> StyledSpan:
    text = span.text if span.spoken is None else span.spoken
    return span._replace(text=f"“{text}” (quoted)" if span.quoted else text, quoted=False)


def plain_text(lines: Iterable[StyledLine]) -> str:
    """The text alone, as in a pipe."""
    return "\n".join(
        "".join(map(_span_text, each.left)) + ("   " + "".join(map(_span_text, each.right)) if each.right else "") for each in lines
    )


def _span_text(span: StyledSpan) -> str:
    return f"»{span.text}«" if span.quoted else span.text
