"""Record the README's picture from a real session: docs/images/demo.cast (asciinema) and
docs/images/demo.svg, made of it by termtosvg.

python docs/record.py
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pexpect

IMAGES = Path(__file__).with_name("images")
ROWS = 24
COLUMNS = 80
KEY_DELAY = 0.06
"""Seconds between two keys."""
STEPS = (
    ("How do I title an evergreen note?", 3.0),
    ("/sources 1", 3.0),
    ("/context", 4.0),
)
"""What is typed, and for how many seconds one reads what comes."""


class Recording:
    """A program in a pseudo-terminal, and all that it writes with the time of it."""

    def __init__(self, program: pexpect.spawn) -> None:
        self.program = program
        self.started = time.monotonic()
        self.events: list[tuple[float, str, str]] = []

    def watch(self, seconds: float) -> None:
        """Record what comes within this time."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            try:
                text = self.program.read_nonblocking(4096, timeout=left)
            except pexpect.TIMEOUT:
                return
            self.events.append((round(time.monotonic() - self.started, 3), "o", text))

    def type(self, line: str) -> None:
        for key in line:
            self.program.send(key)
            self.watch(KEY_DELAY)
        self.watch(5 * KEY_DELAY)
        self.program.send("\r")


def record(home: str) -> list[tuple[float, str, str]]:
    # Nobody answers requests
    environment = {
        **os.environ,
        "ZKCHAT_HOME": home,
        "TERM": "xterm-256color",
        "PROMPT_TOOLKIT_NO_CPR": "1",
    }
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "zkchat_cli", "chat", "--demo", "--no-store"]
    program = pexpect.spawn(
        command[0],
        command[1:],
        dimensions=(ROWS, COLUMNS),
        env=environment,
        encoding="utf-8",
        timeout=60,
    )
    recording = Recording(program)
    recording.watch(5)
    for line, seconds in STEPS:
        recording.type(line)
        recording.watch(seconds)
    program.close(force=True)
    return recording.events


def main() -> None:
    render = shutil.which("termtosvg")
    if render is None:
        sys.exit("docs/record.py needs termtosvg, which draws the picture: pip install termtosvg")
    with tempfile.TemporaryDirectory() as home:
        # The first start makes the index; nobody needs to see that
        record(home)
        events = record(home)
    IMAGES.mkdir(exist_ok=True)
    cast = IMAGES / "demo.cast"
    first = events[0][0]
    lines = [
        json.dumps({"version": 2, "width": COLUMNS, "height": ROWS, "title": "zkchat chat --demo"})
    ]
    lines += [
        json.dumps([round(at - first, 3), kind, text], ensure_ascii=False)
        for at, kind, text in events
    ]
    cast.write_text("\n".join(lines) + "\n", encoding="utf-8")
    subprocess.run(
        [
            render,
            "render",
            str(cast),
            str(cast.with_suffix(".svg")),
            "-t",
            "window_frame",
            "-m",
            "50",
            "-M",
            "3000",
        ],
        check=True,
    )


if __name__ == "__main__":
    main()
