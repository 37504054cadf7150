"""Run a program in the foreground: a pager or an editor gets the terminal as a shell would give it, and Ctrl-C is for that program.

Nothing runs through a shell, so the name of a file cannot become a command.
"""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from zkchat_cli.terminal.interrupts import termios


def run_in_foreground(command: Sequence[str], *, stdin: bytes | None = None, env: dict[str, str] | None = None) -> int:
    """Run a program until it ends and return its exit code. Raises OSError or ValueError when it cannot be started."""
    with _terminal_handed_over():
        return subprocess.run(command, input=stdin, env=env, check=False).returncode


@contextmanager
def _terminal_handed_over() -> Iterator[None]:
    """The terminal in its usual mode, whatever the chat has set; signals from its keys go to the program."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, lambda *_: None) if main else None  # a handler, unlike SIG_IGN, is not inherited
    state = None
    if termios is not None and sys.stdin.isatty():
        state = termios.tcgetattr(sys.stdin.fileno())
        usual = [*state]
        usual[0] |= termios.ICRNL
        usual[3] |= termios.ECHO | termios.ICANON | termios.ISIG
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, usual)
    try:
        yield
    finally:
        if state is not None and termios is not None:
            with suppress(termios.error):  # the terminal may have been closed
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, state)
        if main:
            signal.signal(signal.SIGINT, before)
