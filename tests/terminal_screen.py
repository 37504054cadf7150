"""`zkchat chat` in a real pseudo-terminal, and what a person would see on it; pyte is the
terminal.
"""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

import pyte
from conftest import Program, fork_server_address
from fork_server import ProgramRun
from pyte.screens import Char

PATIENCE = 30.0
"""Seconds; generous, because tests run on slow and busy machines. Nothing waits longer than what it
waits for.
"""

Script = Callable[..., str]
"""What the fixture `script` is."""

ENTER = "\r"
ESCAPE = "\x1b"
TAB = "\t"
UP = "\x1b[A"
CTRL_C = "\x03"
CTRL_D = "\x04"
CTRL_J = "\n"


HOSTILE = (
    "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \x1b[2J \x9b5A [bold]loud[/bold] <|endoftext|> "
    "\u202egnirts"
)
HARMLESS = "␛[31mred␛[0m ␛]0;owned␇ ␛[2J �5A [bold]loud[/bold] <|endoftext|> �gnirts"


def stored_conversations(zkchat: Program) -> list[dict[str, Any]]:
    """The messages of the latest conversation."""
    done = zkchat("context", "export", "--format", "json")
    assert done.exit_status == 0, done.err
    messages: list[dict[str, Any]] = done.json["messages"]
    return messages


def slow_reply(*deltas: str, delay_ms: int = 100) -> dict[str, Any]:
    return {"deltas": list(deltas), "delay_ms": delay_ms}


ENDLESS = slow_reply("First words came, ", *(f"then word {n}, " for n in range(400)))


class Scrolling(pyte.HistoryScreen):
    """A terminal that keeps what has scrolled away. Nobody pages back, and looking after that at
    each letter was most of its time.
    """

    __getattribute__ = pyte.Screen.__getattribute__


class _Started:
    """A program in a pseudo-terminal of its own: forked from the fork server, or started by a
    `command`.
    """

    def __init__(
        self,
        program: Program,
        arguments: list[str],
        env: dict[str, str],
        size: tuple[int, int],
        command: list[str],
    ) -> None:
        self._terminal, inside = pty.openpty()
        self.resize(*size)
        self.closed = False
        self._code: int | None = None
        if command:
            streams = {"stdin": inside, "stdout": inside, "stderr": inside}
            started = subprocess.Popen(
                command,
                **streams,
                env=env,
                cwd=program.vault,
                start_new_session=True,
                preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            )
            os.close(inside)
            self.pid = started.pid
            self._has_ended = lambda: started.poll() is not None
            self._wait = started.wait
        else:
            run = ProgramRun(
                fork_server_address(), arguments, env, program.vault, [inside] * 3, terminal=True
            )
            self.pid = run.pid
            self._has_ended = run.ended
            self._wait = run.end

    def send(self, keys: str | bytes) -> None:
        data = keys.encode() if isinstance(keys, str) else keys
        while data:
            data = data[os.write(self._terminal, data) :]

    def read(self) -> bytes | None:
        """What the program wrote meanwhile; None if it has ended."""
        if not select.select([self._terminal], [], [], 0.05)[0]:
            return b""
        # What Linux says of a terminal that nobody is in any more
        with suppress(OSError):
            return os.read(self._terminal, 65536) or None
        return None

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def exit_code(self) -> int | None:
        """None while it runs; negative for a signal."""
        if self._code is None and self._has_ended():
            self._code = self._wait()
        return self._code

    def close_terminal(self) -> None:
        if not self.closed:
            os.close(self._terminal)
        self.closed = True

    def end(self) -> None:
        self.close_terminal()
        if self.exit_code() is None:
            # It may end by itself just now
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self._wait()


