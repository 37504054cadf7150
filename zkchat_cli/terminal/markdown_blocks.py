"""The blocks of an answer, drawn as rows for a terminal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from rich.console import Console
from rich.text import Text

from zkchat_cli.terminal.code_block import MIN_TEXT, code_rows
from zkchat_cli.terminal.inline_text import InlineText
from zkchat_cli.terminal.link_targets import LinkTargets
from zkchat_cli.terminal.table_layout import table_rows
from zkchat_cli.terminal.text_layout import wrap

MAX_RULE = 60
# Rows at the end of a paragraph that may still change, because a mark in them may begin emphasis,
# code or a link
OPEN_ROWS = 8
_TASK = re.compile(r"\[([ xX])\](?:\s+|\Z)")
# Styles of headings, by level
_HEADINGS = ("", "bold underline", "bold", "bold italic")
# Blocks that always have an empty row before and after them
_APART = ("fence", "table")


@dataclass
class BlockRenderer:
    """Draws the blocks of a source one after the other.

    `previous` is the type of the last block that was drawn, empty before the first. `unsure` is how
    many of its last rows may still change when more text comes: for code the last line, for a table
    all rows.
    """

    lines: Sequence[str]
    console: Console
    links: LinkTargets
    previous: str
    unsure: int = 0

    def draw(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        """The rows of a block, after an empty row if the block needs one."""
        begin = node.map[0] if node.map else 0
        is_after_blank = begin > 0 and is_blank(self.lines[begin - 1])
        is_apart = node.type in ("heading", *_APART) or self.previous in _APART
        needs_gap = bool(self.previous) and (is_after_blank or is_apart)
        rows = self._block(node, width)
        return [Text(), *rows] if rows and needs_gap else rows

    def _block(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        match node.type:
            case "blockquote":
                return self._indented(node, "│ ", "│ ", width)
            case "bullet_list" | "ordered_list":
                return self._indented(node, "", "", width)
            case "list_item":
                return self._item(node, width)
            case "fence":
                rows, self.unsure = code_rows(node.content, node.info, width, self.console)
            case "table":
                rows = self._table(node, width)
                self.unsure = len(rows)
            case _:
                rows = self._text(node, width)
                self.unsure = min(len(rows), OPEN_ROWS)
        self.previous = node.type
        return rows

    def _item(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        """An item of a list with its bullet, number or box."""
        marker = _take_task_marker(node)
        if not marker:
            marker = f"{node.info}{node.markup} " if node.info else "• "
        if node.level == 1 and node.map:
            line = self.lines[node.map[0]]
            marker = " " * (len(line) - len(line.lstrip(" "))) + marker
        rows = self._indented(node, marker, " " * len(marker), width)
        if not rows:
            self.unsure = 1
            return [Text(marker, "cyan")]
        return rows

    def _indented(self, node: SyntaxTreeNode, first: str, rest: str, width: int) -> list[Text]:
        """The blocks inside a block, with `first` before their first row and `rest` before the
        others. On a narrow screen they are not indented.
        """
        if width - len(first) < MIN_TEXT:
            first = rest = ""
        rows: list[Text] = []
        for child in node.children:
            # The first block has no empty row before it
            draw = self._block if child is node.children[0] else self.draw
            rows += draw(child, width - len(first))
        if not first:
            return rows
        marker = (first, "dim" if first == rest else "cyan")
        margin = (rest, "dim")
        return [Text.assemble(margin if number else marker, row) for number, row in enumerate(rows)]

    def _text(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        """A paragraph, heading or rule."""
        if node.type == "hr":
            return [Text("─" * min(MAX_RULE, width), "dim")]
        text = self._inline(node)
        if node.type == "heading":
            level = int(node.tag[1:])
            text.stylize_before(_HEADINGS[min(level, len(_HEADINGS) - 1)])
            if level > 1:
                text = Text.assemble(("#" * level + " ", "dim"), text)
        return wrap(text, width)

    def _table(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        lines: list[list[Text]] = []
        aligns: list[str] = []
        # A table has two parts: head and body
        for part in node.children:
            for row in part.children:
                lines.append([self._inline(cell) for cell in row.children])
                aligns = aligns or [_alignment(cell) for cell in row.children]
        return table_rows(lines, aligns, width)

    def _inline(self, node: SyntaxTreeNode) -> Text:
        return InlineText(_inline_tokens(node), self.links).text


def is_blank(line: str) -> bool:
    """Whether a line has nothing but the marks of quotes."""
    return not line.strip("> \t")


def _take_task_marker(item: SyntaxTreeNode) -> str:
    """Remove the box of a task from the text of an item, and return the sign for it; empty if the
    item is not a task.
    """
    if not item.children or item.children[0].type != "paragraph":
        return ""
    tokens = _inline_tokens(item.children[0])
    task = _TASK.match(tokens[0].content) if tokens else None
    if task is None:
        return ""
    tokens[0].content = tokens[0].content[task.end() :]
    return "☐ " if task[1] == " " else "☑ "


def _alignment(cell: SyntaxTreeNode) -> str:
    _, _, align = str(cell.attrs.get("style", "")).rpartition(":")
    return align or "left"


def _inline_tokens(node: SyntaxTreeNode) -> list[Token]:
    inline = node.children[0].token
    return (inline.children if inline else None) or []
