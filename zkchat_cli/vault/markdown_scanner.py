"""One walk over a note's text that finds what it says about itself: headings, links, tags, block ids, and which lines are code.

One walk, because each of them depends on what hides it: code, comments, math and escapes. It is line by line for blocks (front matter,
fences, indented code, headings) and from mark to mark within a line, never backwards, so its time is linear in the text whatever the
text is: 5 MB of `[[[[` take a fraction of a second.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import NamedTuple

from zkchat_cli.vault.links.wikilinks import References, WrittenLink, markdown_link_at, wikilink_at


class Heading(NamedTuple):
    """`path` are the texts of the headings it stands under, the outermost first."""

    line: int
    level: int
    text: str
    path: tuple[str, ...] = ()


class Tag(NamedTuple):
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Markup:
    """What a text holds, in its order. `code` are the line ranges of fenced and indented code, `blocks` the lines of `^block-ids`."""

    headings: tuple[Heading, ...] = ()
    links: tuple[WrittenLink, ...] = ()
    tags: tuple[Tag, ...] = ()
    code: tuple[tuple[int, int], ...] = ()
    blocks: tuple[tuple[str, int], ...] = ()


# Every alternative begins with a literal, outside of its group: so the search skips from one such character to the next, ten times faster.
# What precedes a mark is therefore looked at after it.
_MARK = re.compile(
    r"""\\.(?:\\.)*+
      | \[(?P<brackets>\[*+)
      | `(?P<backticks>`*+)
      | <(?P<html>!--)
      | %(?P<comment>%)
      | \$(?P<math>\$?)
      | \#(?<!\S\#)(?P<tag>[^\s#!@$%^&*(),.?":{}|<>\[\]\\'`;+=~，。、；：！？（）「」【】《》“”…]++)
      | \^(?<!\S\^)(?P<block>[A-Za-z0-9-]++)[ \t]*+$
    """,
    re.VERBOSE | re.MULTILINE,
)
_BLOCK_BEGINS = frozenset(" \t>-+*#=`~|<%0123456789")
"""First characters of the lines that may be more than a paragraph's next line."""
_ITEM_BEGINS = frozenset("-*+0123456789")
_SPACE = re.compile(r"[ \t]*+")
_IN_CODE = -2
_QUOTE = re.compile(r"(?: {0,3}>[ \t]?)++")
_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t])[ \t]{1,4}")
_FENCE = re.compile(r"`{3,}(?=[^`\n]*+$)|~{3,}")
_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:(=+)|--+)[ \t]*+$")
_MATH = re.compile(r"\$(?![\s$])(?:[^$\n\\]++|\\.)++(?<!\s)\$(?!\d)")
_RUN = re.compile("``*+")
_PARAGRAPH_ENDS = re.compile(r"\n(?=[ \t>]*+(?:\n|#{1,6}[ \t]|```|~~~|[-*+][ \t]|\d{1,9}[.)][ \t]|\Z))")


def walk(text: str, front_lines: int = 0) -> Markup:
    """Everything in `text`; its first `front_lines` lines are front matter, where nothing but wikilinks counts."""
    return _Walk(text, front_lines).run()


@dataclass(slots=True)
class _FenceState:
    mark: str
    line: int
    depth: int
    indent: int
    """Quote marks and columns of the container it stands in: a line with fewer of them ends the container, and the fence with it."""


