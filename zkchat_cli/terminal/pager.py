"""Long output through the user's pager."""

import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO

from zkchat_cli.terminal.foreground import run_in_foreground
from zkchat_cli.terminal.screen import Screen

PAGER = "less -R"
LESS = {"LESS": "FRXPsSpace shows more, q leaves$", "LESSCHARSET": "utf-8", "LESSSECURE": "1"}
"""As git sets it: text that fits the screen is only printed, and the text stays on the screen afterwards; and less runs no commands."""
INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)


def page(text: str, screen: Screen, env: Mapping[str, str] = os.environ) -> None:
    """Show text (already sanitized) in the user's pager if it is longer than the screen; else print it."""
    command = _pager_command(env) if screen.out.isatty() and text.count("\n") >= shutil.get_terminal_size().lines - 1 else None
    if command is None or not _run_pager(command, text, env):
        screen.out.write(text)
        screen.out.flush()


@contextmanager
def paged(screen: Screen) -> Iterator[Screen]:
    """A screen for long output: on a terminal it goes through the pager at the end of the block, elsewhere it is written at once."""
    if not screen.out.isatty():
        yield screen
        return
    buffer = StringIO()
    yield replace(screen, out=buffer)
    page(buffer.getvalue(), screen)


def _pager_command(env: Mapping[str, str]) -> list[str] | None:
    try:
        command = shlex.split(env.get("PAGER", PAGER))
    except ValueError:  # an open quotation mark
        return None
    if env.get("TERM") == "dumb" or not command or command == ["cat"] or shutil.which(command[0], path=env.get("PATH")) is None:
        return None
    return command


def _run_pager(command: list[str], text: str, env: Mapping[str, str]) -> bool:
    try:
        code = run_in_foreground(command, stdin=text.encode("utf-8", "replace"), env={**LESS, **env})
    except OSError:
        return False
    if code in INTERRUPTED:
        sys.stdout.write("\n")  # after the ^C that the terminal has printed
    return True
