"""What a note's text says about itself: headings, links, tags, and which lines are code.

The block scanner tells what each line is; within a line the reading goes from mark to mark and
never backwards, so its time is linear.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from zkchat_cli.markdown.blocks import BlockScanner
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault.links.wikilinks import WrittenLink, parse_markdown_link, parse_wikilink


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


# Every alternative begins with a literal, outside of its group: so the search skips from one such
# character to the next, ten times faster. What precedes a mark is therefore checked after it.
_MARK = lazy_pattern(
    r"""\\.(?:\\.)*+
      | \[(?P<brackets>\[*+)
      | `(?P<backticks>`*+)
      | <(?P<html>!--)
      | %(?P<comment>%)
      | \$(?P<math>\$?)
      | \#(?<!\S\#)(?P<tag>[^\s#!@$%^&*(),.?":{}|<>\[\]\\'`;+=~，。、；：！？（）「」【】《》“”…]++)
    """,
    re.VERBOSE,
)
_MATH = lazy_pattern(r"\$(?![\s$])(?:[^$\n\\]++|\\.)++(?<!\s)\$(?!\d)")
_WITH_INLINE = frozenset(("paragraph", "item", "table", "heading", "definition"))
_CODE = frozenset(("fence", "code", "fence_end", "indented"))
_CLOSING = {"<!--": "-->", "%%": "%%", "$$": "$$"}
_CLOSING_MARKS = lazy_pattern(r"[ \t]#++\s*+$")  # of a heading


def read_markup(text: str, front_lines: int = 0) -> Markup:
    """The markup of `text`. Its first `front_lines` lines are front matter, in which only wikilinks
    are read.
    """
    return _MarkupReader(text, front_lines).read()


@dataclass(slots=True)
class _MarkupReader:
    text: str
    front_lines: int
    headings: list[Heading] = field(default_factory=list)
    links: list[WrittenLink] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    code: list[tuple[int, int]] = field(default_factory=list)
    outline: list[Heading] = field(default_factory=list)  # the headings above the next line
    line: int = 0
    # Where reading continues: after the end of a line if a comment, code or math runs over it
    resume: int = 0
    unclosed: set[str] = field(default_factory=set)

    def read(self) -> Markup:
        text = self.text
        scan = BlockScanner().scan
        begin = 0
        above = 0
        kind_above = ""
        for line in text.split("\n"):
            end = begin + len(line)
            self.line += 1
            if self.line <= self.front_lines:
                at = end if line.startswith("#") else begin  # a comment in YAML
                while (at := text.find("[[", at, end)) >= 0:
                    link = parse_wikilink(text, at, end, self.line)
                    self.links += [link] if link else []
                    at = link.end if link else at + 1
            elif begin < self.resume:
                kind_above = ""
                self._read_inline(self.resume, end)
            else:
                kind, start, _, level, _ = scan(line)
                if kind in _WITH_INLINE:
                    if kind == "heading":
                        self._add_heading(
                            self.line, level, _CLOSING_MARKS.sub("", line[start + level :]).strip()
                        )
                    self._read_inline(begin + start, end, at_start=True)
                elif kind == "underline":
                    self._add_heading(
                        self.line - 1, level, text[above:begin].strip(), underlined=True
                    )
                elif kind in _CODE:
                    continues = kind != "fence" and (kind != "indented" or kind_above == "indented")
                    self.code.append((self.code.pop()[0] if continues else self.line, self.line))
                kind_above = kind
            above = begin
            begin = end + 1
        return Markup(tuple(self.headings), tuple(self.links), tuple(self.tags), tuple(self.code))

    def _add_heading(self, line: int, level: int, title: str, *, underlined: bool = False) -> None:
        outline = self.outline
        while outline and outline[-1].level >= level:
            outline.pop()
        heading = Heading(
            line, level, title, (*outline[-1].path, outline[-1].text) if outline else (), underlined
        )
        outline.append(heading)
        self.headings.append(heading)

    def _read_inline(self, begin: int, end: int, *, at_start: bool = False) -> None:
        """Read the marks of a line from `begin` on. A comment, code or math that runs over its end
        moves `resume` there.
        """
        text = self.text
        at = begin
        # Searching for them again would take quadratic time
        unclosed_code: set[str] = set()
        while at < end and (mark := _MARK.search(text, at, end)):
            start, at = mark.span()
            match mark.lastgroup:
                # The inner two make a wikilink, the innermost one a Markdown link
                case "brackets":
                    link = parse_wikilink(text, at - 2, end, self.line) if at - start > 1 else None
                    link = link or parse_markdown_link(text, at - 1, end, self.line)
                    if link:
                        self.links.append(link)
                        at = link.end
                case "backticks" if (opening := text[start:at]) not in unclosed_code:
                    closing = re.compile(rf"(?<!`){opening}(?!`)").search(text, at, end)
                    at = closing.end() if closing else at
                    unclosed_code |= set() if closing else {opening}
                case "html" | "comment" | "math" if (
                    closing_mark := _CLOSING.get(mark[0])
                ) is not None:
                    found = -1 if closing_mark in self.unclosed else text.find(closing_mark, at)
                    if found >= 0:
                        at = found + len(closing_mark)
                    else:
                        # No math, and no comment but one that begins its line: that goes to the end
                        self.unclosed.add(closing_mark)
                        at = (
                            len(text)
                            if at_start and start == begin and closing_mark != "$$"
                            else at
                        )
                case "math":
                    math = _MATH.match(text, start, end)
                    at = math.end() if math else at
                case "tag" if not mark["tag"].isdigit():
                    self.tags.append(mark["tag"].rstrip("/"))
        self.resume = at
