"""A turn on a terminal while the answer streams.

Final rows are written once and scroll away. Below them, only what changed is drawn again: the open
block, at most a third of the screen, and the status line. Then the cursor returns to the end of the
final rows, so that after a resize everything else is after the cursor and can be erased.
`rich.live.Live` writes all rows for each delta, and leaves copies behind when the terminal becomes
narrower.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from rich.cells import split_graphemes
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from zkchat_cli import events
from zkchat_cli.terminal.link_targets import NO_LINKS, LinkTargets
from zkchat_cli.terminal.plain_turn_view import WITHDRAWN
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.status_line import FRAME_TIME, StatusLine
from zkchat_cli.terminal.streaming_markdown import StreamingMarkdown
from zkchat_cli.text.sanitize import sanitize
from zkchat_cli.views.live_budget import LiveBudget

# Shortest time between two drawings, in seconds, and as a multiple of the last drawing's duration
MIN_INTERVAL = 1 / 30
IDLE_FACTOR = 9
# Seconds before the status line appears: for a faster answer it would only flicker
STATUS_DELAY = 0.4
_UNSURE = re.compile(
    "[\u00ad\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f\ufeff"
    "\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
"""Characters that join or change others: terminals disagree on the width of the result."""


class ScreenSize(NamedTuple):
    """The size of a terminal."""

    columns: int
    lines: int


def redraw(
    old: Sequence[Text], final: Sequence[Text], rows: Sequence[Text], console: Console
) -> str:
    """The characters that draw the final rows and, below them, the others, where the `old` rows are
    now.

    They contain only what differs. The cursor ends after the final rows.
    """
    new = [*final, *rows]
    out: list[str] = []
    # The row of the cursor
    at = 0

    def move(row: int) -> None:
        nonlocal at
        out.append(f"\x1b[{at - row}A" if row < at else "\n" * (row - at))
        at = row

    for number, row in enumerate(new):
        before = old[number] if number < len(old) else None
        if row != before:
            move(number)
            out += ["\r", *_encoded(row, console), "\x1b[K" if before else ""]
    if len(old) > len(new):
        move(len(new))
        out.append("\r\x1b[J")
    move(len(final))
    text = "".join(out)
    return text and text + "\r"


def _encoded(row: Text, console: Console) -> Iterator[str]:
    """The row with explicit cursor positions after characters of uncertain width, so that tables
    stay aligned.
    """
    column = 0
    for segment in Segment.simplify(row.render(console)):
        text = segment.text
        if _UNSURE.search(text):
            text, column = _placed(text, column)
        else:
            column += segment.cell_length
        if segment.style:
            text = segment.style.render(text, color_system=ColorSystem.EIGHT_BIT)
        yield text


def _placed(text: str, column: int) -> tuple[str, int]:
    """Text that begins at a column, with cursor positions where they are needed, and the column
    where it ends.
    """
    placed = ""
    graphemes, _ = split_graphemes(text)
    for start, end, width in graphemes:
        grapheme = text[start:end]
        column += width
        placed += grapheme
        if _UNSURE.search(grapheme):
            placed += f"\x1b[{column + 1}G"
    return placed, column


class StreamingView:
    """The screen while a turn runs: everything is written through it.

    With a `budget` the status line has its bar. With `ticking`, a thread draws while no text
    arrives. `close` it however the turn ends.
    """

    def __init__(
        self,
        screen: Screen,
        links: LinkTargets,
        *,
        budget: LiveBudget | None,
        clock: Callable[[], float] = time.monotonic,
        ticking: bool = True,
    ) -> None:
        assert screen.columns is not None
        self._screen = screen
        self._console = screen.console()
        self._columns = screen.columns
        self._lines = screen.lines
        self._links = links
        self._clock = clock
        self._lock = threading.RLock()
        self._began_at = clock()
        self._status = StatusLine(self._began_at, budget)
        self._stream: StreamingMarkdown | None = None
        self._is_answer = False
        self._needs_gap = False
        self._paused = False
        # The rows at and below the cursor
        self._rows: Sequence[Text] = ()
        # The size at the last drawing
        self._size = ScreenSize(0, 0)
        self._next_drawing = 0.0
        self._closed = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="zkchat-spinner", daemon=True)
        if ticking:
            self._ticker.start()

    def update(self, event: events.Event) -> None:
        """Use an event for the status line; what takes a while is shown at once."""
        with self._lock:
            self._status.update(event)
            self._paused = False
            if isinstance(event, events.TextWithdrawn):
                self.print_remark(WITHDRAWN, "dim")
            if isinstance(event, events.ToolCallStarted | events.Waiting):
                self._end()
                self._draw(force=True)

    def add_answer(self, text: str) -> None:
        """Draw a piece of the answer."""
        with self._lock:
            if self._stream is None or not self._is_answer:
                # An answer does not begin with an empty row
                text = text.lstrip()
                if not text:
                    return
                self._end()
                if self._needs_gap:
                    self._screen.print()
                self._stream = StreamingMarkdown(self._console, self._links)
                self._is_answer = True
                self._needs_gap = False
            self._stream.feed(sanitize(text.replace("\r", "")))
            self._draw()

    def add_reasoning(self, text: str) -> None:
        """Draw a piece of what the model thinks before it answers."""
        with self._lock:
            if self._stream is None or self._is_answer:
                self.print_remark("  thinking", "dim")
                self._stream = StreamingMarkdown(self._console, NO_LINKS, Text("  ", "comment"))
            self._stream.feed(sanitize(text.replace("\r", "")))
            self._draw()

    def print_remark(self, line: str, style: str = "") -> None:
        """Print a line that is not part of the answer."""
        with self._lock:
            self._end()
            self._screen.print(line, *style.split())
            self._needs_gap = True

    def pause(self) -> None:
        """Draw nothing until the turn continues, because something else may use the screen."""
        with self._lock:
            self._end()
            self._paused = True

    def close(self) -> None:
        """Finish the text, and draw nothing more."""
        self._closed.set()
        with self._lock:
            self._end()
        if self._ticker.is_alive():
            self._ticker.join(1)

    def _end(self) -> None:
        self._draw(end=True)
        self._stream = None
        self._is_answer = False

    def _draw(self, *, force: bool = False, end: bool = False) -> None:
        """Write the final rows and draw the open ones again, if it is time for that.

        At the `end` of a text all its rows are final.
        """
        now = self._clock()
        if not (force or end) and now < self._next_drawing:
            return
        began = time.perf_counter()
        erased = self._erase_after_resize()
        columns, lines = self._size
        final: Sequence[Text] = ()
        rows: Sequence[Text] = ()
        if self._stream is not None:
            # The last column stays free: terminals differ in what a line end does there
            final, rows = self._stream.render(max(2, columns - 1), final=end)
        rows = _last_rows(rows, max(1, lines // 3))
        if not end and now - self._began_at >= STATUS_DELAY:
            rows = [*rows, self._status.line(now, columns - 1)]
        text = erased + redraw(self._rows, final, rows, self._console)
        self._rows = rows
        if text:
            self._screen.out.write(text)
            self._screen.out.flush()
        if not end:
            duration = time.perf_counter() - began
            self._next_drawing = now + max(MIN_INTERVAL, IDLE_FACTOR * duration)

    def _erase_after_resize(self) -> str:
        """Note the size of the screen, and return what erases the rows if it has changed: they are
        then no longer where they were drawn.
        """
        before = self._size
        self._size = ScreenSize(self._columns(), self._lines())
        if self._size == before or not self._rows:
            return ""
        self._rows = ()
        return "\r\x1b[J"

    def _tick(self) -> None:
        # The terminal is gone; the next write reports it
        with suppress(OSError):
            while not self._closed.wait(FRAME_TIME):
                with self._lock:
                    if not self._paused and not self._closed.is_set():
                        self._draw(force=not self._is_answer)


def _last_rows(rows: Sequence[Text], limit: int) -> Sequence[Text]:
    """The last rows, at most `limit`, with a sign for those that are left out."""
    if len(rows) <= limit:
        return rows
    return [Text("…", "dim"), *rows[len(rows) - limit + 1 :]][-limit:]
