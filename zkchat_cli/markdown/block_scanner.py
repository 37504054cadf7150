"""What each line of a Markdown text is by the rules of CommonMark and GitHub's tables.

The scanner reads line by line and never looks back, so it can follow a text that is still coming
in, and it is fast enough for the index (markdown-it needs 24 ms for 4.7 kB). As in CommonMark's own
algorithm, a line first continues the open quotes and list items, then opens new ones, and what is
left belongs to a leaf: a paragraph, code, HTML. tests/commonmark_documents.py compares it with
markdown-it; docs/reference/markdown.md lists what is read as Obsidian reads it.
"""

import re
from typing import Literal, NamedTuple

from zkchat_cli.markdown.block_marks import (
    CODE_INDENT,
    FENCE,
    HEADING,
    RULE,
    begins_leaf,
    behind_quote_mark,
    content_begin,
    expand_tabs,
    is_quote_mark,
    item_marker,
    may_interrupt,
    text_begin,
    written_position,
)
from zkchat_cli.markdown.html_blocks import html_block_end
from zkchat_cli.markdown.tables import is_delimiter_of
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
    "html",
    _Code,
]
"""`underline` makes a heading of the paragraph above it. `item` begins a list item with a
paragraph, or without text. `delimiter` is the row `|---|`, which makes the line above it the header
of a table; `table` is a row below it. `fence` opens a code block, `code` are its lines, `fence_end`
closes it; `indented` is code without a fence.
"""


class ScannedLine(NamedTuple):
    """`start`: where the text begins, behind the markers of quotes and list items. `level`: of a
    heading. `in_list`: inside a list item that an earlier line opened. `continues`: whether it is
    the next line of a paragraph.
    """

    kind: LineKind
    start: int = 0
    quotes: int = 0
    level: int = 0
    in_list: bool = False
    continues: bool = False


class Fence(NamedTuple):
    """An open code block. `nested`: in a quote or list item, which ends with it."""

    mark: str
    nested: bool


# An open container is the columns by which a list item's content is indented, or this
_QUOTE = 0
_BLANKS = " \t\r"
_PARAGRAPH = ScannedLine("paragraph")
_NEXT_OF_PARAGRAPH = ScannedLine("paragraph", continues=True)
_BLANK = ScannedLine("blank")
# First characters of lines that may be more than a line of a paragraph
_MAY_BEGIN_BLOCK = frozenset(" \t\r>-+*#=_`~|:[<0123456789")
_MAY_BEGIN_CONTAINER = frozenset(">-+*0123456789")
_MAY_BEGIN_LEAF = frozenset("#`~*-_<[")
_UNDERLINE = lazy_pattern(r"(=+|-+)$")
_DEFINITION = lazy_pattern(r"\[[^\[\]]++\]:")

_Leaf = Literal["none", "paragraph", "definition", "fence", "html", "table"]


class _Place(NamedTuple):
    """Where a line is read: `at` is behind its containers, `first` its next character that is not
    a space. `matched`: the open containers that it continues, or has opened.
    """

    at: int
    first: int
    matched: int
    quotes: int
    in_list: bool = False
    begins_item: bool = False

    @property
    def indent(self) -> int:
        """The columns between the containers and the text."""
        return self.first - self.at


