"""A turn as plain text: in a pipe, and on a terminal that gets no escape sequences (`NO_COLOR`, `TERM=dumb`).

Such a terminal shows a status line while nothing is written. It is drawn with a carriage return and spaces, and leaves nothing behind.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from zkchat_cli.terminal.screen import Screen

if TYPE_CHECKING:
    from zkchat_cli.terminal.status_line import StatusLine

NotePrinter = Callable[[str, str], None]
"""Prints a line that is not part of the answer, with its style: to the screen in a chat, to stderr in a pipe."""
TICK = 0.25
STATUS_DELAY = 0.4
"""Seconds without output before the status line appears: it should not flicker between words."""


def note_printer(screen: Screen, verbose: Callable[[], bool] = lambda: False) -> NotePrinter:
    """For a pipe: warnings always reach stderr, progress only if stderr is a terminal or the user asked for it."""

    def print_note(line: str, style: str) -> None:
        if style in ("yellow", "red"):
            screen.warn(line.strip())
        elif verbose():
            screen.remark(line)
        else:
            screen.progress(line)

    return print_note


class PlainTurnView:
    """Text as it comes; on a screen it breaks between words. `close` it however the turn ends.

    With `status` there is a status line; a thread calls `draw_status`, unless `ticking` is False.
    """

    def __init__(
        self,
        screen: Screen,
        print_note: NotePrinter,
        who: str = "",
        *,
        status: bool = False,
        clock: Callable[[], float] = time.monotonic,
        ticking: bool = True,
    ) -> None:
        self._screen = screen
        self._print_note = print_note
        self._clock = clock
        self._answer, self._reasoning = _StreamedText(screen), _StreamedText(screen, "dim")
        self._is_reasoning = False
        self._wait_reason = ""
        self._lock = threading.RLock()
        self._last_output = clock()
        self._drawn = 0
        """The width of the status line on the screen."""
        self._paused = False
        self._over = threading.Event()
        self._status: StatusLine | None = None
        self._ticker: threading.Thread | None = None
        if status:
            from zkchat_cli.terminal import status_line  # loads rich, which a pipe does not need

            self._status = status_line.StatusLine(who, clock())
            if ticking:
                self._ticker = threading.Thread(target=self._tick, name="zkchat-status", daemon=True)
                self._ticker.start()

    def add_answer(self, text: str) -> None:
        """More of the answer."""
        with self._writing(text):
            self._end_reasoning()
            self._answer.add(text)

    def add_reasoning(self, text: str) -> None:
        """More of the reasoning."""
        with self._writing(text):
            if not self._is_reasoning:
                self._answer.end()
                self._print_note("  thinking", "dim")
            self._is_reasoning = self._answer.needs_gap = True
            self._reasoning.add(text)

    def print_note(self, line: str, style: str = "") -> None:
        """A line that is not part of the answer."""
        with self._writing():
            self._end()
            self._print_note(line, style)

    def add_gap(self) -> None:
        """Put an empty row before the next text. In a pipe the notes are not on stdout, so nothing has to be parted."""
        self._answer.needs_gap = self._screen.columns is not None

    def set_activity(self, activity: str) -> None:
        """What runs now, for the status line; empty for the model."""
        with self._writing():
            if self._status:
                self._status.set_activity(activity)

    def set_waiting(self, seconds: float, reason: str) -> None:
        """The model is called again in so many seconds; a pipe gets each reason once."""
        if self._status:
            with self._writing():
                self._end()
                self._status.set_waiting(seconds, reason)
            self.draw_status(force=True)
        elif reason != self._wait_reason:
            self._wait_reason = reason
            self._print_note(f"  {reason}; trying again in {seconds:.0f} s", "dim")

    def end_stream(self) -> None:
        """The answer or the reasoning is complete."""
        with self._writing():
            self._end()

    def pause(self) -> None:
        """Draw nothing until the turn continues: somebody else uses the screen."""
        with self._writing():
            self._end()
            self._paused = True

    def close(self) -> None:
        """The turn is over: no status line stays behind."""
        self._over.set()
        with self._writing():
            self._end()
        if self._ticker:
            self._ticker.join(1)

    def draw_status(self, *, force: bool = False) -> None:
        """Draw the status line, unless text is in its row."""
        with self._lock:
            now = self._clock()
            open_line = self._answer.is_open or self._reasoning.is_open
            if not self._status or not self._screen.columns or self._over.is_set() or self._paused or open_line:
                return
            if not force and now - self._last_output < STATUS_DELAY:
                return
            from rich.cells import cell_len  # loaded with the status line

            room = self._screen.columns() - 1
            line = self._status.line(now, room, ascii_only=self._screen.ascii)
            self._screen.write_raw(f"\r{line}{' ' * (min(self._drawn, room) - cell_len(line))}")
            self._drawn = cell_len(line)

    @contextmanager
    def _writing(self, received: str = "") -> Iterator[None]:
        """Erase the status line before something is written."""
        with self._lock:
            if self._drawn and self._screen.columns:
                self._screen.write_raw(f"\r{' ' * min(self._drawn, self._screen.columns() - 1)}\r")  # the screen may be narrower now
            self._drawn, self._paused = 0, False
            if received and self._status:
                self._status.count(received, self._clock())
            yield
            self._last_output = self._clock()

    def _end(self) -> None:
        self._wait_reason = ""
        self._end_reasoning()
        self._answer.end()

    def _end_reasoning(self) -> None:
        if self._is_reasoning:
            self._reasoning.end()
            self._is_reasoning = False

    def _tick(self) -> None:
        while not self._over.wait(TICK):
            try:
                self.draw_status()
            except OSError:
                return  # the terminal is gone; the next one to write reports it


class _StreamedText:
    """Streamed text on the screen. `is_open`: its last line has no end yet; `needs_gap`: an empty line comes before the next text."""

    def __init__(self, screen: Screen, *styles: str) -> None:
        self._screen = screen
        self._styles = styles
        self._row = ""
        """The last row, on a screen."""
        self._written = 0
        """Characters of the last row that are on the screen."""
        self.is_open = self.needs_gap = False

    def add(self, text: str) -> None:
        if self.needs_gap and text.strip():
            self._write("\n")
            self.needs_gap = False
        self._write(self._wrapped(text))

    def end(self) -> None:
        """Finish the open line, so that something else can be printed."""
        self._write(self._row[self._written :].rstrip())
        self._row, self._written = "", 0
        if self.is_open:
            self._write("\n")

    def _wrapped(self, text: str) -> str:
        """What can be written now: all but the last word, which may not fit into its row when the rest of it comes."""
        if self._screen.columns is None:
            return text
        from zkchat_cli.terminal.text_layout import break_line, last_word  # loads rich, which a pipe does not need

        written, width = self._written, max(1, self._screen.columns())
        rows = [row for line in (self._row + text).replace("\r\n", "\n").split("\n") for row in break_line(line, width)]
        self._row = rows[-1]
        self._written = max(last_word(self._row), written if len(rows) == 1 else 0)
        return "\n".join([*(row.rstrip() for row in rows[:-1]), self._row[: self._written]])[written:]

    def _write(self, text: str) -> None:
        if text:
            self._screen.write_styled(text, *self._styles)
            self.is_open = not text.endswith("\n")
