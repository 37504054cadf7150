"""Decides who gets the keys and the signals: the chat, or a program in the foreground (an editor, a
pager).

Ctrl-C, `kill` and a closed terminal all raise one KeyboardInterrupt, so that a partial answer is
always stored. At the prompt Ctrl-C is a key: see input_line.py. Programs get the terminal in the
state in which a shell would give it to them, and nothing runs through a shell, so that the name of
a file cannot become a command.
"""

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from io import StringIO
from types import FrameType, ModuleType
from typing import Any

from zkchat_cli.app.editor import split_command
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize

termios: ModuleType | None = None
# Windows has no termios; there keys are echoed
with suppress(ImportError):
    import termios

TERMINATION_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)
PAGER = "less -R"
LESS = {"LESS": "FRX~PsSpace shows more, q leaves$", "LESSCHARSET": "utf-8", "LESSSECURE": "1"}
"""Options of less, similar to git's: text that fits the screen is only printed, and the text stays
on the screen afterwards. less runs no commands.
"""
INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)
# The exit code with which a shell reports a program that cannot be run
CANNOT_RUN = 127
# Bytes that are read at once
READ_SIZE = 4096


@contextmanager
def handle_signals(
    handler: Callable[[int, FrameType | None], Any], *numbers: int
) -> Iterator[None]:
    """Handle these signals in the block; afterwards they are handled as before."""
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


class InterruptHandler:
    """Turns signals into interruptions.

    While `installed`, signals interrupt only code inside `stoppable`. `on_termination` is called
    for SIGTERM and SIGHUP elsewhere.
    """

    def __init__(self, on_termination: Callable[[], None] = lambda: None) -> None:
        self.termination_signal: int | None = None
        self._on_termination = on_termination
        self._stoppable = False

    def installed(self) -> AbstractContextManager[None]:
        """The block in which this handler receives the signals."""
        return handle_signals(self._handle, signal.SIGINT, *TERMINATION_SIGNALS)

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        """The block in which the first signal raises KeyboardInterrupt; later ones are ignored, so
        that the block can clean up.
        """
        self._stoppable = True
        try:
            yield
        finally:
            self._stoppable = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The block for a question inside `stoppable`: Ctrl-C answers the question.

        Raises KeyboardInterrupt at the end if the program should end.
        """
        stoppable = self._stoppable
        self._stoppable = False
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
def terminal_mode(
    *, buffered: bool = False, translate_enter: bool = True, suspends: bool = False
) -> Iterator[None]:
    """The block in which the terminal has the mode that a program expects from a shell.

    The mode of the chat is restored at the end of the block. `buffered`: keys are not echoed and
    wait for the next prompt, including Enter. An Enter that is translated and that the program does
    not read reaches the prompt as Ctrl+J, which starts a line. Ctrl-Z `suspends` only on request:
    less with our options (LESSSECURE) would not stop together with us, and a shell would not
    restore a buffered mode after `fg`.
    """
    if termios is None or not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin.fileno())
    mode = [*before[:6], [*before[6]]]
    if buffered:
        mode[0] &= ~termios.ICRNL
        mode[3] &= ~(termios.ECHO | termios.ICANON)
    else:
        mode[0] |= termios.ICRNL if translate_enter else 0
        mode[3] |= termios.ECHO | termios.ICANON | termios.ISIG
    mode[6][termios.VSUSP] = b"\x1a" if suspends else b"\0"
    try:
        termios.tcsetattr(
            sys.stdin.fileno(), termios.TCSANOW if buffered else termios.TCSADRAIN, mode
        )
        yield
    finally:
        # The terminal may have been closed
        with suppress(termios.error):
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)


def run_in_foreground(
    command: Sequence[str], *, stdin: bytes | None = None, env: dict[str, str] | None = None
) -> int:
    """Run a program until it ends and return its exit code.

    Raises OSError or ValueError if it cannot be started.
    """
    # Unlike SIG_IGN, a program does not inherit a handler
    ignore = handle_signals(lambda *_: None, signal.SIGINT)
    with ignore, terminal_mode(translate_enter=not _is_less(command)):
        return subprocess.run(command, input=stdin, env=env, check=False).returncode


def page(
    text: str,
    screen: Screen,
    *,
    screens: int = 1,
    line: int = 1,
    keep_typed: Callable[[str], None] = lambda _: None,
) -> None:
    """Show sanitized text in the user's pager if it is longer than `screens` screens; otherwise
    print it.

    less begins at the `line`. `keep_typed` receives what was typed before the pager started: the
    pager would take it for commands.
    """
    if _needs_pager(text, screen, screens):
        keep_typed(_take_typed())
        code = _run_pager(text, line)
        if code == 0:
            return
        if code in INTERRUPTED:
            # Begin a new row after the ^C that the terminal has printed
            text = "\n"
        else:
            name = _pager()[0]
            screen.warn(f"the pager {name} failed with code {code}; here is the text")
    screen.out.write(text)
    screen.out.flush()


def _pager() -> list[str]:
    return split_command(os.environ.get("PAGER", PAGER))


def _needs_pager(text: str, screen: Screen, screens: int) -> bool:
    """Whether the text is long, and there is a pager for this screen."""
    is_long = text.count("\n") >= screens * shutil.get_terminal_size().lines - 1
    if not is_long or not screen.out.isatty() or screen.accessible:
        return False
    command = _pager()
    if command in ([], ["cat"]) or os.environ.get("TERM") == "dumb":
        return False
    return shutil.which(command[0]) is not None


def _run_pager(text: str, line: int) -> int:
    """The exit code of the pager."""
    command = _pager()
    if line > 1 and _is_less(command):
        command += ["-j.3", f"+{line}"]
    try:
        return run_in_foreground(
            command, stdin=text.encode("utf-8", "replace"), env={**LESS, **os.environ}
        )
    except OSError:
        return CANNOT_RUN


def _take_typed() -> str:
    """What was typed but not read so far, without keys that are not text."""
    typed = b""
    with suppress(OSError, ValueError):
        while sys.stdin.isatty() and select.select([sys.stdin], [], [], 0)[0]:
            read = os.read(sys.stdin.fileno(), READ_SIZE)
            if not read:
                break
            typed += read
    text = sanitize(typed.decode("utf-8", "ignore"))
    return "".join(character for character in text if character.isprintable())


@contextmanager
def paged(
    screen: Screen, screens: int = 1, keep_typed: Callable[[str], None] = lambda _: None
) -> Iterator[Screen]:
    """A screen for long output.

    On a terminal the output goes through `page` at the end of the block, elsewhere it is written at
    once.
    """
    if not screen.out.isatty():
        yield screen
        return
    buffer = StringIO()
    yield replace(screen, out=buffer)
    page(buffer.getvalue(), screen, screens=screens, keep_typed=keep_typed)


def _is_less(command: Sequence[str]) -> bool:
    """Whether the program is less, which knows `+LINE`, and reads Enter as the terminal
    sends it.
    """
    return os.path.basename(command[0]) == "less"  # noqa: PTH119
