"""The lines of a text that are properties: each is a row that can be quoted by itself."""

from collections.abc import Iterator

from zkchat_cli.markdown.blocks import MarkdownBlock
from zkchat_cli.markdown.inline_fields import WHOLE_LINE
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import ends_as_sentence

PROPERTY = lazy_pattern(
    rf"[^\W\d][\w -]{{0,39}}(?:::?(?:\s|$)|：)|{WHOLE_LINE}|\d[\d./: -]{{2,24}}(?::\s|：)"
)
"""A line of properties: `name: value`, `name:: value`, or a figure of a day: `2024-01-05: 82.1`."""
FIELD = lazy_pattern(rf"{WHOLE_LINE}|\d[\d./: -]{{2,24}}(?::\s|：)[^\w]*\d")
"""A property that is one wherever it is."""

# The line below a task of Logseq or Org that belongs to it
_DATE_OF_TASK = lazy_pattern(r"(?:SCHEDULED|DEADLINE|CLOSED):\s*[<\[]")


def split_properties(block: MarkdownBlock, *, is_whole: bool) -> Iterator[MarkdownBlock]:
    """The lines of a block of properties (`name: value`) as rows, below the item of a list that
    they follow; any other block as it is. `is_whole`: the block is a line that is all of its text.
    """
    first = 1 if block.kind == "item" else 0
    rows = block.lines[first:]
    may_have_rows = block.kind in ("paragraph", "item") and (len(block.lines) > 1 or is_whole)
    if not may_have_rows or not all(map(_is_property, rows)):
        yield from _split_fields(block)
        return
    if first:
        yield block._replace(lines=block.lines[:first])
    for i, row in enumerate(rows, first):
        yield block._replace(kind="table", lines=(row,), line=block.line + i)


def _split_fields(block: MarkdownBlock) -> Iterator[MarkdownBlock]:
    """The fields (`key:: value`) among the lines of a block as rows, and what is between them."""
    is_field = [FIELD.match(line) is not None for line in block.lines]
    if block.kind not in ("paragraph", "item") or not any(is_field):
        yield block
        return
    begin = 0
    for i, line in enumerate(block.lines):
        if is_field[i]:
            if begin < i:
                yield block._replace(lines=block.lines[begin:i], line=block.line + begin)
            yield block._replace(kind="table", lines=(line,), line=block.line + i)
            begin = i + 1
    if begin < len(block.lines):
        yield block._replace(lines=block.lines[begin:], line=block.line + begin)


def _is_property(line: str) -> bool:
    if _DATE_OF_TASK.match(line):
        return False
    return PROPERTY.match(line) is not None and not ends_as_sentence(line)
