"""What each line of a Markdown text is, by the rules of CommonMark for fences, lists, quotes and indented code.

The scanner reads line by line and never looks back, so it can follow a text that is still coming in, and it is fast enough for the index
(markdown-it needs 24 ms for 4.7 kB). Link reference definitions are one line, HTML blocks are paragraphs, comments are left to the callers.
"""

from typing import Literal, NamedTuple

from zkchat_cli.text.patterns import lazy_pattern

_Code = Literal["fence", "code", "fence_end", "indented"]
LineKind = Literal["blank", "paragraph", "heading", "underline", "item", "table", "delimiter", "rule", "definition", _Code]
"""`underline` makes the paragraph line above it a heading. `table` is a row, `delimiter` the row `|---|` under a table's header.
`fence` opens a code block, `code` are its lines, `fence_end` closes it; `indented` is code without a fence."""


class ScannedLine(NamedTuple):
    """`start`: where the text begins, behind the markers of quotes and list items. `level`: of a heading. `in_list`: inside a list item
    that an earlier line opened."""

    kind: LineKind
    start: int = 0
    quotes: int = 0
    level: int = 0
    in_list: bool = False


class Fence(NamedTuple):
    """An open code block. A line with fewer quote markers or less indentation ends the container that it is in, and the block with it."""

    mark: str
    quotes: int
    indent: int
    nested: bool


LIST_MARKER = r"(?:[-*+]|[0-9]{1,9}[.)])"  # the mark of a list item, as a part of other patterns
_PARAGRAPH, _BLANK = ScannedLine("paragraph"), ScannedLine("blank")
_MAY_BEGIN_BLOCK = frozenset(" \t\r>-+*#=_`~|:[0123456789")
"""First characters of the lines that may be more than a paragraph's next line."""
_CONTAINER_BEGINS = frozenset(" \t\r>")
_ITEM_BEGINS = frozenset("-*+0123456789")
_FENCE_BEGINS = frozenset("`~")
_QUOTE = lazy_pattern(r"(?:[ \t]*+>)++[ \t]?")
_ITEM = lazy_pattern(rf"{LIST_MARKER}(?:[ \t]{{1,4}}|$)")
_FENCE = lazy_pattern(r"`{3,}(?=[^`]*+$)|~{3,}")
_HEADING = lazy_pattern(r"(#{1,6})(?=[ \t\r]|$)")
_UNDERLINE = lazy_pattern(r" {0,3}(?:(=+)|--+)[ \t\r]*+$")
_DELIMITER = lazy_pattern(r"(?=[^-]*-)(?=[^|]*\|)[\s:|-]++$")
_RULE = lazy_pattern(r"(?:(?:\*[ \t]*+){3,}|(?:-[ \t]*+){3,}|(?:_[ \t]*+){3,}|={3,})\s*+$")
_DEFINITION = lazy_pattern(r"\[[^\[\]]++\]:")


