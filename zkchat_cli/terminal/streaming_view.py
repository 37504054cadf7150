"""An answer on a terminal while it comes in.

What is final is written once, at the cursor, and scrolls away like any other output. Only what may still change is drawn again: the tail
of the answer, at most a third of the screen, and under it a line that says that something is going on. After each drawing the cursor goes
back to where what is final ends. So to erase the rest takes no knowledge of how many rows it has become: whatever the terminal made of it
when it was resized, all of it stands behind the cursor.

Drawing is paced by its own cost, in time and in bytes: so an answer of any length costs in proportion to its length.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from zkchat_cli.terminal import interrupts
from zkchat_cli.terminal.hyperlinks import NOTHING, LinkTargets
from zkchat_cli.terminal.markdown.blocks import Sheet
from zkchat_cli.terminal.markdown.flow import Flow
from zkchat_cli.terminal.markdown.glyphs import ASCII_GLYPHS, Glyphs
from zkchat_cli.terminal.markdown.pieces import NEWLINE, Piece, rows
from zkchat_cli.terminal.painting import Painter
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.status_line import StatusLine
from zkchat_cli.text.sanitize import Sanitizer

FASTEST, RESTS = 1 / 30, 9
"""Seconds between two drawings at least, and how many times as long as the last one took."""
BYTES_AHEAD, BYTES_PER_BYTE = 4096, 0.8
"""What may be drawn again: so many bytes, and so many for each byte of the answer."""
TICK = 0.12
QUIET = 0.4
"""Seconds before there is a line that says that something is going on: what is quicker should not flicker."""
STATUS_EVERY = 1.0
"""Seconds between two states of that line while an answer comes, which shows by itself that something goes on."""


class Stream(Protocol):
    """What is fed harmless text and gives rows: see markdown.Sheet."""

    def feed(self, text: str) -> None: ...

    def take(self) -> list[Piece]: ...

    def tail(self) -> list[Piece]: ...

    def close(self) -> list[Piece]: ...


class Thoughts:
    """A model's reasoning: words on rows, dimmed and set in."""

    def __init__(self, columns: Callable[[], int]) -> None:
        margin = (Piece("  "),)
        self._columns = columns
        self._flow = Flow(columns() - 1, margin, margin)

    def feed(self, text: str) -> None:
        self._flow.columns = max(2, self._columns() - 1)
        self._flow.feed([Piece(text, "dim italic")])

    def take(self) -> list[Piece]:
        taken, self._flow.out = self._flow.out, []
        return taken

    def tail(self) -> list[Piece]:
        other = self._flow.fork()
        other.close()
        return other.out

    def close(self) -> list[Piece]:
        self._flow.close()
        return self.take()


