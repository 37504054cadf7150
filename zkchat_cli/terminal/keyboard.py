"""What the keyboard and the outside world may do while the program works, so that whatever ends an answer, what came of it is stored.

Ctrl-C, `kill` and a closed terminal all stop the work in hand the same way, as one KeyboardInterrupt; a second signal does not disturb the
storing that follows. `ending` says whether the program is to go on afterwards. At the prompt these are keys: see `keys.py`.
"""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, ModuleType
from typing import Any

termios: ModuleType | None
try:
    import termios
except ImportError:  # Windows: keys are echoed there
    termios = None

ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interruptions:
    """While entered, signals stop only what is `stoppable`. `on_ending` is called when the program is asked to end elsewhere."""

    def __init__(self, on_ending: Callable[[], None] = lambda: None) -> None:
        self.ending: int | None = None
        """The signal that asked the program to end, if one did."""
        self._on_ending = on_ending
        self._stoppable = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interruptions":
        self._before = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, *ENDINGS)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        """What runs in here is stopped by the first signal with KeyboardInterrupt; one that comes later waits until it has cleaned up."""
        self._stoppable = True
        try:
            yield
        finally:
            self._stoppable = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While a question is up within what is stoppable: Ctrl-C answers it. Raises KeyboardInterrupt if the program is asked to end."""
        stoppable, self._stoppable = self._stoppable, False
        try:
            yield
        finally:
            self._stoppable = stoppable
        if self.ending is not None:
            self._stoppable = False
            raise KeyboardInterrupt

    def _handle(self, number: int, _: FrameType | None) -> None:
        if number in ENDINGS:
            self.ending = number
        if self._stoppable:
            self._stoppable = False
            raise KeyboardInterrupt
        if self.ending:
            self._on_ending()


@contextmanager
def typing_ahead() -> Iterator[None]:
    """Keys pressed meanwhile do not spoil the output: they wait unseen for the next prompt, Enter included. Ctrl-C still works."""
    if termios is None or not sys.stdin.isatty():
        yield
        return
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    quiet = [*before]
    quiet[0] &= ~termios.ICRNL  # or a typed Enter would reach the prompt as Ctrl+J, which begins a line
    quiet[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(keyboard, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal may have been closed
            termios.tcsetattr(keyboard, termios.TCSANOW, before)
