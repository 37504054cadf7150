"""What each line of a Markdown text is by the rules of CommonMark.

The scanner reads line by line and never looks back, so it can follow a text that is still coming
in, and it is fast enough for the index (markdown-it needs 24 ms for 4.7 kB). Link reference
definitions are one line, and HTML blocks are paragraphs.
"""

import re
from typing import Literal, NamedTuple

from zkchat_cli.text.patterns import lazy_pattern

_Code = Literal["fence", "code", "fence_end", "indented"]
LineKind = Literal[
    "blank",
    "paragraph",
    "heading",
    "underline",
    "item",
    "table",
    "delimiter",
    "rule",
    "definition",
    _Code,
]
"""`underline` makes the paragraph line above it a heading. `table` is a row, `delimiter` the row
`|---|` under a table's header. `fence` opens a code block, `code` are its lines, `fence_end` closes
it; `indented` is code without a fence.
"""


class ScannedLine(NamedTuple):
    """`start`: where the text begins, behind the markers of quotes and list items. `level`: of a
    heading. `in_list`: inside a list item that an earlier line opened.
    """

    kind: LineKind
    start: int = 0
    quotes: int = 0
    level: int = 0
    in_list: bool = False


class Fence(NamedTuple):
    """An open code block. A line with fewer quote markers or less indentation ends the container
    that it is in, and the block with it.
    """

    mark: str
    quotes: int
    indent: int
    nested: bool


# The mark of a list item, as a part of other patterns
LIST_MARKER = r"(?:[-*+]|[0-9]{1,9}[.)])"
_PARAGRAPH = ScannedLine("paragraph")
_BLANK = ScannedLine("blank")
_CONTAINER_BEGINS = frozenset(" \t\r>")
# First characters of what may be more than a paragraph's next line
_MAY_BEGIN_BLOCK = frozenset("-+*#=_`~|:[0123456789")
_MAY_BEGIN_ITEM = frozenset("-+*0123456789")
_ROWS = ("table", "delimiter")
_QUOTE = lazy_pattern(r"(?:[ \t]*+>)++[ \t]?")
_ITEM = lazy_pattern(rf"{LIST_MARKER}(?:[ \t]{{1,4}}|$)")
_FENCE = lazy_pattern(r"`{3,}(?=[^`]*+$)|~{3,}")
_HEADING = lazy_pattern(r"(#{1,6})(?=[ \t\r]|$)")
_UNDERLINE = lazy_pattern(r" {0,3}(?:(=+)|--+)[ \t\r]*+$")
_DELIMITER_ROW = lazy_pattern(r"(?=[^-]*-)(?=[^|]*\|)[\s:|-]++$")
_RULE = lazy_pattern(r"(?:(?:\*[ \t]*+){3,}|(?:-[ \t]*+){3,}|(?:_[ \t]*+){3,}|={3,})\s*+$")
_DEFINITION = lazy_pattern(r"\[[^\[\]]++\]:")


class _Place(NamedTuple):
    """Where the text of a line begins, behind how many quote markers, and in which column."""

    at: int
    quotes: int
    column: int


