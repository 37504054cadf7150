"""The blocks of a Markdown answer as rows of styled text, and its tables and code. rich styles text and highlights code.

`rich.table` is not used: it measures each cell several times, and takes 2.3 ms for 12 rows of three cells, against 0.5 ms here.
"""

import re
from collections.abc import Sequence
from typing import cast

from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from rich.align import AlignMethod
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from zkchat_cli.terminal.hyperlinks import LinkTargets
from zkchat_cli.terminal.markdown_inline import InlineText
from zkchat_cli.terminal.text_layout import break_code, wrap
from zkchat_cli.text.sanitize import sanitize

MAX_RULE = 60
MIN_TEXT = 8
"""Columns for text on the narrowest screen: where less would be left, quotes and lists are not indented."""
MIN_COLUMN = 8
"""Columns that each column of a table needs on average; with less, each row becomes a record."""
MAX_HIGHLIGHTED_LINE = 1000
"""Characters of a line of code; the expressions of some pygments lexers are slow with longer ones."""
_TASK = re.compile(r"\[([ xX])\](?:\s+|\Z)")
_CODE_STYLES = {
    ("Comment",): "comment",
    ("Keyword",): "magenta",
    ("Operator", "Word"): "magenta",
    ("Name", "Function"): "bold",
    ("Name", "Class"): "bold",
    ("Name", "Tag"): "magenta",
    ("Literal", "String"): "green",
    ("Literal", "Number"): "cyan",
    ("Generic", "Deleted"): "red",
    ("Generic", "Inserted"): "green",
}


