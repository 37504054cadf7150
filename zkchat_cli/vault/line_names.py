"""What is above a line of a note: its headings, and the items of a list that it is below."""

from collections.abc import Iterator, Sequence


def names_above(lines: Sequence[str], number: int) -> tuple[str, ...]:
    """The headings above a line, by its number from 1, and the items that it is nested in; the
    innermost first.
    """
    names: tuple[str, ...] = ()
    for found in names_of_lines(lines[:number]):
        names = found
    return names


def names_of_lines(lines: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The names above each line."""
    headings: list[tuple[int, str]] = []
    items: list[tuple[int, str]] = []
    for line in lines:
        level = _heading_level(line)
        indent = len(line) - len(line.lstrip(" \t"))
        if level:
            items.clear()
            _leave(headings, level)
        elif line.strip():
            _leave(items, indent)
        yield tuple(text for _, text in (*reversed(items), *reversed(headings)))
        if level:
            headings.append((level, line.strip("# \t")))
        elif line.strip():
            items.append((indent, line.strip()))


def _leave(names: list[tuple[int, str]], level: int) -> None:
    """Drop the names that are not above this level."""
    while names and names[-1][0] >= level:
        names.pop()


def _heading_level(line: str) -> int:
    """The number of marks of a heading; 0 for another line."""
    marks = len(line) - len(line.lstrip("#"))
    return marks if line[marks : marks + 1] == " " else 0
