"""An answer that streams onto a terminal in this process: quick enough to try hundreds, and as
exact as a real one.
"""

import io
import re
from collections.abc import Callable, Iterable
from typing import Any

import pyte
from pyte.screens import Char
from terminal_screen import Scrolling

from zkchat_cli.events import TextDelta
from zkchat_cli.terminal.link_targets import NO_LINKS, LinkTargets
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.streaming_view import StreamingView
from zkchat_cli.views.live_budget import LiveBudget

SEQUENCES = re.compile(r"\x1b(?:\[[\d;]*[mKJGAB]|\]8;(?:id=\d+)?;[!-~]*\x1b\\)")
"""All that may be written besides text."""


class Terminal(Scrolling):
    """A screen that is resized as terminals do it: what has no room at the top scrolls away, and
    with `reflows` no row loses its end.
    """

    def __init__(self, columns: int, lines: int, *, reflows: bool = False) -> None:
        super().__init__(columns, lines, history=100_000, ratio=0.5)
        self._reflows = reflows

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        lines = lines or self.lines
        columns = columns or self.columns
        if self._reflows and columns < self.columns:
            self._reflow(columns)
        while self.cursor.y >= lines:
            self._scroll_away()
        # What is below the cursor and has no room any more is gone
        self.lines = lines
        for y in [y for y in self.buffer if y >= lines]:
            del self.buffer[y]
        super().resize(lines, columns)

    def rows(self) -> list[str]:
        """What has scrolled away, and the screen."""
        top = [self._text(line) for line in self.history.top]
        made = [*top, *(self._text(self.buffer[y]) for y in range(self.lines))]
        while made and not made[-1]:
            made.pop()
        return made

    def _text(self, line: Any) -> str:
        return "".join(
            line[x].data if x in line else " " for x in range(max([*line, 0]) + 1)
        ).rstrip()

    def _scroll_away(self) -> None:
        self.history.top.append(self.buffer[0].copy())
        for y in range(self.lines):
            self.buffer[y] = self.buffer[y + 1]
        self.cursor.y -= 1

    def _reflow(self, columns: int) -> None:
        """Rows that are too long go on below; the cursor stays with its character."""
        made: list[dict[int, Char]] = []
        cursor = (0, 0)
        for y in range(self.lines):
            row = self.buffer[y]
            length = max([x + 1 for x, cell in row.items() if cell.data.strip()] + [0])
            for begin in range(0, max(length, 1), columns):
                if y == self.cursor.y and begin <= self.cursor.x:
                    cursor = (len(made), min(self.cursor.x - begin, columns - 1))
                made.append(
                    {x - begin: cell for x, cell in row.items() if begin <= x < begin + columns}
                )
        self.cursor.y, self.cursor.x = cursor
        last = max([y for y, row in enumerate(made) if row] + [self.cursor.y])
        for y in range(last + 1):
            self.buffer[y].clear()
            self.buffer[y].update(made[y])
        while self.cursor.y >= self.lines:
            self._scroll_away()


class Streaming:
    """A Live on a terminal; by its clock each delta comes `pace` seconds after the one before, and
    is drawn.
    """

    def __init__(
        self,
        columns: int = 80,
        lines: int = 24,
        *,
        pace: float = 0.5,
        reflows: bool = False,
        opens: LinkTargets = NO_LINKS,
        **screen: Any,
    ) -> None:
        self.terminal = Terminal(columns, lines, reflows=reflows)
        self.raw = ""
        self.now = 0.0
        self._pace = pace
        self._stream = pyte.Stream(self.terminal)
        out = self
        given = {"color": True, "err_is_terminal": False, **screen}
        self.live = StreamingView(
            Screen(
                out,
                io.StringIO(),
                columns=lambda: self.terminal.columns,
                lines=lambda: self.terminal.lines,
                **given,
            ),  # type: ignore[arg-type]
            opens,
            budget=LiveBudget(),
            clock=lambda: self.now,
            ticking=False,
        )

    def write(self, text: str) -> int:
        self.raw += text
        self._stream.feed(text.replace("\n", "\r\n"))
        return len(text)

    def flush(self) -> None: ...

    def say(self, deltas: Iterable[str], each: Callable[[], None] = lambda: None) -> "Streaming":
        for delta in deltas:
            self.now += self._pace
            self.live.update(TextDelta(delta))
            self.live.add_answer(delta)
            each()
        return self

    def close(self) -> list[str]:
        """The rows in the end, scrolled away or not."""
        self.live.close()
        assert not set(SEQUENCES.sub("", self.raw)) & set(
            map(chr, (*range(10), *range(11, 32), *range(127, 160)))
        ) - {"\r"}, "a bare control"
        return self.terminal.rows()


def shown_rows(text: str, columns: int = 80, lines: int = 24, **more: Any) -> list[str]:
    """The rows of an answer that came in pieces of five characters."""
    return Streaming(columns, lines, **more).say(pieces_of(text, 5)).close()


def pieces_of(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]
