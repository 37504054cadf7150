"""What a note's text says about itself: headings, links, tags, and which lines are code.

The block scanner tells what each line is; a paragraph is then read from mark to mark and never
backwards, so the time is linear.
"""

from typing import NamedTuple

from zkchat_cli.markdown.block_scanner import BlockScanner
from zkchat_cli.markdown.inline import COMMENTS, InlineReader
from zkchat_cli.markdown.tables import cell_spans
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault.links.wikilinks import WrittenLink, note_link, parse_wikilink


class Heading(NamedTuple):
    """`path`: the texts of the headings above it in the outline, the outermost first. `more_lines`:
    how many it takes behind its first, if it is underlined.
    """

    line: int
    level: int
    text: str
    path: tuple[str, ...] = ()
    more_lines: int = 0


class Markup(NamedTuple):
    """Everything in the text's order. `code`: line ranges of fenced and indented code."""

    headings: tuple[Heading, ...] = ()
    links: tuple[WrittenLink, ...] = ()
    tags: tuple[str, ...] = ()
    code: tuple[tuple[int, int], ...] = ()


_CODE = frozenset(("fence", "code", "fence_end", "indented"))
_PARAGRAPH = frozenset(("paragraph", "item", "definition"))
# What may continue on the next line whatever that is
_SPANNING = (*COMMENTS, "$$")
# Behind the text of a heading
_CLOSING_MARKS = lazy_pattern(r"[ \t]#++\s*+$")


def read_markup(text: str, front_lines: int = 0) -> Markup:
    """The markup of `text`. Its first `front_lines` lines are front matter, in which only wikilinks
    are read.
    """
    return _MarkupReader(text, front_lines).read()


