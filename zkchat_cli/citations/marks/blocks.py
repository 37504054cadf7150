"""Which lines of a Markdown text are prose and which are code, told line by line, as a model's answer comes in.

Lenient where models are sloppy and Markdown is not: a fence within a list ends at its closing mark only, however its code is indented.
A fence within a quote ends with the quote, and one that nothing closes runs to the end of the text.
"""

import re
from typing import Literal, NamedTuple

Kind = Literal["prose", "code", "definition", "blank"]

_MARKER = r"(?:[-*+]|\d{1,9}[.)])"
_FENCE = re.compile(rf"((?:[ \t\r>]|{_MARKER}(?=[ \t]))*+)(`{{3,}}(?=[^`]*$)|~{{3,}})")
_MARGIN = re.compile(rf"(?:[ \t>]|{_MARKER}(?=[ \t]))*+")
_ITEM = re.compile(rf"([ \t]*+{_MARKER}[ \t]++)[^ \t\r]")
_DEFINITION = re.compile(r"[ \t>]*+\[[^\[\]]++\]:")
_BEGINS = re.compile(rf"[ \t>]*+(?:{_MARKER}[ \t]|(#{{1,6}})[ \t]|\|)")
_UNDECIDED = re.compile(
    rf"(?:[ \t\r>]|{_MARKER}(?=[ \t]|\Z))*+"
    r"(?:\d{1,9}|#{1,6}|`{1,2}|~{1,2}|(?:```|~~~).*|\[[^\[\]]*+\]?)?\Z",
    re.DOTALL,
)
"""Beginnings of lines that may still become a fence, a definition, a heading, an item of a list, or stay blank."""
_DEEP = 4
"""Columns beyond the text around it by which code is indented."""


class MarkdownLine(NamedTuple):
    """What a line is; of prose, whether it `begins` a block (an item, a heading, a table's row) and whether a block `ends` with it."""

    kind: Kind
    begins: bool = False
    ends: bool = False


class _CodeFence(NamedTuple):
    mark: str
    quoted: bool
    nested: bool
    """Within a list or a quote, which end it even if nothing closes it."""


_BLANK, _CODE, _DEFINED, _PROSE = MarkdownLine("blank"), MarkdownLine("code"), MarkdownLine("definition"), MarkdownLine("prose")


class BlockTracker:
    """What stands before a line decides what the line is: fences, lists and blank lines. Give every line once, in order."""

    def __init__(self) -> None:
        self._fence: _CodeFence | None = None
        self._margin = 0
        self._after_block = True

    @property
    def closing(self) -> str:
        """The fence that must follow the text lest it swallow what is put behind it; empty when none is open."""
        return self._fence.mark if self._fence and not self._fence.nested else ""

    def line(self, start: str, *, whole: bool = True) -> MarkdownLine | None:
        """What the line is that begins with `start`; None when that shows only in what follows, and `start` is not the `whole` line."""
        if not whole and (self._fence or _UNDECIDED.match(start)):
            return None
        bare = start.lstrip(" \t\r")
        if self._fence and self._fence.quoted and not bare.startswith(">"):
            self._fence = None
        if self._fence:
            self._close(self._fence, bare)
            return _CODE
        if not bare.strip(" \t\r>"):
            self._after_block = True
            return _BLANK
        indent = len(start[: len(start) - len(bare)].expandtabs(4))
        if self._after_block and indent >= self._margin + _DEEP:
            return _CODE
        self._after_block = False
        self._within(start, indent)
        return self._open(start) or self._text(start)

    def _close(self, fence: _CodeFence, bare: str) -> None:
        rest = bare.rstrip(" \t\r")
        if fence.quoted:
            rest = rest.lstrip(" \t>")
        if rest.startswith(fence.mark) and not rest.strip(fence.mark[0]):
            self._fence, self._after_block = None, True

    def _open(self, start: str) -> MarkdownLine | None:
        if not (fence := _FENCE.match(start)):
            return None
        before = fence[1]
        nested = bool(before.strip()) or len(before.expandtabs(4)) >= (self._margin or _DEEP)
        self._fence = _CodeFence(fence[2], ">" in before, nested)
        return _CODE

    def _text(self, start: str) -> MarkdownLine:
        if _DEFINITION.match(start):
            return _DEFINED
        begins = _BEGINS.match(start)
        if not begins:
            return _PROSE
        heading = bool(begins[1])
        self._after_block = heading
        return MarkdownLine("prose", begins=True, ends=heading)

    def _within(self, start: str, indent: int) -> None:
        """Take in how far the text of the list is indented that this line opens, goes on with or ends."""
        if item := _ITEM.match(start):
            self._margin = len(item[1].expandtabs(4))
        elif indent == 0:
            self._margin = 0


def margin(line: str) -> int:
    """Where in a line its text begins, behind the marks of quotes and lists."""
    found = _MARGIN.match(line)
    return found.end() if found else 0