class BlockScanner:
    """Scan every line of a text once, in order. With `lenient` it allows for how models write: a
    fence in a list ends at its closing mark only, however its code is indented, and `---` below a
    paragraph is a rule, not a heading.
    """

    def __init__(self, *, lenient: bool = False) -> None:
        # The open code block, if any
        self.fence: Fence | None = None
        self._lenient = lenient
        # The open quotes and list items, the outermost first
        self._containers: list[int] = []
        # Whether the innermost container is an item without content: a blank line ends it
        self._is_empty_item = False
        self._leaf: _Leaf = "none"
        # What ends an open block of HTML; None for a blank line
        self._html_end: re.Pattern[str] | None = None
        # The text above if it may be the header of a table
        self._above = ""

    def scan(self, line: str) -> ScannedLine:
        """What the next line of the text is."""
        first = line[:1]
        if first in _MAY_BEGIN_BLOCK or self._leaf not in ("none", "paragraph"):
            return self._scan_line(line)
        if not first:
            self._leaf = "none"
            if self._containers:
                self._end_containers()
            return _BLANK
        if self._leaf == "paragraph":
            self._above = "" if self._containers else line
            return _NEXT_OF_PARAGRAPH
        self._containers.clear()
        self._is_empty_item = False
        self._leaf = "paragraph"
        self._above = line
        return _PARAGRAPH

    def _end_containers(self) -> None:
        """End the containers that an empty line ends: an item without content, and quotes."""
        if self._is_empty_item:
            self._containers.pop()
            self._is_empty_item = False
        if _QUOTE in self._containers:
            del self._containers[self._containers.index(_QUOTE) :]

    def _scan_line(self, line: str) -> ScannedLine:
        """Scan a line that may begin a block, or belong to one that is open."""
        text = line.rstrip(_BLANKS)
        has_tabs = "\t" in text
        if has_tabs:
            text = expand_tabs(text)
        place = self._continue_containers(text)
        scanned = self._scan_in_leaf(text, place)
        if scanned is None:
            if place.first == len(text):
                scanned = self._end_leaf(place)
            else:
                scanned = self._scan_text(text, place)
        if has_tabs:
            return scanned._replace(start=written_position(line, scanned.start))
        return scanned

    def _continue_containers(self, text: str) -> _Place:
        """Read the marks and the indentation of the open containers that the line continues."""
        first = text_begin(text, 0)
        if not self._containers:
            return _Place(0, first, 0, 0)
        at = 0
        matched = 0
        quotes = 0
        in_list = False
        for indent in self._containers:
            if indent == _QUOTE:
                if not is_quote_mark(text, at, first):
                    break
                at = behind_quote_mark(text, first)
                quotes += 1
            elif first - at >= indent or self._is_lenient_fence:
                at = min(at + indent, first)
                in_list = True
            elif first < len(text) or self._ends_empty_item(matched):
                break
            else:
                at = first
            matched += 1
            first = text_begin(text, at)
        return _Place(at, first, matched, quotes, in_list)

    @property
    def _is_lenient_fence(self) -> bool:
        return self._lenient and self._leaf == "fence"

    def _ends_empty_item(self, index: int) -> bool:
        """Whether a blank line ends the container because it is an item without content."""
        return self._is_empty_item and index == len(self._containers) - 1

    def _scan_in_leaf(self, text: str, place: _Place) -> ScannedLine | None:
        """Scan a line of the open code, HTML or table; None if it is none of these."""
        if self._leaf in ("none", "paragraph", "definition"):
            return None
        if place.matched == len(self._containers):
            match self._leaf:
                case "fence":
                    return self._scan_fenced(text, place)
                case "html" if place.first < len(text) or self._html_end:
                    return self._scan_html(text, place)
                case "table" if self._is_row(text, place):
                    return ScannedLine("table", place.first, place.quotes, 0, place.in_list)
        self.fence = None
        self._leaf = "none"
        return None

    def _scan_fenced(self, text: str, place: _Place) -> ScannedLine:
        """Scan a line of an open code block."""
        mark = self.fence.mark if self.fence else ""
        closes = (
            (place.indent < CODE_INDENT or self._lenient)
            and text.startswith(mark, place.first)
            and not text[place.first :].strip(mark[0])
        )
        if not closes:
            return ScannedLine("code", place.first, place.quotes, 0, place.in_list)
        self.fence = None
        self._leaf = "none"
        return ScannedLine("fence_end", place.first, place.quotes, 0, place.in_list)

    def _scan_html(self, text: str, place: _Place) -> ScannedLine:
        """Scan a line of a block of HTML, which may end with it."""
        if self._html_end and self._html_end.search(text, place.at):
            self._leaf = "none"
        return ScannedLine("html", place.first, place.quotes, 0, place.in_list)

    def _is_row(self, text: str, place: _Place) -> bool:
        """Whether a line below a table is one of its rows: any text that begins no other block."""
        if place.first == len(text) or place.indent >= CODE_INDENT:
            return False
        begins = self._begins_container(text, place) or begins_leaf(text, place.first)
        return not (begins or html_block_end(text, place.first, in_paragraph=True))

    def _begins_container(self, text: str, place: _Place) -> bool:
        return text[place.first] == ">" or item_marker(text, place.first) is not None

    def _end_leaf(self, place: _Place) -> ScannedLine:
        """Scan a blank line, which ends a paragraph and the quotes without their marks."""
        del self._containers[place.matched :]
        self._is_empty_item = False
        self._leaf = "none"
        return ScannedLine("blank", place.first, place.quotes, 0, place.in_list)

    def _scan_text(self, text: str, place: _Place) -> ScannedLine:
        """Scan a line with text that belongs to no open code, HTML or table."""
        was_paragraph = self._leaf in ("paragraph", "definition")
        is_inside = place.matched == len(self._containers)
        continued = was_paragraph and is_inside
        if text[place.first] in _MAY_BEGIN_CONTAINER:
            opened = self._open_containers(text, place, in_paragraph=continued)
            if opened is not place:
                return self._scan_leaf(text, opened)
        if was_paragraph and place.indent >= CODE_INDENT:
            return self._continue_paragraph(text, place, is_lazy=not is_inside)
        if continued and (ended := self._scan_below_paragraph(text, place)):
            return ended
        if was_paragraph and not self._interrupts_paragraph(text, place.first):
            return self._continue_paragraph(text, place, is_lazy=not is_inside)
        del self._containers[place.matched :]
        return self._scan_leaf(text, place)

    def _open_containers(self, text: str, place: _Place, *, in_paragraph: bool) -> _Place:
        """Open the quotes and list items that begin in a line."""
        while place.first < len(text) and place.indent < CODE_INDENT:
            if text[place.first] == ">":
                indent = _QUOTE
                at = behind_quote_mark(text, place.first)
            else:
                marker = item_marker(text, place.first)
                if not marker or (in_paragraph and not may_interrupt(marker)):
                    break
                at = content_begin(text, marker.end())
                # An item without text has its content one column behind the marker
                indent = max(at, marker.end() + 1) - place.at
            del self._containers[place.matched :]
            self._containers.append(indent)
            in_paragraph = False
            is_item = indent != _QUOTE
            quotes = place.quotes + (not is_item)
            first = text_begin(text, at)
            begins_item = is_item or place.begins_item
            place = _Place(at, first, place.matched + 1, quotes, place.in_list, begins_item)
        return place

    def _scan_below_paragraph(self, text: str, place: _Place) -> ScannedLine | None:
        """Scan a line that says what the paragraph above it is; None if it does not."""
        if self._above and is_delimiter_of(text[place.first :], self._above):
            self._leaf = "table"
            return ScannedLine("delimiter", place.first, place.quotes, 0, place.in_list)
        underline = _UNDERLINE.match(text, place.first)
        may_underline = underline and not (self._lenient and underline[1][0] == "-")
        if not underline or not may_underline or self._leaf == "definition":
            return None
        self._leaf = "none"
        level = 1 if underline[1][0] == "=" else 2
        return ScannedLine("underline", place.first, place.quotes, level, place.in_list)

    def _interrupts_paragraph(self, text: str, first: int) -> bool:
        if text[first] not in _MAY_BEGIN_LEAF:
            return False
        if begins_leaf(text, first) or _DEFINITION.match(text, first):
            return True
        return html_block_end(text, first, in_paragraph=True) is not None

    def _continue_paragraph(self, text: str, place: _Place, *, is_lazy: bool) -> ScannedLine:
        """Scan the next line of a paragraph; a lazy one has not the marks of its containers."""
        may_be_header = not is_lazy and place.indent < CODE_INDENT
        self._above = text[place.first :] if may_be_header else ""
        return ScannedLine("paragraph", place.first, place.quotes, 0, place.in_list, continues=True)

    def _scan_leaf(self, text: str, place: _Place) -> ScannedLine:
        """Scan the text of a line that begins a block."""
        first = place.first
        self._is_empty_item = place.begins_item and first == len(text)
        self._leaf = "none"
        level = 0
        kind: LineKind
        if first == len(text):
            kind = "item" if self._is_empty_item else "blank"
        elif place.indent >= CODE_INDENT:
            kind = "indented"
        elif text[first] not in _MAY_BEGIN_LEAF:
            kind = self._open_paragraph(text, place)
        elif heading := HEADING.match(text, first):
            kind = "heading"
            level = len(heading[1])
        elif fence := FENCE.match(text, first):
            kind = self._leaf = "fence"
            self.fence = Fence(fence[0], nested=bool(self._containers))
        elif RULE.match(text, first):
            kind = "rule"
        elif html := html_block_end(text, first, in_paragraph=False):
            kind = self._open_html(text, first, html.end)
        else:
            kind = self._open_paragraph(text, place)
        return ScannedLine(kind, first, place.quotes, level, place.in_list)

    def _open_html(self, text: str, first: int, end: re.Pattern[str] | None) -> LineKind:
        self._html_end = end
        self._leaf = "none" if end and end.search(text, first) else "html"
        return "html"

    def _open_paragraph(self, text: str, place: _Place) -> LineKind:
        self._above = text[place.first :]
        if not place.begins_item and _DEFINITION.match(text, place.first):
            self._leaf = "definition"
            return "definition"
        self._leaf = "paragraph"
        return "item" if place.begins_item else "paragraph"
