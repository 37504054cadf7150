"""A turn on a terminal that is to get no escape sequences (`NO_COLOR`, `TERM=dumb`): plain text, and while nothing is written a line that
says that something goes on. It is rewritten in place with a carriage return and spaces, and leaves nothing behind."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from zkchat_cli.terminal.markdown.pieces import width
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.status_line import StatusLine
from zkchat_cli.terminal.turn_view import Aside, PlainTurnView

TICK = 0.25
QUIET = 0.4
"""Seconds without a word before there is such a line: what is quicker should not flicker."""


class SlowTerminalView(PlainTurnView):
    """As PlainStage; a thread calls `tick`, unless `ticking` is False."""

    def __init__(
        self, screen: Screen, aside: Aside, who: str = "", *, clock: Callable[[], float] = time.monotonic, ticking: bool = True
    ) -> None:
        assert screen.columns is not None
        super().__init__(screen, aside)
        self._screen, self._columns, self._clock = screen, screen.columns, clock
        self._status = StatusLine(who, clock())
        self._lock = threading.RLock()
        self._wrote = clock()
        self._drawn = 0
        self._paused = False
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="zkchat-status", daemon=True) if ticking else None
        if self._ticker:
            self._ticker.start()

    def answer(self, text: str) -> None:
        with self._writing():
            self._status.came(text, self._clock())
            super().answer(text)

    def thought(self, text: str) -> None:
        with self._writing():
            self._status.came(text, self._clock())
            super().thought(text)

    def aside(self, line: str, style: str = "") -> None:
        with self._writing():
            super().aside(line, style)

    def doing(self, what: str) -> None:
        with self._writing():
            self._status.doing(what)
            super().doing(what)

    def waiting(self, seconds: float, reason: str) -> None:
        with self._writing():
            super().waiting(seconds, reason)

    def end(self) -> None:
        with self._writing():
            super().end()

    def pause(self) -> None:
        with self._writing():
            super().pause()
            self._paused = True

    def close(self) -> None:
        self._over.set()
        with self._writing():
            super().close()
        if self._ticker:
            self._ticker.join(1)

    def tick(self) -> None:
        """Say what goes on, where nobody else has the line."""
        with self._lock:
            now = self._clock()
            if self._over.is_set() or self._paused or self.has_the_line or now - self._wrote < QUIET:
                return
            room = self._columns() - 1
            line = self._status.line(now, room, ascii_only=self._screen.ascii)
            self._screen.write_raw(f"\r{line}{' ' * (min(self._drawn, room) - width(line))}")
            self._drawn = width(line)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock:
            if self._drawn:
                self._screen.write_raw(f"\r{' ' * min(self._drawn, self._columns() - 1)}\r")  # the screen may be narrower now
            self._drawn, self._paused = 0, False
            yield
            self._wrote = self._clock()

    def _tick(self) -> None:
        while not self._over.wait(TICK):
            try:
                self.tick()
            except OSError:
                return  # the terminal has gone; whoever writes next is told
