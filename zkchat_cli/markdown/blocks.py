"""The blocks of a Markdown text: what each line is by the rules of CommonMark, and the lines
gathered to paragraphs, items and tables.

The scanner reads line by line and never looks back, so it can follow a text that is still coming
in, and it is fast enough for the index (markdown-it needs 24 ms for 4.7 kB). Link reference
definitions are one line, and HTML blocks are paragraphs. Blocks are read without comments (`<!--
-->`, `%% %%`), a template's commands (`<% %>`), styles, scripts and blocks of math.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from zkchat_cli.markdown import inline
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import split_sentences

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
_ROWS = ("table", "delimiter")
_QUOTE = lazy_pattern(r"(?:[ \t]*+>)++[ \t]?")
_ITEM = lazy_pattern(rf"{LIST_MARKER}(?:[ \t]{{1,4}}|$)")
_FENCE = lazy_pattern(r"`{3,}(?=[^`]*+$)|~{3,}")
_HEADING = lazy_pattern(r"(#{1,6})(?=[ \t\r]|$)")
_UNDERLINE = lazy_pattern(r" {0,3}(?:(=+)|--+)[ \t\r]*+$")
_DELIMITER_ROW = lazy_pattern(r"(?=[^-]*-)(?=[^|]*\|)[\s:|-]++$")
_RULE = lazy_pattern(r"(?:(?:\*[ \t]*+){3,}|(?:-[ \t]*+){3,}|(?:_[ \t]*+){3,}|={3,})\s*+$")
_DEFINITION = lazy_pattern(r"\[[^\[\]]++\]:")


class BlockScanner:
    """Scan every line of a text once, in order. With `lenient` it allows for how models write: a
    fence in a list ends at its closing mark only, however its code is indented, and `---` below a
    paragraph is a rule, not a heading.
    """

    def __init__(self, *, lenient: bool = False) -> None:
        self.fence: Fence | None = None  # the open code block, if any
        self._lenient = lenient
        # Columns by which the content of the open list item is indented; 0 outside of lists
        self._item = 0
        # Whether indentation continues a block rather than beginning code
        self._in_paragraph = False
        self._previous = _BLANK

    def scan(self, line: str) -> ScannedLine:
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
        indent = _columns(line, 0, at)
        is_code = (
            not self._in_paragraph
            and indent >= 4
            and indent >= (self._item if indent >= self._item else 0) + 4
        )
        if (
            line.startswith(">", at)
            and not (is_code and not self.fence)
            and (quote := _QUOTE.match(line))
        ):
            quotes = quote[0].count(">")
            at = end - len(line[quote.end() :].lstrip(" \t\r"))
            indent = _columns(line, quote.end(), at)
        if fence := self.fence:
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
            if is_inside:
                return ScannedLine("fence_end", at, quotes)
        if at == end:
            self._in_paragraph = False
            return ScannedLine("blank", at, quotes)
        if is_code and not quotes:
            return ScannedLine("indented", at, in_list=indent >= self._item > 0)
        return self._scan_text(line, at, quotes, indent)

    def _scan_text(self, line: str, at: int, quotes: int, indent: int) -> ScannedLine:
        first = at
        column = indent
        head = line[at]
        marker = _ITEM.match(line, at)
        if marker and line.startswith(head, marker.end()) and _RULE.match(line, at):
            marker = None  # `- - -`
        heading = _HEADING.match(line, at) if head == "#" and indent < 4 else None
        if indent < self._item and (
            not self._in_paragraph or marker or heading or _FENCE.match(line, at)
        ):
            # Only a paragraph may continue without its indentation
            self._item = 0
        in_list = indent >= self._item > 0
        while marker:
            column += marker.end() - at
            at = marker.end()
            self._item = column
            # Lists in a quote in a list count columns from the quote marker on
            if quote := _QUOTE.match(line, at):
                at = quote.end()
                column = 0
                quotes = quotes + quote[0].count(">")
            marker = _ITEM.match(line, at)
        in_paragraph = self._in_paragraph
        self._in_paragraph = True
        if opening := _FENCE.match(line, at):
            inner = 0 if self._lenient or column < self._item else self._item
            self.fence = Fence(
                opening[0],
                quotes,
                inner,
                nested=at != first or quotes > 0 or column >= (self._item or 4),
            )
            return ScannedLine("fence", at, quotes, 0, in_list)
        if at != first:
            return ScannedLine("item", at, quotes, 0, in_list)
        if heading:
            self._in_paragraph = False
            return ScannedLine("heading", at, quotes, len(heading[1]), in_list)
        is_below_text = (
            in_paragraph
            and self._previous.kind == "paragraph"
            and not (quotes or self._previous.quotes)
        )
        may_underline = is_below_text and (head == "=" or (head == "-" and not self._lenient))
        if may_underline and (underline := _UNDERLINE.match(line)):
            self._in_paragraph = False
            return ScannedLine("underline", at, 0, 1 if underline[1] else 2)
        kind: LineKind = "paragraph"
        if head in "|:-" and _DELIMITER_ROW.match(line, at):
            kind = "delimiter"
        elif head == "|" or (self._previous.kind in _ROWS and "|" in line):
            kind = "table"
        elif head in "*-_=" and _RULE.match(line, at):
            self._in_paragraph = False
            kind = "rule"
        elif head == "[" and _DEFINITION.match(line, at):
            kind = "definition"
        return ScannedLine(kind, at, quotes, 0, in_list)


def _columns(line: str, start: int, end: int) -> int:
    """The columns that white space takes; a tab is taken for four."""
    return end - start + 3 * line.count("\t", start, end)


BlockKind = Literal[
    "paragraph", "item", "heading", "callout", "table", "code", "indented", "definition"
]

# Stands in a line where a comment was
GAP = "\0"
_CLOSING = {
    "<!--": "-->",
    "%%": "%%",
    "<%": "%>",
    "<style": "</style>",
    "<script": "</script>",
    "$$": "$$",
}
_HIDDEN_OR_CODE = lazy_pattern(r"(`++)|<!--|%%|<%|<style\b|<script\b|\$\$")
_CONTAINER = lazy_pattern(rf"[ \t>]*+(?:{LIST_MARKER}[ \t]++)?")
_CALLOUT = lazy_pattern(r"\[![^\[\]]*\][+-]?[ \t]*(.*)")
_BAR = lazy_pattern(r"(?<!\\)\|")
_DELIMITER = lazy_pattern(r"[\s:|-]++")
_NO_PROSE = lazy_pattern(
    rf"\^[\w-]+$|!{inline.WIKILINK}(?:$|\s*\^)|!{inline.LOOSE_LINK}$|<[^<>]*>$"
)
"""Lines with only a block id, an image or a tag."""


class MarkdownBlock(NamedTuple):
    """`lines` without the markers of their container; of code without its fences, of a heading its
    text, of a callout its title, of a table its rows, the delimiter row among them. `level`: of a
    heading; of a list item the column where its text begins.
    """

    kind: BlockKind
    lines: tuple[str, ...]
    line: int
    quoted: bool = False
    level: int = 0

    @property
    def text(self) -> str:
        return " ".join(self.lines)


def blocks(text: str, *, lenient: bool = False) -> Iterator[MarkdownBlock]:
    """The blocks in the text's order, one by one: a caller that needs only the first does not pay
    for the others.
    """
    return _BlockReader(text, lenient=lenient).read()


def sentences(text: str) -> list[str]:
    """The sentences of a Markdown text: of paragraphs, list items and quotes; not of code, tables,
    headings or comments.
    """
    prose = (
        block
        for block in blocks(text, lenient=True)
        if block.kind in ("paragraph", "item", "callout")
    )
    return [sentence for block in prose for sentence in block_sentences(block)]


def block_sentences(block: MarkdownBlock) -> list[str]:
    """The sentences of a paragraph, list item or callout's title; none spans a comment, an image or
    a block id.
    """
    prose = " ".join(GAP if _NO_PROSE.match(line) else line for line in block.lines)
    return (
        [sentence for part in prose.split(GAP) for sentence in split_sentences(part)]
        if GAP in prose
        else split_sentences(prose)
    )


def code_blocks(text: str) -> list[str]:
    """The fenced code in an answer, without its fences and the indentation that these have."""
    return [
        "\n".join(block.lines).rstrip("\n")
        for block in blocks(text, lenient=True)
        if block.kind == "code"
    ]


def table_cells(row: str) -> list[str]:
    """The texts of a table row's cells, empty ones left out."""
    cells = (cell.replace("\\|", "|").strip() for cell in _BAR.split(row))
    return [cell for cell in cells if cell]


