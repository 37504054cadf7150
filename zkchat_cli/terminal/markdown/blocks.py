"""Which line of an answer is what: paragraphs, headings, lists, quotes, code, tables, rules. Line by line, never backwards.

What a line is shows at its beginning; where it does not yet, the line waits (`UNDECIDED`), and so does a table for its columns. All else
is placed as it comes. A long table waits no longer than the screen has room for what waits: then its columns are fixed.
"""

import re
from collections.abc import Callable, Sequence
from copy import copy

from zkchat_cli.terminal.hyperlinks import LinkTargets
from zkchat_cli.terminal.markdown.fence import Fence
from zkchat_cli.terminal.markdown.flow import LEAST, Flow
from zkchat_cli.terminal.markdown.glyphs import Glyphs
from zkchat_cli.terminal.markdown.grammar import (
    BLOCK,
    CLOSING_MARKS,
    FENCE,
    HEADING,
    ITEM,
    QUOTE,
    ROW,
    RULE,
    TASK,
    UNDECIDED,
    UNDERLINE,
    Container,
    goes_on,
    indented,
    may_be_head,
    may_be_title,
    within,
)
from zkchat_cli.terminal.markdown.inline import Inline
from zkchat_cli.terminal.markdown.pieces import NEWLINE, Piece, narrowed, width, widths
from zkchat_cli.terminal.markdown.table import LINE_BREAK, Align, Table, cells, delimiter, may_begin

LONGEST_BEGINNING = 400
"""Characters of a line after which it is a paragraph, whatever may follow."""
LONGEST_LINE = 4000
"""Of a table's row or a line of code."""
LONGEST_RULE = 60
DEEPEST = 8
"""Lists and quotes within each other."""


