"""The clipboard: the system's through its own program, and the terminal's by OSC 52, which works over ssh."""

import base64
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from zkchat_cli.terminal.screen import Screen

MAX_SEQUENCE = 74_994
"""Bytes that xterm accepts in an OSC 52 sequence; other terminals accept at least as many."""
TIMEOUT = 2.0
CLIPBOARDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
    ("", ("clip.exe",)),
)


def copy_text(text: str, screen: Screen, env: Mapping[str, str] = os.environ) -> list[str]:
    """Copy text to every clipboard that can be reached, and return their names."""
    targets: list[str] = []
    data = text.encode("utf-8", "replace")
    for variable, command in CLIPBOARDS:
        program = shutil.which(command[0], path=env.get("PATH")) if not variable or env.get(variable) else None
        if program is not None and _pipe_to([program, *command[1:]], data):
            targets.append(command[0])
            break
    if screen.out.isatty() and env.get("TERM") != "dumb" and len(data) <= MAX_SEQUENCE:
        screen.out.write(f"\x1b]52;c;{base64.b64encode(data).decode()}\x07")
        screen.out.flush()
        targets.append("the terminal")
    return targets


def _pipe_to(command: Sequence[str], data: bytes) -> bool:
    """In a session of its own: the program keeps running to hold the text, and must not get a Ctrl-C of the chat."""
    nowhere = subprocess.DEVNULL
    try:
        subprocess.run(command, input=data, stdout=nowhere, stderr=nowhere, timeout=TIMEOUT, check=True, start_new_session=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return True