def is_delimiter_row(row: str) -> bool:
    return bool(_DELIMITER.fullmatch(row))


class _BlockReader:
    """Gathers the lines of the open block, which has no `kind` while none is open."""

    def __init__(self, text: str, *, lenient: bool) -> None:
        self._text = text
        self._scanner = BlockScanner(lenient=lenient)
        self._kind: BlockKind | None = None
        self._lines: list[str] = []
        self._first_line = self._level = self._fence_start = 0
        self._quoted = False
        # Where a comment ends that runs over lines
        self._visible_from = 0
        self._unclosed: set[str] = set()

    def read(self) -> Iterator[MarkdownBlock]:
        begin = 0
        may_hide = any(mark in self._text for mark in _CLOSING)
        for number, written in enumerate(self._text.split("\n"), 1):
            line = (
                self._visible(begin, begin + len(written))
                if may_hide and not self._scanner.fence
                else written
            )
            if line is not None:
                yield from self._add(line, self._scanner.scan(line), number)
            begin += len(written) + 1
        yield from self._close()

    def _add(self, line: str, scanned: ScannedLine, number: int) -> Iterator[MarkdownBlock]:
        """Add a scanned line to the open block or to a new one; the blocks that end with it."""
        text = line[scanned.start :].strip()
        match scanned.kind:
            case "paragraph" if self._kind in ("paragraph", "item") and self._quoted >= bool(
                scanned.quotes
            ):
                # A quote may continue without its marker, but not the other way round
                self._lines.append(text)
            case "paragraph":
                continues_item = scanned.in_list and self._kind in (None, "heading", "definition")
                callout = _CALLOUT.match(text) if scanned.quotes else None
                yield from self._open(
                    "item" if continues_item else "paragraph",
                    number,
                    scanned,
                    *(() if callout else (text,)),
                )
                if callout:
                    self._first_line = number + 1
                    if callout[1]:
                        yield MarkdownBlock("callout", (callout[1],), number, quoted=True)
            case "code":
                self._lines.append(
                    line[min(self._fence_start, len(line) - len(line.lstrip(" \t>"))) :]
                )
            case "fence":
                self._fence_start = scanned.start
                yield from self._open("code", number, scanned)
            case "indented" if self._kind == "indented":
                self._lines.append(text)
            case "indented" | "item" | "definition":
                yield from self._open(scanned.kind, number, scanned, text)
            case "heading":
                yield from self._open(
                    "heading", number, scanned, text[scanned.level :].strip().rstrip("# \t")
                )
            case "underline" if self._lines:
                self._kind, self._lines, self._level = (
                    "heading",
                    [" ".join(self._lines)],
                    scanned.level,
                )
            case "table" | "delimiter" if self._kind == "table":
                self._lines.append(text)
            case "table" | "delimiter":
                header = (
                    [self._lines.pop()]
                    if scanned.kind == "delimiter" and self._lines and self._kind == "paragraph"
                    else []
                )
                yield from self._open("table", number - len(header), scanned, *header, text)
            case _:  # blank, rule, fence_end
                yield from self._close()

    def _open(
        self, kind: BlockKind, number: int, scanned: ScannedLine, *lines: str
    ) -> Iterator[MarkdownBlock]:
        yield from self._close()
        self._kind = kind
        self._lines = list(lines)
        self._first_line = number
        self._quoted = scanned.quotes > 0
        self._level = scanned.start if kind == "item" else scanned.level

    def _close(self) -> Iterator[MarkdownBlock]:
        if self._lines or self._kind == "code":
            yield MarkdownBlock(
                self._kind or "paragraph",
                tuple(self._lines),
                self._first_line,
                self._quoted,
                self._level,
            )
        self._kind = None
        self._lines = []

    def _visible(self, begin: int, end: int) -> str | None:
        """The line without its comments; None where nothing is left of it."""
        hidden = begin < self._visible_from
        at = begin = max(begin, self._visible_from)
        pieces: list[str] = []
        while at < end and (mark := _HIDDEN_OR_CODE.search(self._text, at, end)):
            opening = mark[0]
            at = mark.end()
            if mark[1]:
                at = max(at, self._text.find(opening, at, end) + len(opening))
            elif opening == "$$" and (
                self._text.find("$$", at, end) >= 0
                or not _CONTAINER.fullmatch(self._text, begin, mark.start())
            ):
                at = end  # math within a paragraph is text
            elif (closing_mark := _CLOSING[opening]) not in self._unclosed:
                closing = self._text.find(closing_mark, at)
                # The first of a kind that nothing closes hides the rest of the text if its line
                # begins with it
                if closing < 0:
                    self._unclosed.add(closing_mark)
                    if opening == "<%" or self._text[begin : mark.start()].strip():
                        continue
                pieces.append(self._text[begin : mark.start()])
                at = begin = self._visible_from = (
                    closing + len(closing_mark) if closing >= 0 else len(self._text) + 1
                )
        left = GAP.join([*pieces, self._text[begin:end]])
        return left if left.strip(" \t\0") or not (hidden or pieces) else None
