"""What the keyboard and the outside world may do while the program works, so that whatever ends an answer, what came of it is stored.

Ctrl-C, `kill` and a closed terminal all stop the work in hand the same way, as one KeyboardInterrupt; a second signal does not disturb the
storing that follows. `ending` says whether the program is to go on afterwards. At the prompt these are keys: see `keys.py`.
"""

import os
import select
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

LONGEST_AHEAD = 4096
"""Bytes that a terminal keeps of what nobody has read (Linux)."""
STOPPED = "\x03"
"""The answer to a question that was ended with Ctrl-C."""
ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))

resumptions = 0
"""How often the job was stopped (Ctrl-Z) and went on: the cursor is then where the shell left it, at the beginning of a row."""


class InterruptHandler:
    """While entered, signals stop only what is `stoppable`. `on_ending` is called when the program is asked to end elsewhere."""

    def __init__(self, on_ending: Callable[[], None] = lambda: None) -> None:
        self.ending: int | None = None
        """The signal that asked the program to end, if one did."""
        self._on_ending = on_ending
        self._stoppable = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "InterruptHandler":
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
def typing_ahead() -> Iterator[str]:
    """Keys pressed meanwhile do not spoil the output: they wait unseen for the next prompt, Enter included. Ctrl-C and Ctrl-Z work.

    The value is what had been typed before, for the first prompt: there an Enter is no longer waiting as such.
    """
    if termios is None or not sys.stdin.isatty():
        yield ""
        return
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    quiet = [*before]
    quiet[0] &= ~termios.ICRNL  # or a typed Enter would reach the prompt as Ctrl+J, which begins a line
    quiet[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(keyboard, termios.TCSANOW, quiet)
    stopping = signal.signal(signal.SIGTSTP, lambda *_: _stop(keyboard, before))
    try:
        yield _waiting(keyboard)
    finally:
        signal.signal(signal.SIGTSTP, stopping)
        with suppress(termios.error):  # the terminal may have been closed
            termios.tcsetattr(keyboard, termios.TCSANOW, before)


def _waiting(keyboard: int) -> str:
    """What was typed while the terminal still was as a shell leaves it, which has made a line end of each Enter (and NUL, or nothing, of
    Ctrl-D)."""
    ready, _, _ = select.select([keyboard], [], [], 0)
    typed = os.read(keyboard, LONGEST_AHEAD) if ready else b""
    return typed.decode("utf-8", "replace").replace("\n", "\r").replace("\0", "").replace("\x04", "")


def _stop(keyboard: int, usual: list[Any]) -> None:
    """Leave the terminal to the shell as it was, until `fg`: not every shell puts it right by itself."""
    global resumptions
    assert termios is not None
    with suppress(termios.error):
        ours = termios.tcgetattr(keyboard)
        termios.tcsetattr(keyboard, termios.TCSANOW, usual)
    handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTSTP)  # goes on here when the shell says so
    resumptions += 1
    signal.signal(signal.SIGTSTP, handler)
    with suppress(termios.error):
        termios.tcsetattr(keyboard, termios.TCSANOW, ours)
    os.kill(os.getpid(), signal.SIGWINCH)  # the window may have another size now; a prompt that was there is drawn anew
