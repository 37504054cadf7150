"""The blocks of a note's lines (paragraphs, list items, headings, rows); what introduces lists."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from zkchat_cli.text.patterns import lazy_pattern

_BEGINS_BLOCK = lazy_pattern(r"[ \t>]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\||$)")
_ONE_LINE = lazy_pattern(r"[ \t>]*(?:#{1,6}[ \t]|[-*_=]{3,}[ \t]*$|```|~~~|\||\[!|</?t[dhr]\b)")
"""A line that is a block of its own: a heading, a rule, a fence, a table row or cell, a callout's
title.
"""
_ITEM = lazy_pattern(r"(?P<indent>[ \t>]*)(?:[-*+]|\d{1,9}[.)])[ \t]")
_NUMBERED = lazy_pattern(r"[ \t>]*(?!1[.)])\d{1,9}[.)][ \t]")
_INTRODUCES = (":", "：")
# Lines to look back for what introduces a list
_MOST_LINES = 200


class Blocks:
    """The blocks of some lines, which are counted from 0."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    @cached_property
    def begins(self) -> list[int]:
        """The lines that begin a paragraph, list item, heading or table row, or are blank or
        follow one of these.
        """
        begins: list[int] = []
        is_below_alone = True
        for number, line in enumerate(self._lines):
            is_alone = _ONE_LINE.match(line) is not None
            if is_alone or is_below_alone or self._begins_at(number):
                begins.append(number)
            is_below_alone = is_alone
        return begins

    def _begins_at(self, number: int) -> bool:
        """Whether a block begins on a line; not at a number behind a line break: `in` / `1950.`."""
        line = self._lines[number]
        if not _BEGINS_BLOCK.match(line):
            return False
        if not _NUMBERED.match(line) or number == 0:
            return True
        before = self._lines[number - 1]
        return not before.strip(" \t>") or before[:1] in " \t" or _ITEM.match(before) is not None

    def range(self, first: int, last: int) -> tuple[int, int]:
        """The first line of the block with the line `first`, and the line after the block with the
        line `last`.
        """
        begin = self.begins[bisect_right(self.begins, first) - 1]
        following = bisect_right(self.begins, last)
        if following == len(self.begins):
            return begin, len(self._lines)
        return begin, self.begins[following]

    def text(self, first: int, after: int) -> str:
        """The lines from `first` up to `after`, as they are written."""
        return "\n".join(self._lines[first:after])

    def list_leads(self, line: int) -> Iterator[str]:
        """What introduces the list item on a line: the items above it that end with a colon, and
        the paragraph or heading before the list.
        """
        number, _ = self.range(line, line)
        item = _ITEM.match(self._lines[number])
        if item is None:
            return
        indent = len(item["indent"].expandtabs(4))
        for above in range(number - 1, max(-1, number - _MOST_LINES), -1):
            text = self._lines[above]
            upper = _ITEM.match(text)
            if upper:
                own = len(upper["indent"].expandtabs(4))
                if own < indent:
                    indent = own
                    yield from self._introduction(above)
            elif text.strip(" \t>") and not text.startswith((" ", "\t")):
                yield from self._introduction(above)
                return

    def _introduction(self, line: int) -> Iterator[str]:
        """The block with this line, if it introduces what is below it."""
        begin, after = self.range(line, line)
        block = self.text(begin, after).strip()
        is_heading = block.lstrip("> ").startswith("#")
        if is_heading or block.rstrip("*_ ").endswith(_INTRODUCES):
            yield block
