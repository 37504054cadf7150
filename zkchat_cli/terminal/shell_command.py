"""`! COMMAND` in the chat: runs a shell command of the user, shows its output, and keeps it for a
message.

Only a person at a terminal starts one; models, notes and pipes cannot. The command reads the
terminal and writes into a pipe, so that its output has no colors and can go into a prompt.
"""

import codecs
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.errors import UsageError, reason
from zkchat_cli.terminal.job_control import READ_SIZE, terminal_mode
from zkchat_cli.text.sanitize import sanitize

# `![[photo.png]]` and `![](photo.png)` are pictures in a message
_COMMAND = re.compile(r"\s*!(?![!\[])\s*(\S.*)", re.DOTALL)
# Characters of the output that are kept from its beginning, and as many from its end
KEPT_AT_EACH_END = 100_000
# Seconds between two looks whether the command has ended while something it started in the
# background holds the pipe open
POLL_SECONDS = 0.1
# Seconds that a command gets to end after Ctrl-C before it is killed
GRACE_SECONDS = 2.0
_BACKTICKS = re.compile(r"`{3,}")


class ShellOutput(NamedTuple):
    """A command that has run, what it wrote, and its exit code; None if the user stopped it."""

    command: str
    text: str
    exit_code: int | None

    def as_message(self) -> str:
        """The output as a part of a message to the model."""
        lines = [f"$ {self.command}", self.text]
        if self.exit_code is None:
            lines.append("[I stopped it]")
        elif self.exit_code:
            lines.append(f"[exit code {self.exit_code}]")
        longest = max(map(len, _BACKTICKS.findall(self.text)), default=2)
        fence = "`" * (longest + 1)
        return "\n".join((f"{fence}console", *lines, fence))


def parse_shell_command(line: str) -> str | None:
    """The command of a line that begins with `!`; None for every other line."""
    found = _COMMAND.match(line)
    return found[1].rstrip() if found else None


def run_shell_command(
    command: str, folder: Path | None, write: Callable[[str], None]
) -> ShellOutput:
    """Run a command in the user's shell until it ends or Ctrl-C stops it.

    `write` gets the sanitized output as it arrives. Raises UsageError if it cannot be started.
    """
    kept = _KeptOutput()
    with terminal_mode():
        running = _start(command, folder)
        try:
            for text in _read(running):
                safe = sanitize(text)
                # First: Ctrl-C may come as soon as it is seen
                kept.add(safe)
                write(safe)
            exit_code: int | None = running.wait()
        except KeyboardInterrupt:
            _end(running)
            exit_code = None
    return ShellOutput(command, kept.text(), exit_code)


def cut_middle(text: str, most: int, count: Callable[[str], int]) -> str:
    """The beginning and the end of a text that together take at most `most` tokens."""
    size = len(text)
    short = text
    while count(short) > most and size > 1:
        size = min(size - 1, size * most // count(short))
        half = size // 2
        left_out = len(text) - 2 * half
        short = f"{text[:half]}\n[… {left_out:,} characters left out …]\n{text[len(text) - half :]}"
    return short


def _start(command: str, folder: Path | None) -> "subprocess.Popen[bytes]":
    shell = os.environ.get("SHELL") or shutil.which("sh") or "/bin/sh"
    try:
        return subprocess.Popen(
            [shell, "-c", command],
            cwd=folder,
            stdin=sys.stdin.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except (OSError, ValueError) as e:
        hint = "Set $SHELL to your shell."
        raise UsageError(f"{shell} cannot be started: {reason(e)}", hint) from e


def _read(running: "subprocess.Popen[bytes]") -> Iterator[str]:
    """What the command writes, until it has ended."""
    pipe = running.stdout
    if pipe is None:
        return
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with pipe:
        while True:
            has_ended = running.poll() is not None
            readable, _, _ = select.select([pipe], [], [], 0 if has_ended else POLL_SECONDS)
            if readable:
                read = os.read(pipe.fileno(), READ_SIZE)
                yield decoder.decode(read, final=not read)
                if not read:
                    return
            elif has_ended:
                return


def _end(running: "subprocess.Popen[bytes]") -> None:
    """Wait for a command that Ctrl-C has reached, too; kill it if it does not end."""
    until = time.monotonic() + GRACE_SECONDS
    while running.poll() is None and time.monotonic() < until:
        with suppress(subprocess.TimeoutExpired):
            running.wait(POLL_SECONDS)
    if running.poll() is None:
        running.kill()
        running.wait()
    if running.stdout is not None:
        running.stdout.close()


class _KeptOutput:
    """The beginning and the end of an output of any length."""

    def __init__(self) -> None:
        self._head = ""
        self._tail = ""
        self._left_out = 0

    def add(self, text: str) -> None:
        room = KEPT_AT_EACH_END - len(self._head)
        self._head += text[:room]
        self._tail += text[room:]
        too_many = len(self._tail) - KEPT_AT_EACH_END
        if too_many > 0:
            self._tail = self._tail[too_many:]
            self._left_out += too_many

    def text(self) -> str:
        gap = f"\n[… {self._left_out:,} characters left out …]\n" if self._left_out else ""
        return (self._head + gap + self._tail).strip("\n")