class Chat:
    """A running chat: `type`, `enter`, `wait_for`; it is killed at the end of the `with` block if
    it has not left by then.
    """

    in_shell = False
    """Whether `command` is anything but the program."""
    name = "chat"
    """The command that is run."""

    def __init__(
        self, program: Program, *arguments: object, columns: int = 80, rows: int = 24, **env: str
    ) -> None:
        self.raw = b""
        """Every byte the program wrote."""
        self._screen = Scrolling(columns, rows, history=5000, ratio=0.5)
        self._stream = pyte.ByteStream(self._screen)
        # Until more comes: who waits looks again and again
        self._everything: str | None = None
        plain = {
            "TERM": "xterm-256color",
            "COLORTERM": "",
            "COLUMNS": "",
            "LINES": "",
            "PYTHONUNBUFFERED": "",
            "PAGER": "cat",
        }
        self.began = time.monotonic()
        given = {
            k: v for k, v in {**program.environment, **plain, **env}.items() if v or k == "NO_COLOR"
        }
        words = [self.name, *map(str, arguments)]
        command = self.command(*words) if self.in_shell or program.starts_anew(env) else []
        self._child = _Started(program, words, given, (rows, columns), command)
        # prompt_toolkit asks where the cursor is, and draws its toolbar when it knows
        self._screen.write_process_input = self._answer

    def __enter__(self) -> "Chat":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._child.end()

    def command(self, *arguments: str) -> list[str]:
        """What is run: a program and its arguments."""
        return [sys.executable, "-m", "zkchat_cli", *arguments]

    # what a person does

    def type(self, keys: str | bytes) -> None:
        self._child.send(keys)

    def enter(self) -> None:
        self.type(ENTER)

    def say(self, line: str) -> None:
        """Type a line and send it, as soon as the prompt is there."""
        self.wait_for_prompt()
        self.type(line)
        self.enter()

    def ask(self, line: str, answer: str) -> None:
        """Say something, see the answer once more than before, and wait for the next prompt: then
        the turn is stored.
        """
        before = self.everything().count(answer)
        self.say(line)
        self.wait_until(lambda: self.everything().count(answer) > before, repr(answer))
        self.wait_for_prompt()

    def paste(self, text: str) -> None:
        self.type(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        self._screen.resize(rows, columns)
        self._everything = None
        self._child.resize(rows, columns)

    def kill(self, number: signal.Signals) -> None:
        os.kill(self._child.pid, number)

    def end_from_outside(self, how: signal.Signals) -> None:
        """An orderly end. SIGHUP comes as closing the window brings it: the terminal is gone as
        well.
        """
        if how == signal.SIGHUP:
            self._child.close_terminal()
        assert (
            self.wait_for_end(lambda: None if how == signal.SIGHUP else self.kill(how)) == 128 + how
        )

    # what a person sees

    def screen_text(self) -> str:
        return "\n".join(
            self._text(self._screen.buffer[y]) for y in range(self._screen.lines)
        ).rstrip()

    def everything(self) -> str:
        """What has scrolled away, and the screen."""
        if self._everything is None:
            self._everything = "\n".join(
                [*map(self._text, self._screen.history.top), self.screen_text()]
            )
        return self._everything

    def _text(self, line: Mapping[int, Char]) -> str:
        return "".join(line[x].data for x in range(self._screen.columns)).rstrip()

    def toolbars(self) -> list[str]:
        """The lines on the screen that look like a toolbar."""
        return [line for line in self.screen_text().split("\n") if "█" in line or "░" in line]

    @property
    def title(self) -> str:
        return self._screen.title

    def at_prompt(self) -> bool:
        """Whether the last prompt is drawn, with its toolbar or hint beneath: keys typed now are
        read by it.
        """
        return self._screen.buffer[self._screen.cursor.y][0].data == "y" and bool(self.toolbars())

    # waiting

    def wait_until(self, true: Callable[[], bool], what: str = "it", *, pressed: str = "") -> None:
        """`pressed` are keys that send a signal, pressed now and each second: see
        `wait_for_end`.
        """
        begin = time.monotonic()
        sent = 0
        while not true():
            if pressed and time.monotonic() >= begin + sent:
                self.type(pressed)
                sent += 1
            if time.monotonic() > begin + PATIENCE:
                raise AssertionError(f"waited in vain for {what}; the screen:\n{self.everything()}")
            if not self._read() and not true():
                raise AssertionError(
                    f"the chat ended before {what}; the screen:\n{self.everything()}"
                )

    def wait_for(self, text: str) -> None:
        self.wait_until(lambda: text in self.everything(), repr(text))

    def wait_for_prompt(self) -> None:
        self.wait_until(self.at_prompt, "the prompt")

    def wait_for_end(self, signalled: Callable[[], None] = lambda: None) -> int:
        """The exit code. `signalled` sends a signal, now and each second: Python misses one that
        comes just before it reads.
        """
        begin = time.monotonic()
        sent = 0
        while (code := self._child.exit_code()) is None:
            if time.monotonic() >= begin + sent:
                signalled()
                sent += 1
            if self._child.closed or not self._read():
                time.sleep(0.01)
            if time.monotonic() > begin + PATIENCE:
                raise AssertionError(f"the chat does not end; the screen:\n{self.everything()}")
        while not self._child.closed and self._read():
            pass
        return 128 - code if code < 0 else code

    def _answer(self, report: str) -> None:
        # It may have left since it asked
        with suppress(OSError):
            self._child.send(report)

    def _read(self) -> bool:
        """Take in what the program wrote meanwhile; False when it has ended."""
        new = self._child.read()
        if not new:
            return new is not None
        self.raw += new
        self._stream.feed(new)
        self._everything = None
        return True


class Ask(Chat):
    """`zkchat ask` on a terminal."""

    name = "ask"
