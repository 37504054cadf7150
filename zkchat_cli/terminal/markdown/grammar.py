"""How the lines of Markdown begin: the marks of lists, quotes, headings, code and tables, and what may still become one of them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from zkchat_cli.terminal.markdown.pieces import width

MARKER = r"(?:[-*+]|\d{1,9}[.)])"
UNDECIDED = re.compile(
    rf"(?:[ \t>]|{MARKER}(?=[ \t]|\Z)|\[[ xX]\](?=[ \t]|\Z))*+"
    r"(?:\[[ xX]?|\d{1,9}|\#{1,6}(?:[ \t].*)?|`{1,2}|~{1,2}|`{3,}[^`]*|~{3,}.*|\|.*|[-*_][-*_ \t]*|=+[ \t]*)?\Z",
    re.DOTALL,
)
ROW = re.compile(rf"(?:[ \t>]|{MARKER}(?=[ \t])|\[[ xX]\](?=[ \t]))*+\|")
QUOTE = re.compile(r"[ \t]{0,3}>[ \t]?")
ITEM = re.compile(rf"({MARKER})(?:[ \t]{{1,4}}(?=[^ \t])|[ \t]|\Z)")
TASK = re.compile(r"\[([ xX])\](?:[ \t]+|\Z)")
RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})")
HEADING = re.compile(r"(#{1,6})(?:[ \t]+|\Z)")
CLOSING_MARKS = re.compile(r"[ \t]+#+[ \t]*\Z")
FENCE = re.compile(r"(`{3,})[ \t]*([^`]*)\Z|(~{3,})[ \t]*(.*)\Z", re.DOTALL)
UNDERLINE = re.compile(r"(?:(={2,})|-{2,})[ \t]*\Z")
"""What makes a heading of the line above; the first group: of the first level."""
BLOCK = re.compile(rf">|\#{{1,6}}[ \t]|`{{3}}|~{{3}}|{MARKER}[ \t]")
"""What begins something else than a row of a table."""
LONGEST_TITLE = 60
"""Characters of a line that an underline makes a heading: all of such a line waits for the next one."""
FIRST_CELL = 40
"""Characters of a line within which a bar shows that it may be a table's head, where that does not begin with one."""
_BAR = re.compile(r"\[\[[^\]]*+(?:\]\]|\Z)|`[^`]*+(?:`|\Z)|\\.|(\|)")
"""A bar that parts cells, as the only group; those within links to notes and code do not."""


@dataclass(frozen=True, slots=True)
class Container:
    """A quote, or an item of a list whose content is indented by `indent` columns; a line belongs to it from `least` on."""

    indent: int = 0
    least: int = 0
    marked: int = 0
    """The columns the item's marker is drawn in."""

    @property
    def is_quote(self) -> bool:
        return not self.indent


def indented(line: str) -> tuple[int, str]:
    bare = line.lstrip(" \t")
    return width(line[: len(line) - len(bare)].expandtabs(4)), bare


def within(line: str, containers: Iterable[Container]) -> tuple[str, int]:
    """What of a line stands within these quotes and items, and within how many of them."""
    matched = 0
    for container in containers:
        if container.is_quote:
            quote = QUOTE.match(line)
            if not quote:
                break
            line = line[quote.end() :]
        elif line.strip(" \t"):
            indent, bare = indented(line)
            if indent < container.least:
                break
            line = " " * (indent - min(indent, container.indent)) + bare
        matched += 1
    return line, matched


def may_be_title(line: str) -> bool:
    """Whether a line, or one that begins so, is a heading if an underline follows."""
    return line[:1] not in ("", " ", "\t", ">", "|") and len(line) <= LONGEST_TITLE


def may_be_head(line: str, *, ended: bool) -> bool:
    """Whether a line may be the head of a table (`Name | Size`) that does not begin with a bar, or its beginning become one."""
    if line[:1] in ("", " ", "\t", ">", "|"):
        return False
    return any(found[1] for found in _BAR.finditer(line[: FIRST_CELL + 1])) or (not ended and len(line) <= FIRST_CELL)


def goes_on(item: re.Match[str], bare: str, containers: Iterable[Container]) -> bool:
    """A paragraph goes on with a number, as `2024. ` at a line's beginning; an item there would begin with 1, or in a list."""
    if any(not each.is_quote for each in containers):
        return False
    return item.end() == len(bare) or (item[1][0].isdigit() and item[1][:-1] != "1")
