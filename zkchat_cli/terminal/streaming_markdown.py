"""Markdown on a terminal while it streams.

`StreamingMarkdown.render` returns rows that are final, once, and the rows of the block that is
still open. markdown-it-py parses only the text behind the last finished block; rich styles text and
highlights code. `rich.live` with `rich.markdown` parses and draws all of an answer for each delta:
460 ms for 4.7 kB, against 4 ms for the open block. `rich.table` takes 2.3 ms for 12 rows of three
cells, against 0.5 ms here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate, zip_longest
from typing import cast

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from rich.align import AlignMethod
from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.style import Style
from rich.text import Text

from zkchat_cli.markdown.inline import WIKILINK
from zkchat_cli.terminal.screen import LinkTargets, web_address
from zkchat_cli.terminal.text_layout import wrap
from zkchat_cli.text.sanitize import sanitize, sanitize_name

_UNDECIDED = re.compile(
    r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:[-+]|\d{1,9}[.)]?|\#{1,6}|[`~]+|\[[ "
    r"xX]?|[-*_:| \t]+|\|.*)?[ \t]*\Z"
)
"""A last line of which only marks have come: it is not drawn before it shows what it is."""
_KEEPS_PIPES = re.compile(rf"!?{WIKILINK}|(?<!`)`[^`\n]{{1,300}}`(?!`)")
MAX_RULE = 60
# Columns for text on the narrowest screen: where less would be left, quotes and lists are not
# indented
MIN_TEXT = 8
# Columns that each column of a table needs on average; with less, each row becomes a record
MIN_COLUMN = 8
# Characters of a line of code; the expressions of some pygments lexers are slow with longer ones
MAX_HIGHLIGHTED_LINE = 1000
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
MAX_NESTING = 60
# Rows at the end of a paragraph that may change, because a mark in them may begin emphasis, code or
# a link
OPEN_ROWS = 8
_WIKILINK = re.compile(rf"!?{WIKILINK}")
_LINE_BREAK = re.compile(r"<br[ \t]{0,9}/?>[ \t]*", re.IGNORECASE)
_REFERENCE = re.compile(
    r"(?<![0-9A-Za-z_])(?P<citation>\[\^?(?:sources? )?\d{1,4}(?: ?[,;–-] "
    r"?\d{1,4}){0,20}\](?![(:])|【\d{1,4}(?: ?[,;–-] ?\d{1,4}){0,20}】)"
    r"|(?P<url>https?://[^\s<>\"`\[\]{}|\\^]{1,2000})"
)
# Of the sentence around an address, at the address's end
_PUNCTUATION = ".,;:!?'*_~"
_STRONG = re.compile(r"\*\*(?=[^\s*])([^*`\n]{1,300})(?<!\s)\*\*(?!\*)")
_CJK = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]")
_HEADINGS = ("", "bold underline", "bold", "bold italic")  # by level
_EMPHASIS = {"strong": "bold", "em": "italic", "s": "strike"}


class StreamingMarkdown:
    """`feed` it sanitized text and `render` it as often as you like. Each row begins with the
    `margin` and has its style.
    """

    def __init__(self, console: Console, links: LinkTargets, margin: Text | None = None) -> None:
        self._console = console
        self._links = links
        self._margin = margin or Text()
        # The text of the open block, and a blank line before it
        self._source = ""
        # Rows of the source that are final
        self._done = 0
        # The type of the block before the source
        self._previous = ""
        self._width = 0

    def feed(self, text: str) -> None:
        self._source += text

    def render(self, width: int, *, final: bool = False) -> tuple[list[Text], list[Text]]:
        """The rows that are final since the last call, and the rows of the open block. With `final`
        the answer is complete.
        """
        # A block with final rows keeps its width: in another one, these would end elsewhere
        resized = width != self._width
        self._width = self._width if self._done else width
        source = self._source if final else _decided_source(self._source)
        blocks = BlockRenderer(source.split("\n"), self._console, self._links, self._previous)
        # Models do not escape the pipes in links and code inside a table
        if "|" in source:
            source = "\n".join(
                _escape_pipes(line) if line.lstrip(" \t>").startswith("|") else line
                for line in blocks.lines
            )
        nodes = SyntaxTreeNode(markdown_parser().parse(source)).children
        # the items of a list one by one: what comes before the last of them cannot change any more
        parts = [
            part
            for node in nodes
            for part in (node.children if node.type.endswith("_list") else [node])
        ]
        rows: list[Text] = []
        start = 0
        for part in parts:
            start = len(rows)
            previous = blocks.previous
            blocks.unsure = 0
            rows += blocks.draw(part, self._width - len(self._margin))
        done = len(rows) if final else start if resized else len(rows) - blocks.unsure
        done = max(done, self._done)
        rows = [self._margin + row for row in rows]
        for row in rows:
            row.rstrip()
        final_rows = rows[self._done : done]
        open_rows = rows[done:]
        self._done = done
        if len(parts) > 1 and not final:
            line = parts[-1].map[0] if parts[-1].map else 0
            lines = self._source.split("\n")
            self._source = "\n".join(lines[line - (not lines[line - 1].strip("> \t")) :])
            self._done = done - start
            self._previous = previous
        if width < self._width:
            final_rows, open_rows = (
                [part for row in each for part in wrap(row, width)]
                for each in (final_rows, open_rows)
            )
        return final_rows, open_rows


def _escape_pipes(line: str) -> str:
    return _KEEPS_PIPES.sub(lambda found: re.sub(r"(?<!\\)\|", r"\\|", found[0]), line)


def _decided_source(source: str) -> str:
    """The source without its last line while that shows only marks, and without a line that is
    probably the head of a table.
    """
    # The next character decides whether the mark closes something
    source = source.rstrip("*_~`")
    start = source.rfind("\n") + 1
    if _UNDECIDED.match(source, start):
        source = source[:start]
    before, _, last = source.removesuffix("\n").rpartition("\n")
    if last.startswith("|") and not before.rpartition("\n")[2].startswith("|"):
        return before + "\n" if before else ""
    return source


@dataclass
class BlockRenderer:
    """Draws the blocks of a source one after the other. `previous` is the type of the last one that
    was drawn, empty before the first; `unsure` is how many of its last rows may still change when
    more text comes: of code the last line, of a table all.
    """

    lines: list[str]
    console: Console
    links: LinkTargets
    previous: str
    unsure: int = 0

    def draw(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        """A block with the empty row before it, if it needs one."""
        begin = node.map[0] if node.map else 0
        blank_before = begin > 0 and not self.lines[begin - 1].strip("> \t")
        is_apart = node.type in ("heading", "fence", "table") or self.previous in ("fence", "table")
        gap = [Text()] if self.previous and (blank_before or is_apart) else []
        rows = self._block(node, width)
        return gap + rows if rows else []

    def _block(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        match node.type:
            case "blockquote":
                return self._indented(node, "│ ", "│ ", width)
            case "bullet_list" | "ordered_list":
                return self._indented(node, "", "", width)
            case "list_item":
                return self._item(node, width)
            case "fence":
                rows, self.unsure = self._code(node, width)
            case "table":
                rows = self._table(node, width)
                self.unsure = len(rows)
            case _:
                rows = self._text(node, width)
                self.unsure = min(len(rows), OPEN_ROWS)
        self.previous = node.type
        return rows

    def _item(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        marker = f"{node.info}{node.markup} " if node.info else "• "
        first = (
            _inline_tokens(node.children[0])
            if node.children and node.children[0].type == "paragraph"
            else []
        )
        if first and (task := _TASK.match(first[0].content)):
            first[0].content = first[0].content[task.end() :]
            marker = "☐ " if task[1] == " " else "☑ "
        if node.level == 1 and node.map:
            line = self.lines[node.map[0]]
            marker = " " * (len(line) - len(line.lstrip(" "))) + marker
        if rows := self._indented(node, marker, " " * len(marker), width):
            return rows
        self.unsure = 1
        return [Text(marker, "cyan")]

    def _indented(self, node: SyntaxTreeNode, first: str, rest: str, width: int) -> list[Text]:
        """The blocks inside a block, with `first` before their first row and `rest` before the
        others.
        """
        if width - len(first) < MIN_TEXT:
            first = rest = ""
        rows: list[Text] = []
        for child in node.children:
            rows += (
                self.draw(child, width - len(first))
                if child is not node.children[0]
                else self._block(child, width - len(first))
            )
        marker = (first, "dim" if first == rest else "cyan")
        margin = (rest, "dim")
        return (
            [Text.assemble(margin if number else marker, row) for number, row in enumerate(rows)]
            if first
            else rows
        )

    def _text(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        """A paragraph, heading or rule."""
        if node.type == "hr":
            return [Text("─" * min(MAX_RULE, width), "dim")]
        text = InlineText(_inline_tokens(node), self.links).text
        if node.type == "heading":
            level = int(node.tag[1:])
            text.stylize_before(_HEADINGS[min(level, 3)])
            text = Text.assemble(("#" * level + " ", "dim"), text) if level > 1 else text
        return wrap(text, width)

    def _code(self, node: SyntaxTreeNode, width: int) -> tuple[list[Text], int]:
        """The rows, and how many of them the last line takes."""
        code = sanitize(node.content).expandtabs(4).removesuffix("\n")
        language = (node.info.split() or [""])[0].strip("{}.").lower()[:40]
        lines = (
            _highlight(code, language, self.console).split("\n", allow_blank=True)
            if node.content
            else ()
        )
        # Where it ends, a line breaks: breaking between words would lose the spaces between them
        room = max(MIN_TEXT, width - 2)
        parts = [
            line.divide(accumulate(map(len, chop_cells(line.plain, room)[:-1]))) for line in lines
        ]
        return [Text("  ") + row for rows in parts for row in rows], len(parts[-1]) if parts else 0

    def _table(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        cells = [row.children for part in node.children for row in part.children]
        lines = [
            [InlineText(_inline_tokens(cell), self.links).text for cell in row] for row in cells
        ]
        aligns = [
            str(cell.attrs.get("style", "")).rpartition(":")[2] or "left" for cell in cells[0]
        ]
        for cell in lines[0]:
            cell.stylize("bold")
        columns = [*zip(*lines, strict=True)]
        widths = [
            max(cell_len(line) for cell in column for line in cell.plain.split("\n"))
            for column in columns
        ]
        space = width - 3 * (len(columns) - 1)
        if sum(widths) > space and width < (MIN_COLUMN + 3) * len(columns):
            head, *body = lines
            # Each row with the name of the column before each cell
            records: list[Text] = []
            for values in body:
                records += [Text()] if records else []
                for name, value in zip(head, values, strict=True):
                    text = Text.assemble(name, ": " if name else "", value)
                    records += [
                        Text("  " if place else "") + row
                        for place, row in enumerate(wrap(text, width - 2))
                    ]
            return records or [row for name in head for row in wrap(name, width)]
        for place, column in enumerate(
            sorted(range(len(columns)), key=lambda column: widths[column])
        ):
            widths[column] = min(widths[column], space // (len(columns) - place))
            space -= widths[column]
        rows: list[Text] = []
        for line in lines:
            parts = [wrap(cell, cell_width) for cell, cell_width in zip(line, widths, strict=True)]
            # None below the last row of a cell
            for row in zip_longest(*parts):
                texts = [part or Text() for part in row]
                for part, cell_width, align in zip(texts, widths, aligns, strict=True):
                    part.rstrip()
                    part.align(cast("AlignMethod", align), cell_width)
                rows.append(Text.assemble((" │ ", "dim")).join(texts))
            if line is lines[0]:
                rows.append(Text("─┼─".join("─" * each for each in widths), "dim"))
        return rows


def _inline_tokens(node: SyntaxTreeNode) -> list[Token]:
    inline = node.children[0].token
    return (inline.children if inline else None) or []


def _highlight(code: str, language: str, console: Console) -> Text:
    """Code in the colors of its language; unchanged if the language is unknown."""
    if not language or any(len(line) > MAX_HIGHLIGHTED_LINE for line in code.split("\n")):
        return Text(code)
    # Pygments costs 30 ms, which only an answer with code pays
    from rich.syntax import ANSISyntaxTheme, Syntax

    theme = ANSISyntaxTheme(
        {token: console.get_style(style) for token, style in _CODE_STYLES.items()}
    )
    text = Syntax(code, language, theme=theme).highlight(code)
    text.rstrip()
    return text if text.plain == code.rstrip() else Text(code)


@lru_cache(maxsize=1)
def markdown_parser() -> MarkdownIt:
    """A lenient parser, because models are: four spaces do not make code, a line of dashes is no
    heading, HTML is text.
    """
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"]).disable(
        ["reference", "code", "lheading", "html_block", "html_inline"]
    )
    parser.inline.ruler.before(
        "link", "wikilink", partial(_read_token, pattern=_WIKILINK, kind="wikilink")
    )
    parser.inline.ruler.before(
        "autolink", "line_break", partial(_read_token, pattern=_LINE_BREAK, kind="hardbreak")
    )
    parser.inline.ruler.before("emphasis", "strong_cjk", _read_strong_in_cjk)
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]  # `web_address` encodes, and refuses what no click may open
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    return parser


def _read_token(state: StateInline, silent: bool, *, pattern: re.Pattern[str], kind: str) -> bool:
    found = pattern.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push(kind, "", 0).content = found[0]
    state.pos = found.end()
    return True


def _read_strong_in_cjk(state: StateInline, silent: bool) -> bool:
    """`**“words”**` between Chinese characters: CommonMark wants a space there, which Chinese does
    not have.
    """
    found = _STRONG.match(state.src, state.pos)
    around = state.src[max(0, state.pos - 1) : state.pos] + (
        state.src[found.end() : found.end() + 1] if found else ""
    )
    if found is None or silent or not _CJK.search(around):
        return False
    end = state.posMax
    state.push("strong_open", "strong", 1)
    state.pos = found.start(1)
    state.posMax = found.end(1)
    state.md.inline.tokenize(state)
    state.push("strong_close", "strong", -1)
    state.pos = found.end()
    state.posMax = end
    return True


class InlineText:
    """Inline tokens as styled text."""

    def __init__(self, tokens: Sequence[Token], links: LinkTargets) -> None:
        self.text = Text()
        self._links = links
        href = ""
        starts: list[int] = []
        for token in tokens:
            if token.nesting > 0:
                starts.append(len(self.text))
            start = starts.pop() if token.nesting < 0 else len(self.text)
            match token.type:
                case "text" | "text_special":
                    self._add_words(token.content, linked=bool(href))
                case "softbreak" | "hardbreak":
                    self.text.rstrip()
                    self.text.append("\n")
                case "code_inline":
                    self._add(f"{token.markup}{token.content}{token.markup}", "cyan")
                case "wikilink":
                    shown = token.content.replace("\\|", "|")
                    self._add(shown, "cyan")
                    self.text.stylize(
                        Style(
                            link=self._links.note(
                                shown.lstrip("!").strip("[]").partition("|")[0].strip()
                            )
                        ),
                        start,
                    )
                case "image":
                    self._add(token.content)
                    self._end_link(start, str(token.attrs["src"]))
                case "link_open":
                    href = str(token.attrs["href"])
                case "link_close":
                    self._end_link(start, href)
                    href = ""
                case "s_open" | "s_close":
                    # Not every terminal can strike text through
                    self._add("~~")
            if token.nesting < 0 and token.tag in _EMPHASIS:
                self.text.stylize(_EMPHASIS[token.tag], start)
        self.text.rstrip()

    def _add(self, text: str, style: str = "") -> None:
        self.text.append(sanitize_name(text), style or None)

    def _end_link(self, start: int, target: str) -> None:
        """Make the text since `start` a link. Where it leads must be seen, because not every
        terminal can open links.
        """
        shown = self.text.plain[start:]
        self.text.stylize("underline", start)
        if target and target not in (shown, f"mailto:{shown}"):
            self._add(f" ({target})" if shown else target, "dim")
        self.text.stylize(Style(link=web_address(target) or self._links.note(target)), start)

    def _add_words(self, text: str, *, linked: bool) -> None:
        """Plain text, with its citations and addresses of the web as links."""
        text = text.replace("\t", " ")
        at = 0
        for found in () if linked else _REFERENCE.finditer(text):
            self._add(text[at : found.start()])
            start = len(self.text)
            at = found.end()
            if found["url"]:
                url = found["url"].rstrip(_PUNCTUATION)
                while url.endswith(")") and url.count(")") > url.count("("):
                    url = url[:-1].rstrip(_PUNCTUATION)
                at = found.start() + len(url)
                self._add(url, "underline")
                self.text.stylize(Style(link=web_address(url)), start)
            else:
                self._add(found[0], "cyan")
                for number in re.finditer(r"\d+", found[0]):
                    self.text.stylize(
                        Style(link=self._links.source(int(number[0]))),
                        start + number.start(),
                        start + number.end(),
                    )
        self._add(text[at:])