class StreamingView:
    """The screen while a turn runs; `close` it however the turn ends. Everything that is written meanwhile goes through it.

    `who` answers, as the line under it says. A thread draws while nothing comes in, never in the middle of another drawing; `ticking` False
    leaves it out.
    """

    def __init__(
        self,
        screen: Screen,
        opens: LinkTargets = NOTHING,
        *,
        who: str = "",
        clock: Callable[[], float] = time.monotonic,
        ticking: bool = True,
    ) -> None:
        assert screen.columns is not None
        self._screen = screen
        self._columns = screen.columns
        self._lines = screen.lines
        self._opens = opens
        self._clock = clock
        self._lock = threading.RLock()
        self._going_on = StatusLine(who, clock())
        self._painter = Painter(screen.theme)
        self._stream: Stream | None = None
        self._is_answer = False
        self._leading = ""
        self._harmless = Sanitizer()
        self._apart = False
        self._dirty = self._paused = False
        self._below = False
        """Whether anything stands behind the cursor."""
        self._one_row: str | None = None
        """The status that stands right under the cursor's row, where nothing else does."""
        self._resumptions = interrupts.resumptions
        self._next = 0.0
        self._came = self._redrawn = 0
        self._status = ""
        self._status_at = 0.0
        self._status_room = 0
        """Columns that it was made for: one that is longer than a row would bring the cursor back to a wrong one."""
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="zkchat-spinner", daemon=True) if ticking else None
        if self._ticker:
            self._ticker.start()

    # what a turn says

    def answer(self, text: str) -> None:
        """More of the answer."""
        with self._lock:
            if not self._is_answer:
                self._leading += text
                if not self._leading.strip():
                    return  # an answer does not begin with an empty row
                text = self._leading
                self._end()
                glyphs = ASCII_GLYPHS if self._screen.ascii else Glyphs()
                self._begin(Sheet(self._columns, self._lines, self._opens, glyphs))
                self._is_answer = True
            self._add(text)

    def thought(self, text: str) -> None:
        """More of the reasoning."""
        with self._lock:
            if self._stream is None or self._is_answer:
                self._end()
                self._apart = False
                self._screen.print("  thinking", "dim")
                self._begin(Thoughts(self._columns))
            self._add(text)

    def aside(self, line: str, style: str = "") -> None:
        """A line that is not the answer; what comes after it stands apart."""
        with self._lock:
            self._end()
            self._screen.print(line, *style.split())

    def stand_apart(self) -> None:
        """Put an empty row before what streams next."""
        self._apart = True

    def doing(self, what: str) -> None:
        """What is waited for, which the line under the answer says; empty for the model."""
        with self._lock:
            self._going_on.doing(what)
            self._paused = False

    def waiting(self, seconds: float, reason: str) -> None:
        """The model is asked again in so many seconds."""
        with self._lock:
            self._end()
            self._going_on.waiting(seconds, reason)
            self._draw(force=True)

    def end(self) -> None:
        """What streams ends here."""
        with self._lock:
            self._end()

    def pause(self) -> None:
        """What streams ends here, and nothing is drawn until the turn says something again: the screen is somebody else's."""
        with self._lock:
            self._end()
            self._paused = True

    def close(self) -> None:
        """The turn is over: nothing is left on the screen but what was said."""
        self._over.set()
        with self._lock:
            self._end()
        if self._ticker:
            self._ticker.join(1)

    # drawing

    def _begin(self, stream: Stream) -> None:
        if self._apart:
            self._write("\n")
            self._apart = False
        self._stream, self._harmless, self._paused = stream, Sanitizer(), False

    def _add(self, text: str) -> None:
        assert self._stream
        self._going_on.came(text, self._clock())
        self._came += len(text.encode("utf-8", "replace"))
        self._stream.feed(self._harmless.feed(text))
        self._dirty = True
        self._draw()

    def _end(self) -> None:
        stream, self._stream, self._is_answer, self._leading = self._stream, None, False, ""
        said = ""
        if stream:
            stream.feed(self._harmless.close())
            said = self._painter.paint([*stream.take(), *stream.close()])
            if self._painter.column:
                said += "\n"
        self._write(self._erasing() + said)
        self._painter.column = 0
        self._dirty = False

    def _erasing(self) -> str:
        below, self._below, self._one_row = self._below, False, None
        return "\x1b[J" if below else ""

    def _draw(self, *, force: bool = False) -> None:
        """Write what is final and draw the rest again, if it is time to."""
        now = self._clock()
        if not force and (now < self._next or self._redrawn > BYTES_AHEAD + BYTES_PER_BYTE * self._came):
            return
        began = time.perf_counter()
        if self._resumptions != interrupts.resumptions:
            self._resumptions = interrupts.resumptions
            self._painter.column, self._below, self._one_row = 0, False, None
        self._make_status(now)
        tail: list[Piece] = []
        final = ""
        if self._stream:
            final = self._painter.paint(self._stream.take())
            tail = self._fitting(self._stream.tail())
        self._dirty = False
        if self._painter.column >= self._columns():
            tail, status = [], ""  # the row is longer than the screen is wide now: there is no way back to its end
        else:
            status = self._status
        painter = Painter(self._screen.theme, self._painter.column)
        drawn = painter.paint(tail)
        back = f"\x1b[{self._painter.column + 1}G" if self._painter.column else "\r"
        if self._one_row == status and status and "\n" not in final + drawn:
            text = f"{final}{drawn}\x1b[K{back}"
        else:
            erase = self._erasing()
            under = ("\n" if self._painter.column or drawn else "") + status if status else ""
            down = (drawn + under).count("\n")
            text = erase + final + drawn + under + (f"\x1b[{down}A" if down else "") + (back if drawn or under else "")
            self._below = bool(drawn or under)
            self._one_row = status if under and down == 1 and "\n" not in drawn else None
        self._below = self._below or bool(drawn)
        self._redrawn += len(text) - len(final) if self._is_answer else 0
        self._write(text)
        self._next = now + max(FASTEST, RESTS * (time.perf_counter() - began))

    def _fitting(self, tail: Sequence[Piece]) -> list[Piece]:
        """Of the tail the rows that may be drawn again and again: its end."""
        lines = rows(tail)
        most = max(1, self._lines() // 3)
        if len(lines) > most:
            lines = [[Piece("..." if self._screen.ascii else "…", "dim")], *lines[len(lines) - most + 1 :]][-most:]
        return [piece for i, line in enumerate(lines) for piece in (*([NEWLINE] if i else []), *line)]

    def _make_status(self, now: float) -> None:
        if now - self._going_on.began < QUIET and not self._going_on.is_waiting:
            self._status = ""
            return
        room = self._columns() - 1
        if self._status and self._is_answer and now - self._status_at < STATUS_EVERY and room == self._status_room:
            return
        self._status_at, self._status_room = now, room
        line = self._going_on.line(now, room, ascii_only=self._screen.ascii)
        self._status = f"\x1b[{self._screen.theme.sgr('dim')}m{line}\x1b[m"

    def _write(self, text: str) -> None:
        if text:
            self._screen.out.write(text)
            self._screen.out.flush()

    def _tick(self) -> None:
        while not self._over.wait(TICK):
            with self._lock:
                if self._over.is_set():
                    return
                if self._paused:
                    continue
                now = self._clock()
                if self._dirty or not self._is_answer or now - self._status_at >= STATUS_EVERY:
                    try:
                        self._draw(force=not self._is_answer)
                    except OSError:
                        return  # the terminal has gone; whoever writes next is told