class BlockRenderer:
    """Draws the blocks of a source one after the other. `previous` is the type of the last one that was drawn, empty before the first.

    `unsure` is how many of its last rows may still change when more text comes.
    """

    def __init__(self, source: str, console: Console, links: LinkTargets, previous: str) -> None:
        self.previous = previous
        self.unsure = 0
        self._lines = source.split("\n")
        self._console = console
        self._links = links

    def draw(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        """A block with the empty row before it, if it needs one."""
        begin = node.map[0] if node.map else 0
        blank_before = begin > 0 and not self._lines[begin - 1].strip("> \t")
        is_apart = node.type in ("heading", "fence", "table") or self.previous in ("fence", "table")
        gap = [Text()] if self.previous and (blank_before or is_apart) else []
        rows = self._block(node, width)
        return gap + rows if rows else []

    def _blocks(self, nodes: Sequence[SyntaxTreeNode], width: int) -> list[Text]:
        rows: list[Text] = []
        for number, node in enumerate(nodes):
            rows += self.draw(node, width) if number else self._block(node, width)
        return rows

    def _block(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        match node.type:
            case "blockquote":
                return self._indented(node, "│ ", "│ ", width)
            case "bullet_list" | "ordered_list":
                return self._blocks(node.children, width)
            case "list_item":
                return self._item(node, width)
            case "table":
                rows = self._table(node, width)
                self.unsure = len(rows)  # any row may change the widths
            case "fence":
                rows = self._code(node, width)
            case "hr":
                rows = [Text("─" * min(MAX_RULE, width), "frame")]
            case _:
                rows = self._text(node, width)
        self.previous = node.type
        return rows

    def _item(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        marker = f"{node.info}{node.markup} " if node.info else "• "
        if node.children and node.children[0].type == "paragraph":
            marker = _take_task(_inline_tokens(node.children[0])) or marker
        if node.level == 1 and node.map:
            line = self._lines[node.map[0]]
            marker = " " * (len(line) - len(line.lstrip(" "))) + marker
        if rows := self._indented(node, marker, " " * len(marker), width):
            return rows
        self.unsure = 1
        return [Text(marker, "marker")]

    def _indented(self, node: SyntaxTreeNode, first: str, rest: str, width: int) -> list[Text]:
        if width - len(first) < MIN_TEXT:
            first = rest = ""
        marker, margin = (first, "frame" if first == rest else "marker"), (rest, "frame")
        rows = self._blocks(node.children, width - len(first))
        return [Text.assemble(margin if number else marker, row) for number, row in enumerate(rows)]

    def _text(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        """A paragraph or heading. Its last row, and rows with marks that may become something else, are unsure."""
        inline = InlineText(_inline_tokens(node), self._links)
        text, certain = inline.text, inline.certain
        if node.type == "heading":
            level = int(node.tag[1:])
            text.stylize_before(f"heading{min(level, 3)}")
            text = Text.assemble(("#" * level + " ", "frame"), text) if level > 1 else text
        last_line = text.plain.rfind("\n") + 1
        if node.type == "heading" or "|" in text.plain[last_line:]:  # the line may become the head of a table
            certain = min(certain, last_line)
        rows = wrap(text, width)
        end = 0
        self.unsure = 1
        for row in rows[:-1]:
            end += len(row)
            self.unsure += end > certain
            end += text.plain[end] == "\n"
        return rows

    def _code(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        code = sanitize(node.content).expandtabs(4).removesuffix("\n")
        language = (node.info.split() or [""])[0].strip("{}.").lower()[:40]
        rows: list[Text] = []
        for line in highlight(code, language, self._console).split("\n", allow_blank=True) if node.content else ():
            parts = break_code(line, max(MIN_TEXT, width - 2))
            rows += [Text("  ") + part for part in parts]
            self.unsure = len(parts)
        return rows

    def _table(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        lines = [
            [InlineText(_inline_tokens(cell), self._links).text for cell in row.children] for part in node.children for row in part.children
        ]
        aligns = [str(cell.attrs.get("style", "")).rpartition(":")[2] or "left" for cell in node.children[0].children[0].children]
        for cell in lines[0]:
            cell.stylize("bold")
        columns = [*zip(*lines, strict=True)]
        widths = [max(cell_len(line) for cell in column for line in cell.plain.split("\n")) for column in columns]
        space = width - 3 * (len(columns) - 1)
        if sum(widths) > space and width < (MIN_COLUMN + 3) * len(columns):
            return _records(lines, width)
        for place, column in enumerate(sorted(range(len(columns)), key=lambda column: widths[column])):
            widths[column] = min(widths[column], space // (len(columns) - place))
            space -= widths[column]
        head, *body = ([_aligned(*cell) for cell in zip(line, widths, aligns, strict=True)] for line in lines)
        rule = Text("─┼─".join("─" * each for each in widths), "frame")
        return [*_side_by_side(head, widths), rule, *(row for cells in body for row in _side_by_side(cells, widths))]


def _inline_tokens(node: SyntaxTreeNode) -> list[Token]:
    inline = node.children[0].token
    return (inline.children if inline else None) or []


def _take_task(tokens: Sequence[Token]) -> str:
    """The marker of a task, which its text loses; empty for other text."""
    found = _TASK.match(tokens[0].content) if tokens else None
    if found is None:
        return ""
    tokens[0].content = tokens[0].content[found.end() :]
    return "☐ " if found[1] == " " else "☑ "


def _aligned(cell: Text, width: int, align: str) -> list[Text]:
    rows = wrap(cell, width)
    for row in rows:
        row.rstrip()
        row.align(cast("AlignMethod", align), width)
    return rows


def _side_by_side(cells: Sequence[list[Text]], widths: Sequence[int]) -> list[Text]:
    height = max(map(len, cells))
    columns = [[*rows, *[Text(" " * width)] * (height - len(rows))] for rows, width in zip(cells, widths, strict=True)]
    return [Text.assemble((" │ ", "frame")).join(row) for row in zip(*columns, strict=True)]


def _records(lines: Sequence[Sequence[Text]], width: int) -> list[Text]:
    """Each row of a table with the name of the column before each cell."""
    head, *body = lines
    rows: list[Text] = []
    for number, cells in enumerate(body):
        rows += [Text()] if number else []
        for name, cell in zip(head, cells, strict=True):
            text = Text.assemble(name, ": " if name else "", cell)
            rows += [Text("  " if place else "") + row for place, row in enumerate(wrap(text, width - 2))]
    return rows or [row for name in head for row in wrap(name, width)]


def highlight(code: str, language: str, console: Console) -> Text:
    """Code in the colors of its language; unchanged if the language is unknown."""
    if not language or any(len(line) > MAX_HIGHLIGHTED_LINE for line in code.split("\n")):
        return Text(code)
    from rich.syntax import ANSISyntaxTheme, Syntax  # pygments costs 30 ms, which only an answer with code pays

    theme = ANSISyntaxTheme({token: console.get_style(style) for token, style in _CODE_STYLES.items()})
    text = Syntax(code, language, theme=theme).highlight(code)
    text.rstrip()
    return text if text.plain == code.rstrip() else Text(code)
