"""Signals while the program works, handled so that a partial answer is always stored.

Ctrl-C, `kill` and a closed terminal all raise one KeyboardInterrupt; a second signal does not disturb the storing that follows. At the
prompt Ctrl-C is a key: see key_bindings.py.
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

TERMINATION_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class InterruptHandler:
    """While entered, signals interrupt only code inside `stoppable`. `on_termination` is called for SIGTERM and SIGHUP elsewhere."""

    def __init__(self, on_termination: Callable[[], None] = lambda: None) -> None:
        self.termination_signal: int | None = None
        self._on_termination = on_termination
        self._stoppable = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "InterruptHandler":
        self._before = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, *TERMINATION_SIGNALS)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        """The first signal raises KeyboardInterrupt in this block; later ones are ignored, so that it can clean up."""
        self._stoppable = True
        try:
            yield
        finally:
            self._stoppable = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While a question is shown inside `stoppable`: Ctrl-C answers it. Raises KeyboardInterrupt at the end if the program is to end."""
        stoppable, self._stoppable = self._stoppable, False
        try:
            yield
        finally:
            self._stoppable = stoppable
        if self.termination_signal is not None:
            self._stoppable = False
            raise KeyboardInterrupt

    def _handle(self, number: int, _: FrameType | None) -> None:
        if number in TERMINATION_SIGNALS:
            self.termination_signal = number
        if self._stoppable:
            self._stoppable = False
            raise KeyboardInterrupt
        if self.termination_signal:
            self._on_termination()


@contextmanager
def cooked_mode(*, translate_enter: bool = True, suspends: bool = False) -> Iterator[None]:
    """The terminal in the mode in which a shell gives it to a program, whatever the chat has set.

    An Enter that is translated and that the program does not read reaches the prompt as Ctrl+J, which starts a line. Ctrl-Z only `suspends`
    where that is wanted: less as we run it (LESSSECURE) would not stop with us.
    """
    with _terminal_mode() as mode:
        if mode and termios is not None:
            mode[0] |= termios.ICRNL if translate_enter else 0
            mode[3] |= termios.ECHO | termios.ICANON | termios.ISIG
            mode[6][termios.VSUSP] = b"\x1a" if suspends else b"\0"
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, mode)
        yield


@contextmanager
def buffered_type_ahead() -> Iterator[None]:
    """Keys pressed in this block are not echoed and wait for the next prompt, Enter included; Ctrl-C works, Ctrl-Z only at a prompt."""
    with _terminal_mode() as mode:
        if mode and termios is not None:
            mode[0] &= ~termios.ICRNL  # see cooked_mode
            mode[3] &= ~(termios.ECHO | termios.ICANON)
            mode[6][termios.VSUSP] = b"\0"  # a shell would not restore this mode after `fg`
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, mode)
        yield


@contextmanager
def _terminal_mode() -> Iterator[list[Any]]:
    """A copy of the terminal's mode, which is restored at the end of the block; empty where there is no terminal."""
    if termios is None or not sys.stdin.isatty():
        yield []
        return
    before = termios.tcgetattr(sys.stdin.fileno())
    try:
        yield [*before[:6], [*before[6]]]
    finally:
        with suppress(termios.error):  # the terminal may have been closed
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)
