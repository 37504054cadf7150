"""The user's own programs in the foreground: an editor for a note at a line, a pager for long output.

They get the terminal as a shell would give it, and Ctrl-C is for them. Nothing runs through a shell, so the name of a file cannot become a
command.
"""

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from io import StringIO

from zkchat_cli.app.editor import split_command
from zkchat_cli.errors import UsageError, reason
from zkchat_cli.terminal.interrupts import cooked_mode
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize

PAGER = "less -R"
LESS = {"LESS": "FRX~PsSpace shows more, q leaves$", "LESSCHARSET": "utf-8", "LESSSECURE": "1"}
"""As git sets it: text that fits the screen is only printed, and the text stays on the screen afterwards; and less runs no commands."""
INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)


def open_note(command: Sequence[str]) -> None:
    try:
        run_in_foreground(command)
    except (OSError, ValueError) as e:
        raise UsageError(f"{command[0]} cannot be started: {reason(e)}", "Set $EDITOR or terminal.open_command to your editor.") from e


def page(
    text: str,
    screen: Screen,
    env: Mapping[str, str] = os.environ,
    *,
    screens: int = 1,
    line: int = 1,
    keep_typed: Callable[[str], None] = lambda _: None,
) -> None:
    """Show text (already sanitized) in the user's pager if it is longer than that many screens; else print it. less begins at the `line`.

    `keep_typed` gets what was typed before the pager started, which would take it for commands.
    """
    is_long = text.count("\n") >= screens * shutil.get_terminal_size().lines - 1
    command = split_command(env.get("PAGER", PAGER))
    has_pager = command not in ([], ["cat"]) and env.get("TERM") != "dumb" and shutil.which(command[0], path=env.get("PATH")) is not None
    if not (screen.out.isatty() and is_long and has_pager) or screen.accessible:
        screen.out.write(text)
        screen.out.flush()
        return
    typed = b""
    with suppress(OSError, ValueError):
        while sys.stdin.isatty() and select.select([sys.stdin], [], [], 0)[0] and (read := os.read(sys.stdin.fileno(), 4096)):
            typed += read
    keep_typed("".join(c for c in sanitize(typed.decode("utf-8", "ignore")) if c.isprintable()))
    command += ["-j.3", f"+{line}"] if line > 1 and _is_less(command) else []
    try:
        code = run_in_foreground(command, stdin=text.encode("utf-8", "replace"), env={**LESS, **env})
    except OSError:
        code = 127
    if code in INTERRUPTED:
        screen.out.write("\n")  # after the ^C that the terminal has printed
    elif code:
        screen.warn(f"the pager {command[0]} failed with code {code}; here is the text")
        screen.out.write(text)
        screen.out.flush()


@contextmanager
def paged(screen: Screen, screens: int = 1, keep_typed: Callable[[str], None] = lambda _: None) -> Iterator[Screen]:
    """A screen for long output: on a terminal it goes through `page` at the end of the block, elsewhere it is written at once."""
    if not screen.out.isatty():
        yield screen
        return
    buffer = StringIO()
    yield replace(screen, out=buffer)
    page(buffer.getvalue(), screen, screens=screens, keep_typed=keep_typed)


def _is_less(command: Sequence[str]) -> bool:
    """Whether the program knows `+LINE`, and takes Enter as the terminal sends it."""
    return os.path.basename(command[0]) == "less"  # noqa: PTH119


def run_in_foreground(command: Sequence[str], *, stdin: bytes | None = None, env: dict[str, str] | None = None) -> int:
    """Run a program until it ends and return its exit code. Raises OSError or ValueError when it cannot be started."""
    before = signal.signal(signal.SIGINT, lambda *_: None)  # a handler, unlike SIG_IGN, is not inherited
    try:
        with cooked_mode(translate_enter=not _is_less(command)):
            return subprocess.run(command, input=stdin, env=env, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)
