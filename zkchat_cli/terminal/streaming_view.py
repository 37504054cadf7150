"""A turn on a terminal while the answer streams.

Final rows are written once and scroll away. Only what changed in the rows below is drawn again: the
open block, at most a third of the screen, and the status line. Then the cursor goes back to where
the final rows end, so that after a resize all of the rest is behind it and can be erased.
`rich.live.Live` writes all rows for each delta, and leaves copies behind when the terminal becomes
narrower.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from rich.cells import cell_len, chop_cells, split_graphemes
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from zkchat_cli import events
from zkchat_cli.terminal.screen import NO_LINKS, LinkTargets, Screen
from zkchat_cli.terminal.streaming_markdown import StreamingMarkdown
from zkchat_cli.text.sanitize import sanitize, sanitize_name
from zkchat_cli.text.truncate import format_arguments, truncate
from zkchat_cli.views.text import BudgetBar

# Seconds between two drawings at least, and how many times as long as the last drawing took
MIN_INTERVAL = 1 / 30
IDLE_FACTOR = 9
# Seconds before the status line appears: for a quicker answer it would only flicker
STATUS_DELAY = 0.4

# A rough figure for prose: single deltas cannot be counted exactly, and the end of the turn has the
# exact figures
BYTES_PER_TOKEN = 4
FRAME_TIME = 0.12
BAR_CELLS = 7
MAX_ARGUMENTS = 44
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_UNSURE = re.compile(
    "[\u00ad\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f\ufeff\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
"""Characters that join or change others: terminals disagree on how wide the result is."""


class StatusLine:
    """Collects what happens in a turn that began at `began_at`, in seconds of the caller's
    clock.
    """

    def __init__(self, began_at: float) -> None:
        self._began_at = began_at
        self._activity = self._speaker = ""
        self._tokens = 0.0
        self._used = self._limit = 0
        """Tokens of the prompt without those that arrived, and how many can be sent; no limit
        before the first prompt.
        """

    def update(self, event: events.Event) -> None:
        self._activity = ""
        match event:
            case events.PromptBuilt(usage, speaker):
                self._speaker = sanitize_name(speaker)
                self._limit = usage.effective_limit
                self._used = usage.total_tokens - round(self._tokens)
            case events.TextDelta(text) | events.ReasoningDelta(text):
                self._tokens += len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN
            case events.ToolCallStarted(call):
                self._activity = sanitize_name(
                    (
                        f"{call.name} {truncate(format_arguments(call.arguments), MAX_ARGUMENTS)}"
                    ).rstrip()
                )
            case events.ToolCallFinished(_, run, _):
                self._used += run.tokens
            case events.CompactionStarted(why):
                self._activity = sanitize_name(f"compacting: {why}")
            case events.Waiting(seconds, reason):
                self._activity = sanitize_name(f"again in {max(1, round(seconds))} s: {reason}")

    def line(self, now: float, columns: int) -> str:
        bar = BudgetBar(self._used + round(self._tokens), self._limit, BAR_CELLS)
        budget = f"{bar.bar} {bar.figures}" if self._limit else ""
        arrived = f"~{self._tokens:.0f} tokens" if self._tokens else ""
        parts = (
            self._activity,
            f"{now - self._began_at:.0f} s",
            "Ctrl-C stops",
            budget,
            self._speaker,
            arrived,
        )
        first, *rest = filter(None, parts)
        line = f"{_SPINNER[int(now / FRAME_TIME) % len(_SPINNER)]} {first}"
        for part in rest:
            if cell_len(f"{line} · {part}") > columns:
                break
            line += f" · {part}"
        return chop_cells(line, max(1, columns))[0]


def redraw(
    old: Sequence[Text], final: Sequence[Text], rows: Sequence[Text], console: Console
) -> str:
    """What puts the final rows above the cursor and the others at it and below, where the `old`
    rows are drawn: only what differs.
    """
    new = [*final, *rows]
    out: list[str] = []
    at = 0  # the cursor's row

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
    """The row with the cursor placed after each character whose width terminals disagree on, so
    that tables stay aligned.
    """
    column = 0
    for segment in Segment.simplify(row.render(console)):
        text = segment.text
        if _UNSURE.search(text):
            text = ""
            for start, end, width in split_graphemes(segment.text)[0]:
                column += width
                text += segment.text[start:end]
                text += f"\x1b[{column + 1}G" if _UNSURE.search(segment.text[start:end]) else ""
        else:
            column += segment.cell_length
        yield (
            segment.style.render(text, color_system=ColorSystem.EIGHT_BIT)
            if segment.style
            else text
        )


class StreamingView:
    """The screen while a turn runs: everything that is written meanwhile goes through it. With
    `ticking`, a thread draws while no text arrives. `close` it however the turn ends.
    """

    def __init__(
        self,
        screen: Screen,
        links: LinkTargets,
        *,
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
        self._status = StatusLine(self._began_at)
        self._stream: StreamingMarkdown | None = None
        self._is_answer = self._needs_gap = self._paused = False
        # The rows at and below the cursor
        self._rows: Sequence[Text] = ()
        # Columns and lines of the screen at the last drawing
        self._size = (0, 0)
        self._next_drawing = 0.0
        self._closed = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="zkchat-spinner", daemon=True)
        if ticking:
            self._ticker.start()

    def update(self, event: events.Event) -> None:
        with self._lock:
            self._status.update(event)
            self._paused = False
            if isinstance(event, events.ToolCallStarted | events.Waiting):
                self._end()
                self._draw(force=True)

    def add_answer(self, text: str) -> None:
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
        with self._lock:
            if self._stream is None or self._is_answer:
                self.print_remark("  thinking", "dim")
                self._stream = StreamingMarkdown(self._console, NO_LINKS, Text("  ", "comment"))
            self._stream.feed(sanitize(text.replace("\r", "")))
            self._draw()

    def print_remark(self, line: str, style: str = "") -> None:
        with self._lock:
            self._end()
            self._screen.print(line, *style.split())
            self._needs_gap = True

    def pause(self) -> None:
        """Draw nothing until the turn continues: somebody else may use the screen."""
        with self._lock:
            self._end()
            self._paused = True

    def close(self) -> None:
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
        """Write the final rows and draw the open ones again, if it is time to. At the `end` of a
        text all its rows are final.
        """
        now = self._clock()
        if not (force or end) and now < self._next_drawing:
            return
        began = time.perf_counter()
        size = self._size
        self._size = (self._columns(), self._lines())
        erased = ""
        # After a resize the rows on the screen are not the ones we drew
        if size != self._size and self._rows:
            erased = "\r\x1b[J"
            self._rows = ()
        # The last column stays free: terminals differ in what a line end does there
        width = max(2, self._size[0] - 1)
        final, rows = self._stream.render(width, final=end) if self._stream else ([], [])
        limit = max(1, self._size[1] // 3)
        if len(rows) > limit:
            rows = [Text("…", "dim"), *rows[len(rows) - limit + 1 :]][-limit:]
        if not end and now - self._began_at >= STATUS_DELAY:
            rows = [*rows, Text(self._status.line(now, self._size[0] - 1), "dim")]
        text = erased + redraw(self._rows, final, rows, self._console)
        self._rows = rows
        if text:
            self._screen.out.write(text)
            self._screen.out.flush()
        if not end:
            self._next_drawing = now + max(
                MIN_INTERVAL, IDLE_FACTOR * (time.perf_counter() - began)
            )

    def _tick(self) -> None:
        # The terminal is gone; the next one to write reports it
        with suppress(OSError):
            while not self._closed.wait(FRAME_TIME):
                with self._lock:
                    if not self._paused and not self._closed.is_set():
                        self._draw(force=not self._is_answer)
