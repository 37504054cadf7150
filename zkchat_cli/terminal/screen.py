"""stdout and stderr, and what may be written to them.

Results go to stdout, everything else to stderr, and escape sequences only to a terminal that wants them. Lists with styles, links and
columns go through rich; single lines do not, because importing rich costs 40 ms, which the first prompt and a pipe should not pay.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TextIO

from zkchat_cli.terminal.line_layout import lay_out
from zkchat_cli.terminal.theme import rich_theme, sgr
from zkchat_cli.text.sanitize import sanitize
from zkchat_cli.views.text import StyledLine, StyledSpan

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console
    from rich.text import Text

PROMPT = "you › "
PROGRESS_DELAY = 0.3
"""Seconds before progress is shown: for quicker work it would only flicker."""
PROGRESS_INTERVAL = 0.1


@dataclass(frozen=True, slots=True)
class Screen:
    """The two streams. `colour` is for stdout; stderr can be another terminal or none.

    `columns` returns the width that lines are fitted to; without it lines keep their length, for files and for readers who resize the
    window. `lines` returns the height. `address` returns what opens the note at a path, if anything does.
    """

    out: TextIO
    err: TextIO
    colour: bool
    err_is_terminal: bool
    columns: Callable[[], int] | None = None
    address: Callable[[str], str | None] | None = None
    lines: Callable[[], int] = lambda: 24

    @classmethod
    def of(cls, env: Mapping[str, str] = os.environ) -> "Screen":
        plain = bool(env.get("NO_COLOR")) or env.get("TERM") == "dumb"
        return cls(sys.stdout, sys.stderr, colour=sys.stdout.isatty() and not plain, err_is_terminal=sys.stderr.isatty())

    def with_width(self) -> "Screen":
        """For lists in columns: a terminal that breaks their lines anywhere makes them unreadable."""
        return replace(self, columns=lambda: shutil.get_terminal_size().columns) if self.out.isatty() else self

    def console(self) -> "Console":
        """A rich console for stdout, with this theme. Text is never read as markup."""
        from rich.console import Console  # deferred: it costs 40 ms

        return Console(
            file=self.out,
            width=self.columns() if self.columns else None,
            force_terminal=self.colour,
            color_system="256" if self.colour else None,
            theme=rich_theme(),
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
        )

    def write(self, text: str) -> None:
        """Any text to stdout, sanitized and otherwise unchanged."""
        self.out.write(sanitize(text))
        self.out.flush()

    def print(self, text: str = "", *styles: str) -> None:
        """A line to stdout. On a screen, its rows after the first are indented."""
        text = sanitize(text)
        if self.columns is not None:
            text = "\n".join(row for line in text.split("\n") for row in self._rows(line, self.columns()))
        self.write_styled(text + "\n", *styles)

    def _rows(self, line: str, width: int) -> list[str]:
        if len(line) <= width and (line.isascii() or 2 * len(line) <= width):
            return [line]
        from zkchat_cli.terminal.text_layout import hanging_breaks  # loads rich

        own = len(line) - len(line.lstrip(" "))
        indent = min(own if own > 4 else own + 4, width // 2)
        breaks = [0, *hanging_breaks(line, width, indent), len(line)]
        rows = [line[start:end].rstrip() for start, end in pairwise(breaks)]
        return [rows[0], *(" " * indent + row for row in rows[1:])]

    def show(self, lines: Iterable[StyledLine]) -> None:
        """Lines to stdout with their styles, columns and links, as far as this screen has them."""
        rows = lay_out(lines, self.columns() if self.columns is not None else None, plain=not self.colour)
        if self.colour:
            console = self.console()
            for row in rows:
                console.print(self._rich_text(row, console), soft_wrap=True)  # the rows fit already, or may be of any length
        else:
            self.out.write("".join("".join(span.text for span in row) + "\n" for row in rows))
        self.out.flush()

    def _rich_text(self, spans: Iterable[StyledSpan], console: "Console") -> "Text":
        from rich.style import Style
        from rich.text import Text

        text = Text()
        for span in spans:
            if span.renderable is not None:
                text.append_text(span.renderable.__rich__())
                continue
            address = self.address(span.path) if span.path is not None and self.address else None
            text.append(span.text, Style.combine([Style(link=address), *map(console.get_style, span.style.split())]))
        return text

    def abandon(self) -> None:
        """The terminal may be gone: send the rest to nowhere, because the interpreter would report it at exit."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (self.out, self.err):
            os.dup2(nowhere, stream.fileno())
        os.close(nowhere)

    def write_raw(self, text: str) -> None:
        """Text of ours to stdout that moves the cursor with carriage returns."""
        self.out.write("".join("\r" if c == "\r" else sanitize(c) for c in text))
        self.out.flush()

    def write_styled(self, text: str, *styles: str) -> None:
        """Text to stdout, sanitized, in these styles if the screen has any."""
        safe = sanitize(text)
        if self.colour and styles and safe.strip():
            body = safe.rstrip("\n")
            safe = f"\x1b[{sgr(' '.join(styles))}m{body}\x1b[0m{safe[len(body) :]}"
        self.out.write(safe)
        self.out.flush()

    def json(self, document: "BaseModel | Any") -> None:
        """One JSON document on stdout. C1 controls are escaped too: JSON allows them, but terminals act on them."""
        self.out.write(self.as_json(document) + "\n")
        self.out.flush()

    @staticmethod
    def as_json(document: "BaseModel | Any") -> str:
        """The document as `json` prints it, without the line end."""
        text = json.dumps(document, ensure_ascii=False, default=lambda v: v.model_dump(mode="json") if hasattr(v, "model_dump") else str(v))
        return "".join(f"\\u{ord(c):04x}" if "\x7f" <= c <= "\x9f" else c for c in text)

    def warn(self, message: str, hint: str = "") -> None:
        """One or two lines on stderr."""
        self.err.write(sanitize(f"zkchat: {message}" + (f" ({hint})" if hint else "")) + "\n")
        self.err.flush()

    def remark(self, text: str) -> None:
        """A line on stderr about the result: that it is empty, or how many there are."""
        self.err.write(sanitize(text) + "\n")
        self.err.flush()

    def progress(self, text: str) -> None:
        """A line about progress, only if stderr is a terminal."""
        if self.err_is_terminal:
            self.err.write(sanitize(text) + "\n")
            self.err.flush()

    @contextmanager
    def progress_bar(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """A line of figures on a terminal's stderr that appears after a moment and leaves nothing behind; nothing elsewhere."""
        next_at = time.monotonic() + PROGRESS_DELAY
        drawn = 0

        def report(done: int, total: int) -> None:
            nonlocal drawn, next_at
            if self.err_is_terminal and time.monotonic() > next_at:
                text = f"{title}  {done}/{total}"
                self.err.write("\r" + text.ljust(drawn))
                self.err.flush()
                drawn, next_at = len(text), time.monotonic() + PROGRESS_INTERVAL

        try:
            yield report
        finally:
            if drawn:
                self.err.write(f"\r{' ' * drawn}\r")
                self.err.flush()
