"""Copying text to the clipboards that can be reached: that of the desktop, through a program, and
that of the terminal, through an escape sequence (OSC 52), which also works over SSH.
"""

import base64
import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from zkchat_cli.terminal.screen import Screen

# Bytes of the longest OSC 52 sequence that xterm accepts; other terminals accept at least as many
MAX_SEQUENCE = 74_994
# Seconds after which a copying program is given up
TIMEOUT = 2.0


class ClipboardProgram(NamedTuple):
    """A program that copies its standard input.

    It is tried if the environment variable named `variable` is set, or always if that name is
    empty.
    """

    command: tuple[str, ...]
    variable: str = ""


CLIPBOARDS = (
    ClipboardProgram(("wl-copy",), "WAYLAND_DISPLAY"),
    ClipboardProgram(("xclip", "-selection", "clipboard"), "DISPLAY"),
    ClipboardProgram(("xsel", "--clipboard", "--input"), "DISPLAY"),
    ClipboardProgram(("pbcopy",)),
    ClipboardProgram(("clip.exe",)),
)
"""The first one that works is used."""


def copy_text(text: str, screen: Screen, env: Mapping[str, str] = os.environ) -> list[str]:
    """Copy text to every clipboard that can be reached, and return their names."""
    data = text.encode("utf-8", "replace")
    targets = []
    program = _copy_with_a_program(data, env)
    if program:
        targets.append(program)
    takes_sequences = screen.out.isatty() and env.get("TERM") != "dumb"
    if takes_sequences and len(data) <= MAX_SEQUENCE:
        screen.out.write(f"\x1b]52;c;{base64.b64encode(data).decode()}\x07")
        screen.out.flush()
        targets.append("the terminal")
    return targets


def _copy_with_a_program(data: bytes, env: Mapping[str, str]) -> str:
    """The name of the first program that copied the text; empty if none could."""
    for program in CLIPBOARDS:
        if program.variable and not env.get(program.variable):
            continue
        with suppress(OSError, subprocess.SubprocessError):
            # The program runs in a session of its own: it stays alive to hold the text, and must
            # not get a Ctrl-C of the chat
            subprocess.run(
                program.command,
                input=data,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=env,
                timeout=TIMEOUT,
                check=True,
                start_new_session=True,
            )
            return program.command[0]
    return ""
