"""What is above a line of a note: its headings, and the items of a list that it is below."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class NamesAbove(NamedTuple):
    """The items that a line is nested in and the headings above it, the innermost first."""

    items: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[str, ...]:
        """All of them, the innermost first."""
        return (*self.items, *self.headings)


def names_of_lines(lines: Sequence[str]) -> Iterator[NamesAbove]:
    """The names above each line."""
    headings: list[tuple[int, str]] = []
    items: list[tuple[int, str]] = []
    for line in lines:
        level = heading_level(line)
        indent = len(line) - len(line.lstrip(" \t"))
        if level:
            items.clear()
            _leave(headings, level)
        elif line.strip():
            _leave(items, indent)
        yield NamesAbove(_innermost_first(items), _innermost_first(headings))
        if level:
            headings.append((level, line.strip("# \t")))
        elif line.strip():
            items.append((indent, line.strip()))


def _innermost_first(names: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(text for _, text in reversed(names))


def _leave(names: list[tuple[int, str]], level: int) -> None:
    """Drop the names that are not above this level."""
    while names and names[-1][0] >= level:
        names.pop()


def heading_level(line: str) -> int:
    """The number of marks of a heading; 0 for another line."""
    marks = len(line) - len(line.lstrip("#"))
    return marks if line[marks : marks + 1] == " " else 0
