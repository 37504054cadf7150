"""Markdown on a terminal while it streams.

`StreamingMarkdown.render` returns rows that are final, once, and the rows of the block that is still open. markdown-it-py parses only the
text behind the last finished block; rich styles text and highlights code. `rich.live` with `rich.markdown` parses and draws all of an
answer for each delta: 460 ms for 4.7 kB, against 4 ms for the open block.

The reading is lenient because models are: line breaks stay, four spaces do not make code, HTML and link definitions are text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from rich.style import Style
from rich.text import Text

from zkchat_cli.terminal.hyperlinks import LinkTargets, web_address
from zkchat_cli.terminal.markdown_blocks import MIN_TEXT, Canvas, CodeBlock, DrawnBlock, Prefix, Row, TableBlock, TextBlock
from zkchat_cli.text.sanitize import sanitize, sanitize_name

MAX_NESTING = 60
MAX_RULE = 60
"""Columns of a horizontal rule."""
_UNDECIDED = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:[-+]|\d{1,9}[.)]?|\#{1,6}|[`~]+|\[[ xX]?|=+|[-*_:| \t]+|\|.*)?[ \t]*\Z")
"""A last line of which only marks have come: it is not drawn before it shows what it is."""
_WIKILINK = re.compile(r"!?\[\[[^\[\]\n]{1,300}\]\]")
_KEEPS_PIPES = re.compile(r"!?\[\[[^\[\]\n]{1,300}\]\]|(?<!`)`[^`\n]{1,300}`(?!`)")
_REFERENCE = re.compile(
    r"(?<![0-9A-Za-z_])(?P<citation>\[\^?(?:sources? )?\d{1,4}(?: ?[,;–-] ?\d{1,4}){0,20}\](?![(:])|【\d{1,4}(?: ?[,;–-] ?\d{1,4}){0,20}】)"
    r"|(?P<url>https?://[^\s<>\"`\[\]{}|\\^]{1,2000})"
)
_NUMBER = re.compile(r"\d+")
LONGEST_WORD = 40
"""Characters of a word that moves to another row as a whole; text without spaces breaks anywhere."""
_OPENER = re.compile(r"`|~~|&(?=[#\w]*\Z)|<(?=[A-Za-z]|\Z)|\*(?=\S|\Z)|(?<!\w)_|\[(?![^\[\]]*\][^(\[])|【")
"""A mark that the text to come may still turn into the beginning of emphasis, code, a link or a character by its name."""
_STRONG = re.compile(r"\*\*(?=[^\s*])([^*`\n]{1,300})(?<!\s)\*\*(?!\*)")
_CJK = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]")
_TASK = re.compile(r"\[([ xX])\](?:\s+|\Z)")
_LINE_BREAK = re.compile(r"[ \t]*<br[ \t]{0,9}/?>[ \t]*", re.IGNORECASE)
_EMPHASIS = {"strong": "bold", "em": "italic", "s": "strike"}


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"]).disable(["reference", "code", "html_block", "html_inline"])
    parser.inline.ruler.before("link", "wikilink", _read_wikilink)
    parser.inline.ruler.before("emphasis", "strong_cjk", _read_strong_in_cjk)
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]  # `web_address` encodes, and refuses what no click may open
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    return parser


def _read_wikilink(state: StateInline, silent: bool) -> bool:
    found = _WIKILINK.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("wikilink", "", 0).content = found[0]
    state.pos = found.end()
    return True


def _read_strong_in_cjk(state: StateInline, silent: bool) -> bool:
    """`**“words”**` between Chinese characters: CommonMark wants a space there, which Chinese does not have."""
    found = _STRONG.match(state.src, state.pos)
    around = state.src[max(0, state.pos - 1) : state.pos] + (state.src[found.end() : found.end() + 1] if found else "")
    if found is None or silent or not _CJK.search(around):
        return False
    end = state.posMax
    state.push("strong_open", "strong", 1)
    state.pos, state.posMax = found.start(1), found.end(1)
    state.md.inline.tokenize(state)
    state.push("strong_close", "strong", -1)
    state.pos, state.posMax = found.end(), end
    return True


class StreamingMarkdown:
    """`feed` it sanitized text and `render` it as often as you like."""

    def __init__(self, canvas: Canvas, links: LinkTargets) -> None:
        self._canvas = canvas
        self._links = links
        self._source = ""
        """The text of the open block, and a blank line before it."""
        self._blocks_done = self._offset = 0
        """Blocks of the source that are drawn for good, and how much of the next one is."""
        self._last_drawn: DrawnBlock | None = None
        """The block before the source."""

    def feed(self, text: str) -> None:
        self._source += text

    def render(self, width: int, *, final: bool = False) -> tuple[list[Row], list[Row]]:
        """The rows that are final since the last call, and the rows of the open block. With `final` the answer is complete."""
        self._canvas = canvas = replace(self._canvas, width=width)
        document = _Document(self._source if final else _decided_source(self._source), self._links, canvas, self._last_drawn)
        blocks = document.blocks
        closed = len(blocks) if final or document.blocks_before == len(blocks) else len(blocks) - 1
        final_rows: list[Row] = []
        open_rows: list[Row] = []
        for number in range(self._blocks_done, len(blocks)):
            block = blocks[number]
            split = block.split(self._offset, canvas, closed=number < closed)
            gap = [canvas.row(block.gap.draw(width))] if block.gap and not self._offset else []
            if number < closed:
                final_rows += [*gap, *split.final]
                self._blocks_done, self._offset = number + 1, 0
            else:
                (final_rows if split.final else open_rows).extend(gap)
                final_rows += split.final
                open_rows += split.open
                self._offset = split.offset
        if document.last_part_line and not final:
            lines = self._source.split("\n")
            start = document.last_part_line - (not lines[document.last_part_line - 1].strip("> \t"))
            self._source = "\n".join(lines[start:])
            self._blocks_done = max(0, self._blocks_done - document.blocks_before)
            self._last_drawn = blocks[document.blocks_before - 1] if document.blocks_before else self._last_drawn
        return final_rows, open_rows


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


@dataclass(slots=True)
class _Container:
    """A quote, or an item of a list with a marker that is drawn once."""

    prefix: str
    marker: str = ""
    is_item: bool = False
    is_new: bool = True


class _Document:
    """The blocks of a source, read from the tokens of markdown-it.

    The last part is the last block at the top level, or the last item if that is a list: what comes before it cannot change any more.
    """

    def __init__(self, source: str, links: LinkTargets, canvas: Canvas, last_drawn: DrawnBlock | None) -> None:
        self.blocks: list[DrawnBlock] = []
        self.last_part_line = self.blocks_before = 0
        self._links = links
        self._canvas = canvas
        self._last_drawn = last_drawn
        self._lines = source.split("\n")
        self._containers: list[_Container] = []
        if "|" in source:
            lines = (_escape_pipes(line) if line.lstrip(" \t>").startswith("|") else line for line in self._lines)
            source = "\n".join(lines)
        self._read(_parser().parse(source))

    def _read(self, tokens: Sequence[Token]) -> None:
        heading = ""
        table: list[list[Text]] = []
        aligns: list[str] = []
        in_cell = False
        line = indent = 0
        for token in tokens:
            if token.map and token.nesting >= 0:
                line = token.map[0]
                if token.level == 0 or (token.level == 1 and token.type == "list_item_open"):
                    self.last_part_line, self.blocks_before = line, len(self.blocks)
            match token.type:
                case "blockquote_open":
                    self._containers.append(_Container("│ "))
                case "bullet_list_open" | "ordered_list_open":
                    first = self._lines[line]
                    indent = 0 if self._containers else len(first) - len(first.lstrip(" "))
                case "list_item_open":
                    marker = " " * indent + (f"{token.info}{token.markup} " if token.info else "• ")
                    self._containers.append(_Container(" " * len(marker), marker, is_item=True))
                case "list_item_close":
                    if self._containers[-1].marker:
                        self._add(TextBlock(self._prefix(), Text(), 0), line)
                    self._containers.pop()
                case "blockquote_close":
                    self._containers.pop()
                case "heading_open" | "heading_close":
                    heading = token.tag[1:] if token.nesting > 0 else ""
                case "hr":
                    room = self._canvas.width - sum(len(each.prefix) for each in self._containers)
                    self._add(TextBlock(self._prefix(), Text("─" * min(MAX_RULE, max(MIN_TEXT, room)), "frame"), 0), line)
                case "fence":
                    language = (token.info.split() or [""])[0].strip("{}.").lower()[:40]
                    self._add(CodeBlock(self._prefix(), sanitize(token.content).expandtabs(4), language), line, gap_after=True)
                case "table_open":
                    table, aligns = [], []
                case "tr_open":
                    table.append([])
                case "th_open" | "td_open":
                    in_cell = True
                    if token.tag == "th":
                        aligns.append(str(token.attrs.get("style", "")).rpartition(":")[2])
                case "th_close" | "td_close":
                    in_cell = False
                case "table_close":
                    self._add(TableBlock(self._prefix(), table[0], table[1:], aligns), line, gap_after=True)
                case "inline" if in_cell:
                    table[-1].append(self._inline(token, in_cell=True)[0])
                case "inline":
                    self._add_text(token, heading, line)

    def _add_text(self, token: Token, heading: str, line: int) -> None:
        children = token.children or []
        item = self._containers[-1] if self._containers else None
        if item and item.is_item and item.marker and children and (task := _TASK.match(children[0].content)):
            children[0].content = children[0].content[task.end() :]
            indent = item.marker[: len(item.marker) - len(item.marker.lstrip(" "))]
            item.marker = indent + ("☐ " if task[1] == " " else "☑ ")
            item.prefix = " " * len(item.marker)
        text, certain_length = self._inline(token)
        if heading:
            text.stylize_before(f"heading{min(int(heading), 3)}")
        prefix = self._prefix()
        if heading > "1":
            prefix = replace(prefix, first=(*prefix.first, ("#" * int(heading) + " ", "frame")))
        self._add(TextBlock(prefix, text, certain_length, heading=bool(heading)), line, gap_before=bool(heading))

    def _add(self, block: DrawnBlock, line: int, *, gap_before: bool = False, gap_after: bool = False) -> None:
        """`gap_before`: the block needs an empty row before it; `gap_after`: and after it too."""
        previous = self.blocks[-1] if self.blocks else self._last_drawn
        blank = line > 0 and not self._lines[line - 1].strip("> \t")
        if previous and (blank or gap_before or gap_after or previous.gap_after):
            block.gap = self._gap_prefix
        block.gap_after = gap_after
        self.blocks.append(block)

    def _prefix(self) -> Prefix:
        """The prefix of the next block. The empty row before it has the bars of the quotes around it, up to the first new item."""
        old = [each for each in self._containers if not each.is_new]
        quotes = max((number for number, each in enumerate(old, 1) if not each.is_item), default=0)
        bars = tuple((each.prefix, "frame") for each in old[:quotes])
        self._gap_prefix = Prefix(bars, bars)
        rest = tuple((each.prefix, "frame") for each in self._containers)
        first = tuple((each.marker, "marker") if each.marker else (each.prefix, "frame") for each in self._containers)
        for each in self._containers:
            each.marker, each.is_new = "", False
        return Prefix(first, rest)

    def _inline(self, token: Token, *, in_cell: bool = False) -> tuple[Text, int]:
        inline = _Inline(self._links, self._canvas, in_cell=in_cell)
        inline.read(token.children or [])
        if in_cell:
            inline.text.rstrip()
        return inline.text, inline.certain_length if inline.certain_length is not None else len(inline.text)


class _Inline:
    """Inline tokens as styled text. `certain_length`: the characters before the first mark that may still become something else."""

    def __init__(self, links: LinkTargets, canvas: Canvas, *, in_cell: bool) -> None:
        self.text = Text()
        self.certain_length: int | None = None
        self._links = links
        self._canvas = canvas
        self._in_cell = in_cell
        self._styles: list[str] = []

    def read(self, tokens: Sequence[Token]) -> None:
        target: tuple[str, int] = ("", 0)
        for token in tokens:
            match token.type:
                case "text" | "text_special":
                    self._add_words(token.content)
                case "softbreak" | "hardbreak":
                    self.text.append("\n")
                case "code_inline":
                    self._add(f"{token.markup}{token.content}{token.markup}", "code")
                case "wikilink":
                    name = token.content.lstrip("!").strip("[]").replace("\\|", "|")
                    shown = token.content.replace("\\|", "|")
                    self._add(shown, "note", self._links.note(name.partition("|")[0].strip()))
                case "image":
                    self._add_target(token.content, str(token.attrs["src"]), self._add(token.content, "link"))
                case "link_open":
                    target = (str(token.attrs["href"]), len(self.text))
                    self._styles.append("link")
                case "link_close":
                    self._styles.remove("link")
                    self._add_target(self.text.plain[target[1] :], *target)
                case _ if token.tag in _EMPHASIS:
                    if token.tag == "s":
                        self._add("~~")  # not every terminal can strike text through
                    (self._styles.append if token.nesting > 0 else self._styles.remove)(_EMPHASIS[token.tag])

    def _add(self, text: str, style: str = "", address: str | None = None) -> int:
        """Append text and return where it begins."""
        start = len(self.text)
        console = self._canvas.console
        styles = [console.get_style(name) for name in (*self._styles, *style.split())]
        if address:
            styles.append(Style(link=address))
        self.text.append(sanitize_name(text), Style.combine(styles) if styles else None)
        return start

    def _add_target(self, shown: str, target: str, start: int) -> None:
        """Make the text since `start` a link. Where it leads must be seen, because not every terminal can open links."""
        address = web_address(target) or self._links.note(target)
        if target and target not in (shown, f"mailto:{shown}"):
            self._add(f" ({target})" if shown else target, "address")
        if address:
            self.text.stylize(Style(link=address), start)

    def _add_words(self, text: str) -> None:
        """Plain text, with its citations and addresses of the web as links."""
        text = text.replace("\t", " ")
        if self._in_cell and "<" in text:
            for number, line in enumerate(_LINE_BREAK.split(text)):
                if number:
                    self.text.append("\n")
                self._add_plain(line)
        else:
            self._add_plain(text)

    def _add_plain(self, text: str) -> None:
        at = 0
        for found in _REFERENCE.finditer(text) if "link" not in self._styles else ():
            self._add_uncertain(text[at : found.start()])
            if found["url"]:
                at = found.start() + len(_without_punctuation(found["url"]))
                self._add(text[found.start() : at], "link", web_address(text[found.start() : at]))
            else:
                at = found.start()
                for number in _NUMBER.finditer(text, at, found.end()):
                    self._add(text[at : number.start()], "citation")
                    self._add(number[0], "citation", self._links.source(int(number[0])))
                    at = number.end()
                self._add(text[at : found.end()], "citation")
                at = found.end()
        self._add_uncertain(text[at:])

    def _add_uncertain(self, text: str) -> None:
        if self.certain_length is None and (found := _OPENER.search(text)):
            position = len(self.text) + found.start()
            before = self.text.plain + text[: found.start()]
            self.certain_length = max(before.rfind(" "), position - LONGEST_WORD, 0)  # the word may get shorter, and move to the row before
        if text:
            self._add(text)


def _without_punctuation(url: str) -> str:
    """An address without the punctuation of the sentence around it."""
    url = url.rstrip(".,;:!?'*_~")
    while url.endswith(")") and url.count(")") > url.count("("):
        url = url[:-1].rstrip(".,;:!?'*_~")
    return url


def _escape_pipes(line: str) -> str:
    """A row of a table with the pipes inside links and code escaped: models do not escape them."""
    return _KEEPS_PIPES.sub(lambda found: re.sub(r"(?<!\\)\|", r"\\|", found[0]), line)