class BlockScanner:
    """Scan every line of a text once, in order. With `lenient` it allows for how models write: a fence in a list ends at its closing mark
    only, however its code is indented, and `---` below a paragraph is a rule, not a heading."""

    def __init__(self, *, lenient: bool = False) -> None:
        self.fence: Fence | None = None  # the open code block, if any
        self._lenient = lenient
        self._item = 0  # columns by which the content of the open list item is indented; 0 outside of lists
        self._in_paragraph = False  # whether indentation continues a block rather than beginning code
        self._may_be_heading = False
        self._in_table = False

    def scan(self, line: str) -> ScannedLine:
        if self.fence or self._in_table:
            scanned = self._scan_container(line)
        elif not line:
            self._in_paragraph = self._may_be_heading = False
            return _BLANK
        elif line[0] not in _MAY_BEGIN_BLOCK:
            if not self._in_paragraph:
                self._item = 0
            self._in_paragraph = self._may_be_heading = True
            return _PARAGRAPH
        elif line[0] in _CONTAINER_BEGINS:
            scanned = self._scan_container(line)
        else:
            scanned = self._scan_text(line, 0, 0, 0, 0)
        self._may_be_heading = scanned.kind == "paragraph" and not scanned.quotes
        self._in_table = scanned.kind in ("table", "delimiter")
        return scanned

    def _scan_container(self, line: str) -> ScannedLine:
        """Scan a line that may begin with white space or quote markers, or be in a code block."""
        end, quotes = len(line), 0
        at = end - len(line.lstrip(" \t\r"))
        content, indent = 0, _columns(line, 0, at)
        is_code = not self._in_paragraph and indent >= 4 and indent >= (self._item if indent >= self._item else 0) + 4
        if line.startswith(">", at) and not (is_code and not self.fence) and (quote := _QUOTE.match(line)):
            content, quotes = quote.end(), quote[0].count(">")
            at = end - len(line[content:].lstrip(" \t\r"))
            indent = _columns(line, content, at)
        if fence := self.fence:
            is_inside = quotes >= fence.quotes and (indent >= fence.indent or at == len(line))
            closes = quotes == fence.quotes and line.startswith(fence.mark, at) and not line[at:].strip(" \t\r").strip(fence.mark[0])
            if is_inside and not closes:
                return ScannedLine("code", at, quotes)
            self.fence, self._in_paragraph = None, False
            if is_inside:
                return ScannedLine("fence_end", at, quotes)
        if at == end:
            self._in_paragraph = False
            return ScannedLine("blank", at, quotes)
        if is_code and not quotes:
            return ScannedLine("indented", at, in_list=indent >= self._item > 0)
        return self._scan_text(line, content, at, quotes, indent)

    def _scan_text(self, line: str, content: int, at: int, quotes: int, indent: int) -> ScannedLine:
        first, column, head = at, indent, line[at]
        marker = _ITEM.match(line, at) if head in _ITEM_BEGINS else None
        if marker and line.startswith(head, marker.end()) and _RULE.match(line, at):
            marker = None  # `- - -`
        heading = _HEADING.match(line, at) if head == "#" and indent < 4 else None
        if indent < self._item and (not self._in_paragraph or marker or heading or (head in _FENCE_BEGINS and _FENCE.match(line, at))):
            self._item = 0  # only a paragraph may continue without its indentation
        in_list = indent >= self._item > 0
        while marker:
            column += marker.end() - at
            at, self._item = marker.end(), column
            marker = _ITEM.match(line, at) if line[at : at + 1] in _ITEM_BEGINS else None
        in_paragraph, self._in_paragraph = self._in_paragraph, True
        if line[at : at + 1] in _FENCE_BEGINS and (opening := _FENCE.match(line, at)):
            inner = 0 if self._lenient or column < self._item else self._item
            self.fence = Fence(opening[0], quotes, inner, nested=at != first or quotes > 0 or column >= (self._item or 4))
            return ScannedLine("fence", at, quotes, 0, in_list)
        if at != first:
            return ScannedLine("item", at, quotes, 0, in_list)
        if heading:
            self._in_paragraph = False
            return ScannedLine("heading", at, quotes, len(heading[1]), in_list)
        may_underline = head == "=" or (head == "-" and not self._lenient)
        if may_underline and self._may_be_heading and in_paragraph and not content and (underline := _UNDERLINE.match(line)):
            self._in_paragraph = False
            return ScannedLine("underline", at, 0, 1 if underline[1] else 2)
        kind: LineKind = "paragraph"
        if head in "|:-" and _DELIMITER.match(line, at):
            kind = "delimiter"
        elif head == "|" or (self._in_table and "|" in line):
            kind = "table"
        elif head in "*-_=" and _RULE.match(line, at):
            self._in_paragraph = False
            kind = "rule"
        elif head == "[" and _DEFINITION.match(line, at):
            kind = "definition"
        return ScannedLine(kind, at, quotes, 0, in_list)


def _columns(line: str, start: int, end: int) -> int:
    """The columns that white space takes; a tab is taken for four."""
    return end - start + (3 * line.count("\t", start, end) if end > start else 0)
