"""The marks that begin blocks of Markdown, and the columns before them. Positions are those in a
line with expanded tabs.
"""

import re

from zkchat_cli.text.patterns import lazy_pattern

# The mark of a list item, as a part of other patterns
LIST_MARKER = r"(?:[-*+]|[0-9]{1,9}[.)])"
# Columns from which on an indented line is code
CODE_INDENT = 4
FENCE = lazy_pattern(r"`{3,}(?=[^`]*+$)|~{3,}")
HEADING = lazy_pattern(r"(#{1,6})(?=[ \t]|$)")
RULE = lazy_pattern(r"(?:(?:\*[ \t]*+){3,}|(?:-[ \t]*+){3,}|(?:_[ \t]*+){3,})$")
_MAY_BEGIN_ITEM = frozenset("-+*0123456789")
_CONTAINER_MARKS = lazy_pattern(r"[ \t>*+\-0-9.)]*+")
_SPACES = lazy_pattern(" *+")
_ITEM = lazy_pattern(rf"{LIST_MARKER}(?= |$)")


def begins_leaf(text: str, first: int) -> bool:
    """Whether a heading, a code block or a rule begins here, even within a paragraph."""
    match text[first]:
        case "#":
            return HEADING.match(text, first) is not None
        case "`" | "~":
            return FENCE.match(text, first) is not None
        case "*" | "-" | "_":
            return RULE.match(text, first) is not None
    return False


def text_begin(text: str, at: int) -> int:
    """The position of the next character that is not a space."""
    if not text.startswith(" ", at):
        return at
    spaces = _SPACES.match(text, at)
    return spaces.end() if spaces else at


def is_quote_mark(text: str, at: int, first: int) -> bool:
    return first - at < CODE_INDENT and text.startswith(">", first)


def behind_quote_mark(text: str, mark: int) -> int:
    """Where the content of a quote begins: a space behind its mark belongs to the mark."""
    return mark + 2 if text.startswith(" ", mark + 1) else mark + 1


def content_begin(text: str, marker_end: int) -> int:
    """Where the content of a list item begins; behind more than four spaces it is code."""
    first = text_begin(text, marker_end)
    return first if first - marker_end <= CODE_INDENT else marker_end + 1


def item_marker(text: str, at: int) -> re.Match[str] | None:
    """The marker of a list item that begins here; `- - -` is a rule."""
    if text[at] not in _MAY_BEGIN_ITEM:
        return None
    marker = _ITEM.match(text, at)
    return None if marker and begins_leaf(text, at) else marker


def may_interrupt(marker: re.Match[str]) -> bool:
    """Whether the list item may begin within a paragraph: with text, and only a list from 1 on."""
    number = marker[0][:-1]
    return marker.end() < len(marker.string) and (not number or int(number) == 1)


def expand_tabs(text: str) -> str:
    """The text with spaces in place of the tabs before and between the marks of containers."""
    marks = _CONTAINER_MARKS.match(text)
    end = marks.end() if marks else 0
    return text[:end].expandtabs(CODE_INDENT) + text[end:]


def written_position(line: str, column: int) -> int:
    """The position in a line that is in this column when its tabs are expanded."""
    at = 0
    reached = 0
    while reached < column and at < len(line):
        reached += CODE_INDENT - reached % CODE_INDENT if line[at] == "\t" else 1
        at += 1
    return at
