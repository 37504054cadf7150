"""Markdown on a terminal while it streams.

`StreamingMarkdown.render` returns rows that are final, once, and the rows of the block that is still open. markdown-it-py parses only the
text behind the last finished block; rich styles text and highlights code. `rich.live` with `rich.markdown` parses and draws all of an
answer for each delta: 460 ms for 4.7 kB, against 4 ms for the open block.
"""

import re

from markdown_it.tree import SyntaxTreeNode
from rich.console import Console
from rich.text import Text

from zkchat_cli.terminal.hyperlinks import LinkTargets
from zkchat_cli.terminal.markdown_blocks import BlockRenderer
from zkchat_cli.terminal.markdown_inline import markdown_parser
from zkchat_cli.terminal.text_layout import wrap

_UNDECIDED = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:[-+]|\d{1,9}[.)]?|\#{1,6}|[`~]+|\[[ xX]?|[-*_:| \t]+|\|.*)?[ \t]*\Z")
"""A last line of which only marks have come: it is not drawn before it shows what it is."""
_KEEPS_PIPES = re.compile(r"!?\[\[[^\[\]\n]{1,300}\]\]|(?<!`)`[^`\n]{1,300}`(?!`)")


class StreamingMarkdown:
    """`feed` it sanitized text and `render` it as often as you like. Each row begins with the `margin` and has its style."""

    def __init__(self, console: Console, links: LinkTargets, margin: Text | None = None) -> None:
        self._console = console
        self._links = links
        self._margin = margin or Text()
        self._source = ""
        """The text of the open block, and a blank line before it."""
        self._done = 0
        """Rows of the source that are final."""
        self._previous = ""
        """The type of the block before the source."""
        self._width = 0

    def feed(self, text: str) -> None:
        self._source += text

    def render(self, width: int, *, final: bool = False) -> tuple[list[Text], list[Text]]:
        """The rows that are final since the last call, and the rows of the open block. With `final` the answer is complete.

        A block of which rows are final keeps its width: in another one, these would end elsewhere.
        """
        resized = width != self._width
        self._width = self._width if self._done else width
        source = self._source if final else _decided_source(self._source)
        blocks = BlockRenderer(source, self._console, self._links, self._previous)
        parts = _parts(source)
        rows: list[Text] = []
        start = 0
        for part in parts:
            start, previous, blocks.unsure = len(rows), blocks.previous, 0
            rows += blocks.draw(part, self._width - len(self._margin))
        done = len(rows) if final else start if resized else len(rows) - blocks.unsure
        done = max(done, self._done)
        rows = [self._margin + row for row in rows]
        for row in rows:
            row.rstrip()
        final_rows, open_rows = rows[self._done : done], rows[done:]
        self._done = done
        if len(parts) > 1 and not final:
            line = parts[-1].map[0] if parts[-1].map else 0
            lines = self._source.split("\n")
            is_blank = not lines[line - 1].strip("> \t")
            self._source = "\n".join(lines[line - is_blank :])
            self._done, self._previous = done - start, previous
        if width < self._width:
            return _wrap_again(final_rows, width), _wrap_again(open_rows, width)
        return final_rows, open_rows


def _wrap_again(rows: list[Text], width: int) -> list[Text]:
    return [part for row in rows for part in wrap(row, width)]


def _parts(source: str) -> list[SyntaxTreeNode]:
    """The blocks of a source, and the items of a list one by one: what comes before the last of them cannot change any more."""
    if "|" in source:
        source = "\n".join(_escape_pipes(line) if line.lstrip(" \t>").startswith("|") else line for line in source.split("\n"))
    blocks = SyntaxTreeNode(markdown_parser().parse(source)).children
    return [part for block in blocks for part in (block.children if block.type.endswith("_list") else [block])]


def _escape_pipes(line: str) -> str:
    """A row of a table with the pipes inside links and code escaped: models do not escape them."""
    return _KEEPS_PIPES.sub(lambda found: re.sub(r"(?<!\\)\|", r"\\|", found[0]), line)


def _decided_source(source: str) -> str:
    """The source without its last line while that shows only marks, and without a line that is probably the head of a table."""
    source = source.rstrip("*_~`")  # the next character decides whether the mark closes something
    start = source.rfind("\n") + 1
    if _UNDECIDED.match(source, start):
        source = source[:start]
    before, _, last = source.removesuffix("\n").rpartition("\n")
    if last.startswith("|") and not before.rpartition("\n")[2].startswith("|"):
        return before + "\n" if before else ""
    return source