class BlockScanner:
    """Scan every line of a text once, in order. With `lenient` it allows for how models write: a
    fence in a list ends at its closing mark only, however its code is indented, and `---` below a
    paragraph is a rule, not a heading.
    """

    def __init__(self, *, lenient: bool = False) -> None:
        # The open code block, if any
        self.fence: Fence | None = None
        self._lenient = lenient
        # Columns by which the content of the open list item is indented; 0 outside of lists
        self._item = 0
        # Whether indentation continues a block rather than beginning code
        self._in_paragraph = False
        self._previous = _BLANK

    def scan(self, line: str) -> ScannedLine:
        """What the next line of the text is."""
        if self.fence or self._previous.kind in _ROWS or line[:1] in _CONTAINER_BEGINS:
            self._previous = self._scan_container(line)
        elif line[:1] in _MAY_BEGIN_BLOCK:
            self._previous = self._scan_text(line, 0, 0, 0)
        else:
            if line and not self._in_paragraph:
                self._item = 0
            self._in_paragraph = bool(line)
            self._previous = _PARAGRAPH if line else _BLANK
        return self._previous

    def _scan_container(self, line: str) -> ScannedLine:
        """Scan a line that may begin with white space or quote markers, or be in a code block."""
        end = len(line)
        quotes = 0
        at = end - len(line.lstrip(" \t\r"))
        indent = _columns(line, 0, at) if at else 0
        is_code = indent >= 4 and not self._in_paragraph and self._is_code_indent(indent)
        may_be_quote = line.startswith(">", at) and (self.fence is not None or not is_code)
        quote = _QUOTE.match(line) if may_be_quote else None
        if quote:
            quotes = quote[0].count(">")
            at = end - len(line[quote.end() :].lstrip(" \t\r"))
            indent = _columns(line, quote.end(), at)
        if self.fence:
            scanned = self._scan_fenced(line, self.fence, _Place(at, quotes, indent))
            if scanned:
                return scanned
        if at == end:
            self._in_paragraph = False
            return ScannedLine("blank", at, quotes)
        if is_code and not quotes:
            return ScannedLine("indented", at, in_list=indent >= self._item > 0)
        return self._scan_text(line, at, quotes, indent)

    def _is_code_indent(self, indent: int) -> bool:
        """Whether a line indented by at least four columns is code if no paragraph is open: then it
        has four more than the content of the list item that it is in.
        """
        return not self._item <= indent < self._item + 4

    def _scan_fenced(self, line: str, fence: Fence, place: _Place) -> ScannedLine | None:
        """Scan a line in an open code block; None if its container ends here, and the block."""
        at, quotes, indent = place
        is_inside = quotes >= fence.quotes and (indent >= fence.indent or at == len(line))
        closes = (
            quotes == fence.quotes
            and line.startswith(fence.mark, at)
            and not line[at:].strip(" \t\r").strip(fence.mark[0])
        )
        if is_inside and not closes:
            return ScannedLine("code", at, quotes)
        self.fence = None
        self._in_paragraph = False
        return ScannedLine("fence_end", at, quotes) if is_inside else None

    def _scan_text(self, line: str, at: int, quotes: int, indent: int) -> ScannedLine:
        """Scan a line with text that is not code, from its first character on."""
        head = line[at]
        heading = _HEADING.match(line, at) if head == "#" and indent < 4 else None
        marker = _item_marker(line, at)
        opening = _FENCE.match(line, at) if head in "`~" else None
        # Only a paragraph may continue without its indentation
        may_continue = self._in_paragraph and not (marker or heading or opening)
        if indent < self._item and not may_continue:
            self._item = 0
        in_list = indent >= self._item > 0
        if marker:
            return self._scan_item(line, marker, _Place(at, quotes, indent), in_list=in_list)
        continues = self._in_paragraph
        self._in_paragraph = True
        if opening:
            self.fence = self._opened_fence(opening[0], quotes, indent, in_item=False)
            return ScannedLine("fence", at, quotes, 0, in_list)
        if heading:
            self._in_paragraph = False
            return ScannedLine("heading", at, quotes, len(heading[1]), in_list)
        level = self._underline_level(line, head) if continues and not quotes else 0
        if level:
            self._in_paragraph = False
            return ScannedLine("underline", at, 0, level)
        kind = self._bare_kind(line, at)
        self._in_paragraph = kind != "rule"
        return ScannedLine(kind, at, quotes, 0, in_list)

    def _scan_item(
        self, line: str, marker: re.Match[str], place: _Place, *, in_list: bool
    ) -> ScannedLine:
        """Scan a line that begins list items, one within the other, and perhaps a code block."""
        at, quotes, column = place
        inner: re.Match[str] | None = marker
        while inner:
            column += inner.end() - at
            at = inner.end()
            self._item = column
            # Lists in a quote in a list count columns from the quote marker on
            if quote := _QUOTE.match(line, at):
                at = quote.end()
                column = 0
                quotes += quote[0].count(">")
            inner = _ITEM.match(line, at)
        self._in_paragraph = True
        opening = _FENCE.match(line, at)
        if opening:
            self.fence = self._opened_fence(opening[0], quotes, column, in_item=True)
            return ScannedLine("fence", at, quotes, 0, in_list)
        return ScannedLine("item", at, quotes, 0, in_list)

    def _opened_fence(self, mark: str, quotes: int, column: int, *, in_item: bool) -> Fence:
        indent = 0 if self._lenient or column < self._item else self._item
        nested = in_item or quotes > 0 or column >= (self._item or 4)
        return Fence(mark, quotes, indent, nested)

    def _underline_level(self, line: str, head: str) -> int:
        """The level of the heading that the line makes of the paragraph above it; 0 if it makes
        none.
        """
        above = self._previous
        may_underline = head == "=" or (head == "-" and not self._lenient)
        if not may_underline or above.kind != "paragraph" or above.quotes:
            return 0
        underline = _UNDERLINE.match(line)
        if not underline:
            return 0
        return 1 if underline[1] else 2

    def _bare_kind(self, line: str, at: int) -> LineKind:
        """The kind of a line that is part of no other block."""
        head = line[at]
        if head in "|:-" and _DELIMITER_ROW.match(line, at):
            return "delimiter"
        if head == "|" or (self._previous.kind in _ROWS and "|" in line):
            return "table"
        if head in "*-_=" and _RULE.match(line, at):
            return "rule"
        if head == "[" and _DEFINITION.match(line, at):
            return "definition"
        return "paragraph"


def _item_marker(line: str, at: int) -> re.Match[str] | None:
    """The marker of a list item that begins here; `- - -` is a rule."""
    if line[at] not in _MAY_BEGIN_ITEM:
        return None
    marker = _ITEM.match(line, at)
    if marker and line.startswith(line[at], marker.end()) and _RULE.match(line, at):
        return None
    return marker


def _columns(line: str, start: int, end: int) -> int:
    """The columns that white space takes; a tab is taken for four."""
    return end - start + 3 * line.count("\t", start, end)