class _MarkupReader:
    """Reads one text from its first line to its last."""

    def __init__(self, text: str, front_lines: int) -> None:
        self._text = text
        self._front_lines = front_lines
        self._scan = BlockScanner().scan
        self._inline = InlineReader(text)
        self._may_span = any(mark in text for mark in _SPANNING)
        self._headings: list[Heading] = []
        self._links: list[WrittenLink] = []
        self._tags: list[str] = []
        self._code: list[tuple[int, int]] = []
        # The headings above the next line
        self._outline: list[Heading] = []
        self._line = 0
        self._kind_above = ""
        # Where the texts of the lines of the open paragraph begin, behind the marks of quotes and
        # lists, and where the last one ends; the first lines may have been read
        self._paragraph: list[int] = []
        self._paragraph_end = 0
        self._lines_read = 0
        # Where reading continues: after the end of a line if a comment or math runs over it
        self._resume = 0

    def read(self) -> Markup:
        """The whole markup; to be called once."""
        begin = 0
        front_lines = self._front_lines
        for number, line in enumerate(self._text.split("\n"), start=1):
            end = begin + len(line)
            self._line = number
            if number <= front_lines:
                # `#` begins a comment in YAML
                if "[[" in line and not line.startswith("#"):
                    self._read_front_line(begin, end)
            elif begin < self._resume:
                self._kind_above = ""
                self._read_inline(self._resume, end, number)
            elif line or self._kind_above != "blank":
                self._read_line(line, begin)
            begin = end + 1
        self._line += 1
        self._end_paragraph()
        return Markup(
            tuple(self._headings), tuple(self._links), tuple(self._tags), tuple(self._code)
        )

    def _read_line(self, line: str, begin: int) -> None:
        """Read a line outside of front matter and comments."""
        scanned = self._scan(line)
        kind = scanned.kind
        start = begin + scanned.start
        if kind in _PARAGRAPH:
            if not scanned.continues:
                self._end_paragraph()
            self._add_to_paragraph(start, begin + len(line))
        elif kind == "underline":
            self._add_underlined(scanned.level)
        elif kind == "delimiter":
            self._read_header()
        else:
            self._end_paragraph()
            if kind == "heading":
                title = _CLOSING_MARKS.sub("", line[scanned.start + scanned.level :])
                self._add_heading(self._line, scanned.level, title.strip())
                self._read_inline(start, begin + len(line), self._line, at_start=True)
            elif kind == "table":
                self._read_row(start, begin + len(line), self._line)
            elif kind in _CODE:
                self._add_code(kind, self._kind_above)
        self._kind_above = kind

    def _read_front_line(self, begin: int, end: int) -> None:
        at = begin
        while (at := self._text.find("[[", at, end)) >= 0:
            link = parse_wikilink(self._text, at, end, self._line)
            if link:
                self._links.append(link)
            at = link.end if link else at + 1

    def _add_to_paragraph(self, begin: int, end: int) -> None:
        """Add a line, and read what may run over its end at once: whether the next line is hidden
        must be known before it is scanned.
        """
        spans = self._may_span and any(self._text.find(mark, begin, end) >= 0 for mark in _SPANNING)
        if spans:
            self._read_paragraph()
        self._paragraph.append(begin)
        self._paragraph_end = end
        if spans:
            self._lines_read += 1
            self._read_inline(begin, end, self._line, at_start=True)

    def _read_paragraph(self) -> None:
        """Read the lines of the open paragraph that have not been read, as one: code and links may
        run over their ends.
        """
        unread = len(self._paragraph) - self._lines_read
        if unread:
            begin = self._paragraph[-unread]
            self._read_inline(begin, self._paragraph_end, self._line - unread, at_start=True)
            self._lines_read += unread

    def _end_paragraph(self) -> None:
        if self._paragraph:
            self._read_paragraph()
            self._paragraph.clear()
            self._lines_read = 0

    def _read_header(self) -> None:
        """Read the last line of the paragraph as the header of a table."""
        begin = self._paragraph.pop()
        end = self._paragraph_end
        is_read = self._lines_read > len(self._paragraph)
        self._paragraph_end = begin
        self._line -= 1
        self._end_paragraph()
        if not is_read:
            self._read_row(begin, end, self._line)

    def _read_row(self, begin: int, end: int, line: int) -> None:
        """Read the cells of a row: nothing runs over their borders."""
        for cell_begin, cell_end in cell_spans(self._text, begin, end):
            self._read_inline(cell_begin, cell_end, line)

    def _add_underlined(self, level: int) -> None:
        """Make a heading of the paragraph."""
        count = len(self._paragraph)
        ends = [self._text.find("\n", begin) for begin in self._paragraph]
        lines = [self._text[b:e].strip() for b, e in zip(self._paragraph, ends, strict=True)]
        self._add_heading(self._line - count, level, " ".join(lines), count)
        self._end_paragraph()

    def _add_heading(self, line: int, level: int, title: str, more_lines: int = 0) -> None:
        outline = self._outline
        while outline and outline[-1].level >= level:
            outline.pop()
        path = (*outline[-1].path, outline[-1].text) if outline else ()
        heading = Heading(line, level, title, path, more_lines)
        outline.append(heading)
        self._headings.append(heading)

    def _add_code(self, kind: str, kind_above: str) -> None:
        """Add a line of code to the block above, unless it begins one."""
        continues = kind != "fence" and (kind != "indented" or kind_above == "indented")
        first = self._code.pop()[0] if continues else self._line
        self._code.append((first, self._line))

    def _read_inline(self, begin: int, end: int, line: int, *, at_start: bool = False) -> None:
        """Read the links and tags of some lines; `line` is the number of the first."""
        self._resume = begin
        counted = begin
        for token in self._inline.read(begin, end, at_start=at_start):
            self._resume = token.end
            if token.kind == "tag":
                tag = self._text[token.start + 1 : token.end]
                if not tag.isdigit():
                    self._tags.append(tag.rstrip("/"))
            elif token.link:
                line += self._text.count("\n", counted, token.start)
                counted = token.start
                link = note_link(self._text, token.link, line)
                if link:
                    self._links.append(link)
