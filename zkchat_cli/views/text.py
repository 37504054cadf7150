"""Lines for the screen, as values: what they say, how it is marked, and what it opens. Pure, so that who makes them needs no screen.

A terminal shows styles and makes a place something to click on; a pipe gets the words alone. Nothing in here is escaped or measured:
that is the screen's, which knows where it writes.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StyledSpan:
    """Words of one look. `style` names styles (`"bold green"`); `path`, relative to the vault, is the note that a click opens.

    `quoted` words stand between » and « where nothing can be styled: then the marks are all that tells them apart.
    """

    text: str
    style: str = ""
    path: str | None = None
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class StyledLine:
    """One line. What is `right` stands in a column of its own, one for all lines shown together, or below where there is no room.

    What does not fit goes on below, `indent` columns in. No text in it can begin another line: line ends are shown, not made.
    """

    left: tuple[StyledSpan, ...]
    right: tuple[StyledSpan, ...] = ()
    indent: int = 4


def styled_line(text: str = "", style: str = "", indent: int = 4) -> StyledLine:
    """A line of one look."""
    return StyledLine((StyledSpan(text, style),) if text else (), indent=indent)


def plain_text(lines: Iterable[StyledLine]) -> str:
    """The words alone, as a pipe would get them without columns."""
    return "\n".join("".join(_words(span) for span in each.left) + _right(each) for each in lines)


def _right(of: StyledLine) -> str:
    return "   " + "".join(_words(span) for span in of.right) if of.right else ""


def _words(span: StyledSpan) -> str:
    return f"»{span.text}«" if span.quoted else span.text