class Sheet:
    """`feed` it harmless text, `take` the rows that are final. `columns` and `lines`, of the whole screen, may change at any time.

    `tail` are the rows that would follow if nothing more came; the last of what was taken and the first of the tail may be one row.
    """

    def __init__(
        self, columns: Callable[[], int], lines: Callable[[], int], opens: LinkTargets, glyphs: Glyphs, *, waits: bool = True
    ) -> None:
        self._screen = (columns, lines)
        self._opens = opens
        self._glyphs = glyphs
        self._waits = waits
        self._text = ""
        self._containers: tuple[Container, ...] = ()
        self._markers: tuple[Piece, ...] = ()
        """Of items that have begun and have no text yet."""
        self._inline: Inline | None = None
        self._flow: Flow | None = None
        self._within_line = False
        """Whether the beginning of the line is decided and the rest is the paragraph's."""
        self._fence: Fence | None = None
        self._table: Table | None = None
        self._head: str | None = None
        """A line that may be a table's head, or a heading: the next one shows it."""
        self._gap = False
        self._apart = False
        """Whether the block before is of those that stand apart from what follows."""
        self._begun = False
        self._out: list[Piece] = []

    def feed(self, text: str) -> None:
        self._text += text
        at = 0
        while (end := self._text.find("\n", at)) >= 0:
            self._line(self._shortened(self._text[at:end]), ended=True)
            at = end + 1
        rest = self._shortened(self._text[at:])
        self._text = rest if rest and not self._line(rest, ended=False) else ""

    def take(self) -> list[Piece]:
        """What has become final."""
        if self._inline and self._flow:
            self._flow.feed(self._inline.take())
            self._collect()
        taken, self._out = self._out, []
        return taken

    def tail(self) -> list[Piece]:
        """What would follow what has been taken, if nothing more came."""
        other = copy(self)
        other._out = []
        other._inline = self._inline.fork() if self._inline else None
        other._flow = self._flow.fork() if self._flow else None
        other._fence = self._fence.fork() if self._fence else None
        other._table = self._table.fork() if self._table else None
        return other.close()

    def close(self) -> list[Piece]:
        """The rest; nothing may be fed any more."""
        if self._text or self._within_line:
            self._line(self._text, ended=True)
            self._text = ""
        self._leave(())
        return self.take()

    # lines

    def _line(self, line: str, *, ended: bool) -> bool:
        """Take in a line, or the beginning of one; False when it must be longer to show what it is."""
        if self._within_line:
            self._say(line)
            if ended:
                self._within_line = False
            return True
        long = len(line) >= (LONGEST_LINE if ROW.match(line) else LONGEST_BEGINNING)
        if not ended and (self._fence or (not long and self._awaits_more(line))):
            return False
        self._within_line = self._begin_line(line, long=long) and not ended
        return True

    def _awaits_more(self, line: str) -> bool:
        """Whether the beginning of a line does not show yet what that is."""
        if self._table is not None or UNDECIDED.match(line) or (self._head is not None and may_begin(self._head)):
            return True
        return self._inline is None and self._head is None and (may_be_title(line) or may_be_head(line, ended=False))

    def _shortened(self, line: str) -> str:
        """Of a line of code that is too long to wait for, what is left."""
        while self._fence and len(line) >= LONGEST_LINE:
            self._begin_line(line[:LONGEST_LINE])
            line = line[LONGEST_LINE:]
        return line

    def _begin_line(self, line: str, *, long: bool = False) -> bool:
        """A line from its beginning; whether it is text, to which the rest of the line belongs."""
        rest, matched = within(line, self._containers)
        if self._fence:
            if matched == len(self._containers) or not any(each.is_quote for each in self._containers):
                return self._code(rest)
            self._end()
        blank = not rest.strip(" \t")
        if blank:
            self._blank(matched)
            return False
        indent, bare = indented(rest)
        if self._head is not None and matched == len(self._containers) and not long:
            if not self._head.startswith("|") and (underline := UNDERLINE.match(bare)):
                self._title(1 if underline[1] else 2)
                return False
            if self._begin_table(delimiter(bare)):
                return False
        self._end_head()
        if self._table:
            if matched == len(self._containers) and not long and (bare.startswith("|") or ("|" in bare and not BLOCK.match(bare))):
                self._table_row(bare)
                return False
            self._end()
        return self._block(bare, indent, matched, long=long)

    def _blank(self, matched: int) -> None:
        self._end()
        if matched < len(self._containers) and any(each.is_quote for each in self._containers):
            self._leave(self._containers[:matched])
        self._gap = self._begun

    def _block(self, bare: str, indent: int, matched: int, *, long: bool) -> bool:
        """What is in a line besides the quotes and items it stands in, which are `matched`."""
        containers = self._containers[:matched]
        while True:
            if not (RULE.fullmatch(bare) and not long) and len(containers) < DEEPEST:
                if bare.startswith(">"):
                    self._open(containers, Container())
                    containers, rest = self._containers, bare[QUOTE.match(bare).end() :]  # type: ignore[union-attr]
                    indent, bare = indented(rest)
                    if not bare:
                        self._blank(len(containers))
                        return False
                    continue
                item = ITEM.match(bare)
                if item and not (self._inline and goes_on(item, bare, (*self._containers, *containers))):
                    bare = self._open_item(containers, item, bare, indent)
                    containers, indent = self._containers, 0
                    if not bare:
                        return False
                    continue
            break
        if not long:
            if fence := FENCE.match(bare):
                self._leave(containers)
                self._begin_fence(fence[1] or fence[3], indent, fence[2] or fence[4] or "")
                return False
            if RULE.fullmatch(bare):
                self._leave(containers)
                self._rule()
                return False
            if heading := HEADING.match(bare):
                self._leave(containers)
                self._heading(len(heading[1]), CLOSING_MARKS.sub("", bare[heading.end() :]))
                return False
            if self._inline and matched == len(self._containers) and UNDERLINE.match(bare):  # of more than one line, which are text
                self._end()
                self._rule()
                return False
        plain = self._inline is None and not containers and not indent
        if not long and (bare.startswith("|") or (plain and (may_be_title(bare) or may_begin(bare)))):
            self._leave(containers)
            self._head = bare
            return False
        if self._inline is None:
            self._leave(containers)
            if indent >= 4 and not self._markers:
                bare = " " * indent + bare
            self._begin_text()
        else:
            self._say("\n")
        self._say(bare)
        return True

    def _open(self, within: Sequence[Container], container: Container) -> None:
        self._leave(within)
        self._markers += (Piece(f"{self._glyphs.quote} ", "frame"),) if container.is_quote else ()
        self._containers = (*within, container)

    def _open_item(self, within: Sequence[Container], item: re.Match[str], bare: str, indent: int) -> str:
        rest = bare[item.end() :]
        marker = item[1] if item[1][0].isdigit() else self._glyphs.bullet
        if task := TASK.match(rest):
            marker = self._glyphs.open_task if task[1] == " " else self._glyphs.done_task
            rest = rest[task.end() :]
        self._leave(within)
        self._markers += (Piece(f"{marker} ", "marker"),)
        content = indent + len(item[1]) + 1
        self._containers = (*within, Container(content, min(content, indent + 2), width(marker) + 1))
        return rest.lstrip(" \t")

    def _leave(self, containers: Sequence[Container]) -> None:
        """End the open block, and the quotes and items that are not among these."""
        self._end()
        containers = tuple(containers)
        if containers != self._containers:
            if self._markers:  # of an item without a word
                gap, self._gap = self._gap, False
                self._begin_text()
                self._end(empty=True)
                self._gap = gap
            self._containers = containers

    # blocks

    @property
    def _columns(self) -> int:
        """The last column stays free: there terminals differ on what a line end does."""
        return max(2, self._screen[0]() - 1)

    def _prefix(self) -> tuple[list[Piece], list[Piece]]:
        """What stands before the first row of a block, and before its others."""
        rest = self._margin(self._containers)
        first = [*rest[: len(rest) - len(self._markers)], *self._markers]
        self._markers = ()
        room = self._columns - LEAST
        return narrowed(first, room), narrowed(rest, room)

    def _margin(self, containers: Sequence[Container]) -> list[Piece]:
        return [Piece(f"{self._glyphs.quote} ", "frame") if each.is_quote else Piece(" " * each.marked) for each in containers]

    def _separate(self, *, apart: bool = False) -> None:
        """An empty row before a block, where there is one in the text or the block stands apart."""
        if self._begun and (self._gap or self._apart or apart):
            open_before = self._containers[: len(self._containers) - len(self._markers)]
            quotes = max((i + 1 for i, each in enumerate(open_before) if each.is_quote), default=0)
            self._out += narrowed(self._margin(open_before[:quotes]), self._columns - LEAST)
            self._out.append(NEWLINE)
        self._gap, self._apart, self._begun = False, False, True

    def _begin_text(self, style: str = "") -> None:
        self._separate()
        first, rest = self._prefix()
        self._inline, self._flow = Inline(self._opens, style), Flow(self._columns, first, rest)

    def _say(self, text: str) -> None:
        assert self._inline
        assert self._flow
        self._inline.feed(text)
        self._flow.columns = self._columns

    def _collect(self) -> None:
        assert self._flow
        self._out += self._flow.out
        self._flow.out = []

    def _end(self, *, empty: bool = False) -> None:
        """Whatever block is open ends here."""
        if self._head is not None:
            head, self._head = self._head, None
            self._begin_text()
            self._say(head)
        if self._inline and self._flow:
            self._flow.feed(self._inline.take(final=True))
            if empty:
                self._flow.feed([NEWLINE])
            self._flow.close()
            self._collect()
            self._inline = self._flow = None
        if self._table:
            self._emit(self._table.rows(self._room))
            self._table, self._apart = None, True
        if self._fence:
            self._fence, self._apart = None, True

    def _title(self, level: int) -> None:
        """The line above is underlined."""
        assert self._head is not None
        head, self._head = self._head, None
        self._heading(level, head.rstrip())

    def _heading(self, level: int, title: str) -> None:
        self._separate(apart=True)
        first, rest = self._prefix()
        self._inline, self._flow = Inline(self._opens, f"heading{min(level, 3)}"), Flow(self._columns, first, rest)
        if level > 1:
            self._flow.feed([Piece("#" * level + " ", "frame")])
        self._say(title)
        self._end(empty=not title)

    def _rule(self) -> None:
        self._separate()
        first, _ = self._prefix()
        self._out += [*first, Piece(self._glyphs.table.rule * min(LONGEST_RULE, max(3, self._columns - widths(first))), "frame"), NEWLINE]

    def _begin_fence(self, mark: str, indent: int, said: str) -> None:
        self._separate(apart=True)
        self._fence = Fence.opened(mark, indent, said)
        self._place_markers()

    def _place_markers(self) -> None:
        """On a row of their own, before code or a table; the bar of a quote stands before each row anyway."""
        if any(marker.style == "marker" for marker in self._markers):
            first, _ = self._prefix()
            self._out += [*first, NEWLINE]
        self._markers = ()

    def _code(self, line: str) -> bool:
        assert self._fence
        if self._fence.ends_with(line):
            self._end()
        else:
            self._out += self._fence.rows(line, self._prefix()[1], self._columns)
        return False

    @property
    def _room(self) -> int:
        return max(LEAST, self._columns - widths(self._prefix()[1]))

    def _begin_table(self, aligns: tuple[Align, ...] | None) -> bool:
        head = self._head
        if head is None or aligns is None or not may_begin(head) or len(cells(head)) != len(aligns):
            return False
        self._head = None
        self._separate(apart=True)
        self._place_markers()
        self._table = Table([self._cell(cell) for cell in cells(head)], aligns, self._glyphs.table)
        return True

    def _end_head(self) -> None:
        """It was neither a head nor a heading but text, and a paragraph may go on with this line."""
        head, self._head = self._head, None
        if head is not None:
            self._begin_text()
            self._say(head)

    def _cell(self, text: str) -> list[Piece]:
        """What a cell says, whose lines HTML alone can break."""
        said: list[Piece] = []
        for part in LINE_BREAK.split(text):
            inline = Inline(self._opens)
            inline.feed(part.strip(" \t"))
            said += [*([NEWLINE] if said else []), *inline.take(final=True)]
        return said

    def _table_row(self, line: str) -> None:
        assert self._table
        self._table.add([self._cell(cell) for cell in cells(line)])
        if not self._waits or self._table.is_higher(self._room, max(3, self._screen[1]() // 3)):
            self._table.settle()
            self._emit(self._table.rows(self._room))

    def _emit(self, pieces: Sequence[Piece]) -> None:
        """Whole rows, behind what stands before them."""
        _, before = self._prefix()
        begins = True
        for piece in pieces:
            if begins:
                self._out += before
            self._out.append(piece)
            begins = piece is NEWLINE
