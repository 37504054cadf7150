"""What is above a line of a note: its headings, and the items of a list that it is below."""

from collections.abc import Sequence

# Below the lowest heading
_LOWEST = 7


def heading_level(line: str) -> int:
    """The number of marks of a heading; 0 for another line."""
    marks = len(line) - len(line.lstrip("#"))
    return marks if line[marks : marks + 1] == " " else 0


def names_above(lines: Sequence[str], number: int) -> list[str]:
    """The headings above a line, by its number from 1, and the items that it is nested in; the
    innermost first.
    """
    found: list[str] = []
    level = _LOWEST
    indent = _indent_of(lines[number - 1])
    for line in reversed(lines[: number - 1]):
        of_heading = heading_level(line)
        if of_heading and of_heading < level:
            level = of_heading
            indent = 0
            found.append(line.strip("# \t"))
        elif line.strip() and _indent_of(line) < indent:
            indent = _indent_of(line)
            found.append(line.strip())
    return found


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
