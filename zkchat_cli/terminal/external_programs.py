"""Other programs of the user's that the chat hands something to: the pager, the editor, the clipboard's own.

While one has the terminal it has it as a shell would give it, and Ctrl-C is that program's; afterwards everything is as it was. None goes
through a shell, so no file's name can be a command.
"""

import base64
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from io import StringIO
from pathlib import Path

from zkchat_cli.errors import ConfigError, UsageError, reason
from zkchat_cli.terminal.interrupts import termios
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize

PAGER = "less -R"
LESS = "FRX"
"""As git sets it: what fits the screen is only printed, and what was read stays on the screen."""
LARGEST_SEQUENCE = 74_994
"""Bytes that xterm takes by an escape sequence into the clipboard; others take no fewer."""
KILLED = (-signal.SIGINT, 128 + signal.SIGINT)
PATIENCE = 2.0
"""Seconds for a clipboard's program to take what it is given."""
CLIPBOARDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
    ("", ("clip.exe",)),
)
"""What puts standard input into the system's clipboard, and the variable without which it has nothing to put it into."""
LINE_FIRST = ("vi", "vim", "nvim", "view", "gvim", "nano", "emacs", "emacsclient", "kak", "micro", "ne", "jed", "joe", "mcedit", "pico")
LINE_BEHIND = ("hx", "helix", "subl", "zed")
GO_TO = ("code", "codium", "cursor")
"""How editors are told the line: `+12 file`, `file:12`, `-g file:12`."""


# long text


def page(text: str, screen: Screen, env: Mapping[str, str] = os.environ) -> None:
    """Text (already safe) through the user's pager, if it is longer than the screen and there is one; else it is printed."""
    size = shutil.get_terminal_size()
    command = _pager(env) if screen.out.isatty() and text.count("\n") >= size.lines - 1 else None
    if command is None or not _paged(command, text, env):
        screen.out.write(text)
        screen.out.flush()


@contextmanager
def paged(screen: Screen) -> Iterator[Screen]:
    """A screen to write something long to: on a terminal through the pager, when all of it is there; elsewhere at once."""
    if not screen.out.isatty():
        yield screen
        return
    written = StringIO()
    yield replace(screen, out=written)
    page(written.getvalue(), screen)


def _pager(env: Mapping[str, str]) -> list[str] | None:
    command = _words(env.get("PAGER", PAGER))
    if env.get("TERM") == "dumb" or not command or command == ["cat"] or shutil.which(command[0], path=env.get("PATH")) is None:
        return None
    return command


def _paged(command: Sequence[str], text: str, env: Mapping[str, str]) -> bool:
    with _terminal_lent():
        try:
            pager = subprocess.Popen(command, stdin=subprocess.PIPE, env={"LESS": LESS, "LESSCHARSET": "utf-8", **env})
        except OSError:
            return False
        _waited_for.append(pager)
        assert pager.stdin is not None
        with suppress(OSError), pager.stdin:  # left before the end
            pager.stdin.write(text.encode("utf-8", "replace"))
        if _ended(pager) in KILLED:
            sys.stdout.write("\n")  # behind the ^C that the terminal has shown
    return True


# the clipboard


def copy(text: str, screen: Screen, env: Mapping[str, str] = os.environ) -> list[str]:
    """Put text into the clipboard by all ways there are, and name them: the terminal's own reaches over ssh, the system's is certain."""
    ways = []
    for variable, command in CLIPBOARDS:
        program = shutil.which(command[0], path=env.get("PATH")) if not variable or env.get(variable) else None
        if program is not None and _taken([program, *command[1:]], text):
            ways.append(command[0])
            break
    data = text.encode("utf-8", "replace")
    if screen.out.isatty() and env.get("TERM") != "dumb" and len(data) <= LARGEST_SEQUENCE:
        screen.out.write(clipboard_sequence(data, tmux="TMUX" in env))
        screen.out.flush()
        ways.append("the terminal")
    return ways


def clipboard_sequence(data: bytes, *, tmux: bool) -> str:
    """What tells a terminal to take `data` into its clipboard (OSC 52). Within tmux also past it, to the terminal around it: by itself it
    passes that on only if it is set to."""
    plain = f"\x1b]52;c;{base64.b64encode(data).decode()}\x07"
    return plain + f"\x1bPtmux;{plain.replace(chr(27), chr(27) * 2)}\x1b\\" if tmux else plain


def _taken(command: Sequence[str], text: str) -> bool:
    try:
        done = subprocess.run(
            command,
            input=text.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
            check=False,
            start_new_session=True,  # it goes on holding what was copied, and a Ctrl-C in the chat is not meant for it
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


# a note


def editing(path: Path, line: int, command: str, env: Mapping[str, str] = os.environ) -> list[str] | None:
    """What opens a file at a line: `command` (of the settings; {path} and {line} are put in), else $VISUAL or $EDITOR; None: nothing does.

    Raises ConfigError when `command` is none.
    """
    if command:
        words = _words(command)
        if not words:
            raise ConfigError(f"terminal.open_command = {command!r} is no command", "As: code -g {path}:{line}")
        if not any("{path}" in word for word in words):
            words.append("{path}")
        return [word.replace("{line}", str(line)).replace("{path}", str(path)) for word in words]
    words = _words(env.get("VISUAL") or env.get("EDITOR") or "")
    if not words:
        return None
    name = Path(words[0]).name.removesuffix(".exe")
    if name in LINE_FIRST:
        return [*words, f"+{line}", str(path)]
    if name in LINE_BEHIND:
        return [*words, f"{path}:{line}"]
    if name in GO_TO:
        return [*words, "-g", f"{path}:{line}"]
    return [*words, str(path)]


def run(command: Sequence[str]) -> None:
    """Run a program of the user's in the terminal, to its end. Raises UsageError when it cannot be started."""
    with _terminal_lent():
        try:
            _ended(subprocess.Popen(command))
        except (OSError, ValueError) as e:
            raise UsageError(
                f"{command[0]} cannot be started: {reason(e)}", "Set $VISUAL, $EDITOR or terminal.open_command to your editor."
            ) from e


def leave() -> None:
    """End the program that has the terminal, if one has; from a signal's handler: who waits for it is to go on."""
    for process in _waited_for:
        with suppress(OSError):
            process.terminate()


_waited_for: "list[subprocess.Popen[bytes]]" = []
"""One at most: what has the terminal is waited for."""


def _ended(process: "subprocess.Popen[bytes]") -> int:
    _waited_for[:] = [process]
    try:
        return process.wait()
    finally:
        _waited_for.clear()


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # an open quotation mark
        return []


@contextmanager
def _terminal_lent() -> Iterator[None]:
    """The terminal as a shell gives it to a program, whatever the chat had made of it; signals from its keys are that program's."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, lambda *_: None) if main else None  # a handler, unlike SIG_IGN, is not the child's too
    state = None
    if termios is not None and sys.stdin.isatty():
        state = termios.tcgetattr(sys.stdin.fileno())
        lent = [*state]
        lent[0] |= termios.ICRNL
        lent[3] |= termios.ECHO | termios.ICANON | termios.ISIG
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, lent)
    try:
        yield
    finally:
        if state is not None and termios is not None:
            with suppress(termios.error):  # the terminal may have been closed
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, state)
        if main:
            signal.signal(signal.SIGINT, before)


def note_text(text: str) -> str:
    """A note as a pager may have it."""
    return sanitize(text) + ("" if text.endswith("\n") else "\n")
