"""What a note's text says about itself: headings, links, tags, and which lines are code.

The block scanner tells what each line is; within a line the reading goes from mark to mark and
never backwards, so its time is linear.
"""

from typing import NamedTuple

from zkchat_cli.markdown.block_scanner import BlockScanner
from zkchat_cli.markdown.inline import InlineReader
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault.links.wikilinks import WrittenLink, note_link, parse_wikilink


class Heading(NamedTuple):
    """`path`: the texts of the headings above it in the outline, the outermost first. An
    `underlined` one takes a second line.
    """

    line: int
    level: int
    text: str
    path: tuple[str, ...] = ()
    underlined: bool = False


class Markup(NamedTuple):
    """Everything in the text's order. `code`: line ranges of fenced and indented code."""

    headings: tuple[Heading, ...] = ()
    links: tuple[WrittenLink, ...] = ()
    tags: tuple[str, ...] = ()
    code: tuple[tuple[int, int], ...] = ()


_WITH_INLINE = frozenset(("paragraph", "item", "table", "heading", "definition"))
_CODE = frozenset(("fence", "code", "fence_end", "indented"))
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
        self._inline = InlineReader(text)
        self._headings: list[Heading] = []
        self._links: list[WrittenLink] = []
        self._tags: list[str] = []
        self._code: list[tuple[int, int]] = []
        # The headings above the next line
        self._outline: list[Heading] = []
        self._line = 0
        # Where reading continues: after the end of a line if a comment or math runs over it
        self._resume = 0

    def read(self) -> Markup:
        """The whole markup; to be called once."""
        text = self._text
        scan = BlockScanner().scan
        begin = 0
        above = 0
        kind_above = ""
        front_lines = self._front_lines
        for number, line in enumerate(text.split("\n"), start=1):
            end = begin + len(line)
            self._line = number
            if number <= front_lines:
                # `#` begins a comment in YAML
                if "[[" in line and not line.startswith("#"):
                    self._read_front_line(begin, end)
            elif begin < self._resume:
                kind_above = ""
                self._read_inline(self._resume, end)
            else:
                scanned = scan(line)
                kind = scanned.kind
                if kind in _WITH_INLINE:
                    if kind == "heading":
                        title = _CLOSING_MARKS.sub("", line[scanned.start + scanned.level :])
                        self._add_heading(number, scanned.level, title.strip())
                    self._read_inline(begin + scanned.start, end, at_start=True)
                elif kind == "underline":
                    title = text[above:begin].strip()
                    self._add_heading(number - 1, scanned.level, title, underlined=True)
                elif kind in _CODE:
                    self._add_code(kind, kind_above)
                kind_above = kind
            above = begin
            begin = end + 1
        return Markup(
            tuple(self._headings), tuple(self._links), tuple(self._tags), tuple(self._code)
        )

    def _read_front_line(self, begin: int, end: int) -> None:
        at = begin
        while (at := self._text.find("[[", at, end)) >= 0:
            link = parse_wikilink(self._text, at, end, self._line)
            if link:
                self._links.append(link)
            at = link.end if link else at + 1

    def _add_heading(self, line: int, level: int, title: str, *, underlined: bool = False) -> None:
        outline = self._outline
        while outline and outline[-1].level >= level:
            outline.pop()
        path = (*outline[-1].path, outline[-1].text) if outline else ()
        heading = Heading(line, level, title, path, underlined)
        outline.append(heading)
        self._headings.append(heading)

    def _add_code(self, kind: str, kind_above: str) -> None:
        """Add a line of code to the block above, unless it begins one."""
        continues = kind != "fence" and (kind != "indented" or kind_above == "indented")
        first = self._code.pop()[0] if continues else self._line
        self._code.append((first, self._line))

    def _read_inline(self, begin: int, end: int, *, at_start: bool = False) -> None:
        """Read the links and tags of a line from `begin` on."""
        self._resume = begin
        for token in self._inline.read(begin, end, at_start=at_start):
            self._resume = token.end
            if token.kind == "tag":
                tag = self._text[token.start + 1 : token.end]
                if not tag.isdigit():
                    self._tags.append(tag.rstrip("/"))
            elif token.link:
                link = note_link(self._text, token.link, self._line)
                if link:
                    self._links.append(link)
