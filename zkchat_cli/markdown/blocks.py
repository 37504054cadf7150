"""The blocks of a Markdown text: its lines gathered to paragraphs, list items, headings, tables and
code; and the sentences in them.

Blocks are read without comments (`<!-- -->`, `%% %%`), a template's commands (`<% %>`), styles,
scripts and blocks of math.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from zkchat_cli.markdown import inline
from zkchat_cli.markdown.block_marks import LIST_MARKER
from zkchat_cli.markdown.block_scanner import BlockScanner, ScannedLine
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import split_sentences

BlockKind = Literal[
    "paragraph", "item", "heading", "callout", "table", "code", "indented", "definition"
]

# What a line has in place of a comment
GAP = "\0"
# What is not read in blocks, with what closes it
_CLOSING = {
    **inline.COMMENTS,
    "<%": "%>",
    "<style": "</style>",
    "<script": "</script>",
    "$$": "$$",
}
_HIDDEN_OR_CODE = lazy_pattern(r"(`++)|<!--|%%|<%|<style\b|<script\b|\$\$")
_CONTAINER = lazy_pattern(rf"[ \t>]*+(?:{LIST_MARKER}[ \t]++)?")
_CALLOUT = lazy_pattern(r"\[![^\[\]]*\][+-]?[ \t]*(.*)")
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
        """Its lines as one."""
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
    found: list[str] = []
    for block in blocks(text, lenient=True):
        if block.kind in ("paragraph", "item", "callout"):
            found += block_sentences(block)
    return found


def block_sentences(block: MarkdownBlock) -> list[str]:
    """The sentences of a paragraph, list item or callout's title; none spans a comment, an image or
    a block id.
    """
    prose = " ".join(GAP if _NO_PROSE.match(line) else line for line in block.lines)
    return [sentence for part in prose.split(GAP) for sentence in split_sentences(part)]


def code_blocks(text: str) -> list[str]:
    """The fenced code in an answer, without its fences and the indentation that these have."""
    return [
        "\n".join(block.lines).rstrip("\n")
        for block in blocks(text, lenient=True)
        if block.kind == "code"
    ]


class _BlockReader:
    """Gathers the lines of the open block, which has no `kind` while none is open."""

    def __init__(self, text: str, *, lenient: bool) -> None:
        self._text = text
        self._scanner = BlockScanner(lenient=lenient)
        self._kind: BlockKind | None = None
        self._lines: list[str] = []
        self._first_line = 0
        self._level = 0
        self._quoted = False
        # Where the mark that opens the code block begins in its line
        self._fence_start = 0
        # Blocks that ended with the last line
        self._finished: list[MarkdownBlock] = []

    def read(self) -> Iterator[MarkdownBlock]:
        begin = 0
        hiding = _HiddenText(self._text)
        for number, written in enumerate(self._text.split("\n"), 1):
            line: str | None = written
            if hiding.may_hide and not self._scanner.fence:
                line = hiding.visible(begin, begin + len(written))
            if line is not None:
                self._add(line, self._scanner.scan(line), number)
                yield from self._finished
                self._finished.clear()
            begin += len(written) + 1
        self._close()
        yield from self._finished

    def _add(self, line: str, scanned: ScannedLine, number: int) -> None:
        """Add a scanned line to the open block or to a new one."""
        text = line[scanned.start :].strip()
        match scanned.kind:
            case "paragraph" if self._is_row(text, scanned):
                self._add_row(text, scanned, number)
            case "paragraph" | "html":
                self._add_prose(text, scanned, number)
            case "code":
                indent = len(line) - len(line.lstrip(" \t>"))
                self._lines.append(line[min(self._fence_start, indent) :])
            case "fence":
                self._fence_start = scanned.start
                self._open("code", number, scanned)
            case "indented" | "item" | "definition":
                if self._kind != "indented" or scanned.kind != "indented":
                    self._open(scanned.kind, number, scanned)
                self._lines.append(text)
            case "heading":
                self._open("heading", number, scanned)
                self._lines.append(text[scanned.level :].strip().rstrip("# \t"))
            case "table" | "delimiter":
                self._add_row(text, scanned, number)
            case "underline" if self._lines:
                self._kind = "heading"
                self._level = scanned.level
                self._lines = [" ".join(self._lines)]
            case _:  # blank, rule, fence_end
                self._close()

    def _is_row(self, text: str, scanned: ScannedLine) -> bool:
        """Whether a line is a row of a table that is cut off above: an excerpt may begin in it."""
        is_below_row = self._kind == "table" and scanned.continues
        return text.startswith("|") or (is_below_row and "|" in text)

    def _add_prose(self, text: str, scanned: ScannedLine, number: int) -> None:
        """Add a line of a paragraph, or of HTML, which is read as one."""
        continues = scanned.continues or scanned.kind == "html"
        if continues and self._kind in ("paragraph", "item"):
            self._lines.append(text)
            return
        is_quoted = scanned.quotes > 0
        continues_item = scanned.in_list and self._kind in (None, "heading", "definition")
        self._open("item" if continues_item else "paragraph", number, scanned)
        callout = _CALLOUT.match(text) if is_quoted else None
        if not callout:
            self._lines.append(text)
            return
        self._first_line = number + 1
        if callout[1]:
            self._finished.append(MarkdownBlock("callout", (callout[1],), number, quoted=True))

    def _add_row(self, text: str, scanned: ScannedLine, number: int) -> None:
        """Add a row of a table; the line above a delimiter row is the header."""
        if self._kind != "table":
            is_below_header = scanned.kind == "delimiter" and self._kind in (
                "paragraph",
                "item",
            )
            header = [self._lines.pop()] if is_below_header and self._lines else []
            self._open("table", number - len(header), scanned)
            self._lines += header
        self._lines.append(text)

    def _open(self, kind: BlockKind, number: int, scanned: ScannedLine) -> None:
        self._close()
        self._kind = kind
        self._first_line = number
        self._quoted = scanned.quotes > 0
        self._level = scanned.start if kind == "item" else scanned.level

    def _close(self) -> None:
        if self._lines or self._kind == "code":
            self._finished.append(
                MarkdownBlock(
                    self._kind or "paragraph",
                    tuple(self._lines),
                    self._first_line,
                    self._quoted,
                    self._level,
                )
            )
        self._kind = None
        self._lines = []


class _HiddenText:
    """The comments of a text, a template's commands, styles, scripts and blocks of math: what a
    reader does not see, or no sentence is in. Call `visible` for the lines in their order.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.may_hide = any(mark in text for mark in _CLOSING)
        # Where a comment ends that runs over lines
        self._visible_from = 0
        # What nothing closes
        self._unclosed: set[str] = set()

    def visible(self, begin: int, end: int) -> str | None:
        """What is left of a line; None if nothing is."""
        text = self._text
        hidden = begin < self._visible_from
        at = begin = max(begin, self._visible_from)
        pieces: list[str] = []
        while at < end and (mark := _HIDDEN_OR_CODE.search(text, at, end)):
            opening = mark[0]
            at = mark.end()
            if mark[1]:
                at = max(at, text.find(opening, at, end) + len(opening))
            elif opening == "$$" and not self._is_math_block(begin, mark, end):
                # Math within a paragraph is text
                at = end
            elif (hidden_end := self._hidden_end(begin, mark)) is not None:
                pieces.append(text[begin : mark.start()])
                at = begin = self._visible_from = hidden_end
        left = GAP.join([*pieces, text[begin:end]])
        return left if left.strip(" \t\0") or not (hidden or pieces) else None

    def _is_math_block(self, begin: int, mark: re.Match[str], end: int) -> bool:
        is_first = bool(_CONTAINER.fullmatch(self._text, begin, mark.start()))
        return is_first and self._text.find("$$", mark.end(), end) < 0

    def _hidden_end(self, begin: int, mark: re.Match[str]) -> int | None:
        """Where ends what is hidden from a mark on; None if nothing closes it. The first of a kind
        that nothing closes hides the rest of the text if its line begins with it.
        """
        closing_mark = _CLOSING[mark[0]]
        if closing_mark in self._unclosed:
            return None
        closing = self._text.find(closing_mark, mark.end())
        if closing >= 0:
            return closing + len(closing_mark)
        self._unclosed.add(closing_mark)
        if mark[0] == "<%" or self._text[begin : mark.start()].strip():
            return None
        return len(self._text) + 1