@dataclass(slots=True)
class _Walk:
    text: str
    front_lines: int
    headings: list[Heading] = field(default_factory=list)
    links: list[WrittenLink] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)
    code: list[tuple[int, int]] = field(default_factory=list)
    blocks: list[tuple[str, int]] = field(default_factory=list)
    above: list[Heading] = field(default_factory=list)
    """The headings that the next line stands under."""
    line: int = 0
    mark: re.Match[str] | None = None
    mark_at: int = -1
    """The next mark that was looked for, and where it begins: lines before it need no look."""
    resume: int = 0
    """Where reading goes on: past the end of a line when a comment, code or math runs over it."""
    fence: _FenceState | None = None
    item: int = 0
    """Columns by which the content of the open list item is indented; 0 outside of lists."""
    after_blank: bool = True
    paragraph: int = -1
    """Where the line before begins, if it is a paragraph's: an underline makes it a heading."""
    has_markdown_links: bool = True
    references: References | None = None
    """None where no link can name its destination elsewhere."""
    unclosed: set[str] = field(default_factory=set)
    region_end: int = -1
    backticks: dict[int, list[int]] = field(default_factory=dict)

    def run(self) -> Markup:
        self.has_markdown_links = "](" in self.text
        if "]:" in self.text:
            self.references = References(self.text)
        lines = self.text.split("\n")
        begin = self._front_matter(lines[: self.front_lines])
        for line in lines[self.front_lines :]:
            end = begin + len(line)
            self.line += 1
            if begin < self.resume:
                if self.resume < end:
                    self._inline(self.resume, end)
            elif self.fence:
                self._block(line, begin, end)
            elif not line:
                self.after_blank, self.paragraph = True, -1
            elif line[0] in _BLOCK_BEGINS:
                self._block(line, begin, end)
            else:
                if self.after_blank:
                    self.item = 0
                self.after_blank, self.paragraph = False, begin
                if self.mark_at < end:
                    self._inline(begin, end, at_start=True)
            begin = end + 1
        if self.fence:
            self.code.append((self.fence.line, self.line))
        links = self.references.merged(self.links) if self.references else self.links
        return Markup(tuple(self.headings), tuple(links), tuple(self.tags), tuple(self.code), tuple(self.blocks))

    def _front_matter(self, lines: list[str]) -> int:
        """The wikilinks of the front matter, and where the text after it begins."""
        size, begin = sum(map(len, lines)) + len(lines), 0
        if self.text.find("[[", 0, size) < 0:
            self.line = len(lines)
            return size
        for line in lines:
            self.line += 1
            end = begin + len(line)
            at = -1 if line.startswith("#") else self.text.find("[[", begin, end)  # a comment in YAML
            while at >= 0:
                link, after = wikilink_at(self.text, at, end, self.line)
                if link:
                    self.links.append(link)
                at = self.text.find("[[", after if link else at + 1, end)
            begin = end + 1
        return begin

    def _block(self, line: str, begin: int, end: int) -> None:
        text = self.text
        bare = line.lstrip(" \t")
        content, at, depth = begin, end - len(bare), 0
        if bare.startswith(">") and (quote := _QUOTE.match(text, begin, end)):
            content, depth = quote.end(), quote[0].count(">")
            at = _SPACE.match(text, content, end).end()  # type: ignore[union-attr]  # it matches nothing, too
        indent = at - content
        if indent:
            indent += 3 * text.count("\t", content, at)
        if self.fence and self._in_fence(at, end, depth, indent):
            return
        if at == end:
            self.after_blank, self.paragraph = True, -1
            return
        marker = _ITEM.match(text, at, end) if text[at] in _ITEM_BEGINS else None
        if indent < self.item and (self.after_blank or marker or _ATX.match(text, content, end) or _FENCE.match(text, at, end)):
            self.item = 0  # only a paragraph may go on without its indentation
        if indent >= self.item + 4 and not depth and (self.after_blank or self._continues_code()):
            self._indented_code()
            return
        first, column, may_quote = at, indent, ">" in line
        while marker:
            column += marker.end() - at
            at, self.item = marker.end(), column
            if may_quote and (quote := _QUOTE.match(text, at, end)):  # in a list; its own lists count columns from the quote mark on
                at, column, depth = quote.end(), 0, depth + quote[0].count(">")
            marker = _ITEM.match(text, at, end)
        self.after_blank = False
        head = text[at : at + 1]
        if head in "`~" and (opening := _FENCE.match(text, at, end)):
            self.fence = _FenceState(opening[0], self.line, depth, self.item if column >= self.item else 0)
            self.paragraph = -1
            return
        is_heading = at == first and head in "#=-" and self._heading(begin, content, end)
        self.paragraph = -1 if is_heading or at != first or depth or head == "|" else begin
        if self.mark_at < end:
            self._inline(at, end, at_start=True)

    def _in_fence(self, at: int, end: int, depth: int, indent: int) -> bool:
        """Whether this line belongs to the open fence; closes it where it ends."""
        fence = self.fence
        assert fence
        if depth < fence.depth or (indent < fence.indent and at < end):
            self.code.append((fence.line, self.line - 1))
            self.fence = None
            return False
        if depth == fence.depth and self.text.startswith(fence.mark, at) and not self.text[at:end].strip(" \t").strip(fence.mark[0]):
            self.code.append((fence.line, self.line))
            self.fence = None
            self.after_blank, self.paragraph = False, -1
        return True

    def _continues_code(self) -> bool:
        return bool(self.code) and self.code[-1][1] == self.line - 1 and self.paragraph == _IN_CODE

    def _indented_code(self) -> None:
        first = self.code.pop()[0] if self._continues_code() else self.line
        self.code.append((first, self.line))
        self.after_blank, self.paragraph = False, _IN_CODE

    def _heading(self, begin: int, content: int, end: int) -> bool:
        text = self.text
        if match := _ATX.match(text, content, end):
            title = text[match.end() : end].strip()
            if title.endswith("#") and (without_closing := title.rstrip("#"))[-1:] in ("", " ", "\t"):
                title = without_closing.rstrip()
            self._add_heading(self.line, len(match[1]), title)
            return True
        if self.paragraph >= 0 and begin == content and (match := _UNDERLINE.match(text, begin, end)):
            self._add_heading(self.line - 1, 1 if match[1] else 2, text[self.paragraph : begin].strip())
            return True
        return False

    def _add_heading(self, line: int, level: int, title: str) -> None:
        above = self.above
        while above and above[-1].level >= level:
            above.pop()
        heading = Heading(line, level, title, (*above[-1].path, above[-1].text) if above else ())
        above.append(heading)
        self.headings.append(heading)

    def _inline(self, begin: int, end: int, *, at_start: bool = False) -> None:
        """The marks of one line from `begin` on, which may be its start; what runs over its end moves `resume` beyond it."""
        text, at = self.text, begin
        while at < end:
            if self.mark_at < at:
                self.mark = _MARK.search(text, at)
                self.mark_at = self.mark.start() if self.mark else len(text)
            mark = self.mark
            if mark is None or self.mark_at >= end:
                break
            start, at = mark.span()
            match mark.lastgroup:
                case "brackets":
                    may_define = at_start and start == begin and self.references is not None
                    at = self._after_brackets(at, at - start, end, may_define=may_define)
                case "backticks":
                    at = self._after_code_span(start, at - start, end)
                case "html":
                    at = self._after_closing("-->", at, to_the_end=at_start and start == begin)
                case "comment":
                    at = self._after_closing("%%", at, to_the_end=at_start and start == begin)
                case "math" if mark["math"]:
                    at = self._after_closing("$$", at)
                case "math":
                    math = _MATH.match(text, start, end)
                    at = math.end() if math else at
                case "tag" if not mark["tag"].isdigit():
                    self.tags.append(Tag(mark["tag"].rstrip("/"), self.line))
                case "block":
                    self.blocks.append((mark["block"], self.line))
        self.resume = at

    def _after_brackets(self, after: int, count: int, end: int, *, may_define: bool) -> int:
        """Of a run of brackets the inner pair makes a wikilink, the innermost one a Markdown link."""
        link = None
        if count > 1:
            link, closed = wikilink_at(self.text, after - 2, end, self.line)
        if not link and self.has_markdown_links:
            link, closed = markdown_link_at(self.text, after - 1, end, self.line)
        if link:
            self.links.append(link)
            return closed
        if self.references:
            return self.references.read(after - 1, end, self.line, len(self.links), may_define=may_define and count == 1)
        return after

    def _after_closing(self, closing: str, after: int, *, to_the_end: bool = False) -> int:
        """Past the next `closing`; without one it is no comment and no math, except where it stands as a block of its own."""
        found = -1 if closing in self.unclosed else self.text.find(closing, after)
        if found >= 0:
            return found + len(closing)
        self.unclosed.add(closing)
        return len(self.text) if to_the_end else after

    def _after_code_span(self, at: int, length: int, end: int) -> int:
        """Past the run of as many backticks that closes a code span in the same paragraph, or past the opening one.

        Mostly that is the next run in the line. Otherwise the runs of the paragraph are listed once, else a paragraph of unequal runs
        would be searched again from each of them.
        """
        following = _RUN.search(self.text, at + length, end)
        if following and following.end() - following.start() == length:
            return following.end()
        if at >= self.region_end:
            ends = _PARAGRAPH_ENDS.search(self.text, at)
            self.region_end = ends.start() + 1 if ends else len(self.text) + 1
            self.backticks = {}
            for run in _RUN.finditer(self.text, at, self.region_end):
                self.backticks.setdefault(run.end() - run.start(), []).append(run.start())
        runs = self.backticks.get(length, [])
        closing = bisect_left(runs, at + 1)
        return runs[closing] + length if closing < len(runs) else at + length
