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
from typing import TYPE_CHECKING, Any, TextIO

from zkchat_cli.terminal.line_layout import lay_out
from zkchat_cli.terminal.palettes import Palette, choose_palette
from zkchat_cli.text.sanitize import sanitize
from zkchat_cli.views.text import StyledLine, StyledSpan, spoken_line, spoken_text, styled_line

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console
    from rich.text import Text

PROGRESS_DELAY = 0.3
"""Seconds before progress is shown: for quicker work it would only flicker."""
PROGRESS_INTERVAL = 0.1
STYLES = {
    "heading1": "bold underline",
    "heading2": "bold",
    "heading3": "bold italic",
    "frame": "dim",
    "marker": "cyan",
    "code": "cyan",
    "link": "underline",
    "address": "dim",
    "note": "cyan",
    "citation": "cyan",
    "comment": "dim italic",
}
"""Styles by name. A style is never the only sign of something."""
_SGR = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
"""The numbers of the escape sequences of styles, without a palette: the first prompt is drawn without rich."""


@dataclass(frozen=True, slots=True)
class Screen:
    """The two streams. `color` is for stdout; stderr can be another terminal or none.

    `columns` returns the width that lines are fitted to; without it lines keep their length, for files and for readers who resize the
    window. `lines` returns the height. `address` returns what opens the note at a path, if anything does. An `accessible` screen is for a
    screen reader: nothing is drawn again, and signs and drawings are words. Without a `palette` it has the terminal's own sixteen colors.
    """

    out: TextIO
    err: TextIO
    color: bool
    err_is_terminal: bool
    columns: Callable[[], int] | None = None
    address: Callable[[str], str | None] | None = None
    lines: Callable[[], int] = lambda: 24
    accessible: bool = False
    palette: Palette | None = None

    @classmethod
    def of(cls, env: Mapping[str, str] = os.environ, *, accessible: bool = False, background: str = "auto") -> "Screen":
        plain = bool(env.get("NO_COLOR")) or env.get("TERM") == "dumb"
        return cls(
            sys.stdout,
            sys.stderr,
            color=sys.stdout.isatty() and not plain,
            err_is_terminal=sys.stderr.isatty(),
            accessible=accessible,
            palette=choose_palette(background, env),
        )

    def with_width(self) -> "Screen":
        """For lists in columns: a terminal that breaks their lines anywhere makes them unreadable."""
        return replace(self, columns=_terminal_columns) if self.out.isatty() else self

    def console(self) -> "Console":
        """A rich console for stdout, with this theme. Text is never read as markup."""
        from rich.console import Console  # deferred: it costs 40 ms
        from rich.theme import Theme

        return Console(
            file=self.out,
            width=self.columns() if self.columns else None,
            force_terminal=self.color,
            color_system="256" if self.color else None,
            theme=Theme(self._rich_styles()),
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
        )

    def _rich_styles(self) -> dict[str, str]:
        colors = {name: f"color({number})" for name, number in (self.palette or {}).items()}
        return {name: " ".join(colors.get(word, word) for word in style.split()) for name, style in {**STYLES, **colors}.items()}

    def print(self, text: str = "", *styles: str) -> None:
        """A line to stdout. On a screen, its rows after the first are indented."""
        text = spoken_text(text) if self.accessible else text
        self.write((text if self.columns is None else _break_lines(text, self.columns())) + "\n", *styles)

    def show(self, lines: Iterable[StyledLine]) -> None:
        """Lines to stdout with their styles, columns and links, as far as this screen has them."""
        lines = map(spoken_line, lines) if self.accessible else lines
        rows = lay_out(lines, self.columns() if self.columns is not None else None, plain=not self.color)
        if self.color:
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
            address = self.address(span.path) if span.path is not None and self.address else None
            text.append(span.text, Style.combine([Style(link=address), *map(console.get_style, span.style.split())]))
        return text

    def discard_output(self) -> None:
        """Discard further output: the terminal may be gone, and the interpreter would report that at exit."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (self.out, self.err):
            os.dup2(nowhere, stream.fileno())
        os.close(nowhere)

    def write(self, text: str, *styles: str) -> None:
        """Text to stdout, sanitized, in these styles if the screen has any."""
        safe = sanitize(text)
        if self.color and styles and safe.strip():
            body = safe.rstrip("\n")
            safe = f"\x1b[{';'.join(self._sgr(word) for style in styles for word in style.split())}m{body}\x1b[0m{safe[len(body) :]}"
        self.out.write(safe)
        self.out.flush()

    def _sgr(self, word: str) -> str:
        return f"38;5;{self.palette[word]}" if self.palette and word in self.palette else _SGR[word]

    def json(self, document: "BaseModel | Any") -> None:
        self.out.write(json_text(document) + "\n")
        self.out.flush()

    def warn(self, message: str, hint: str = "") -> None:
        self.remark(f"zkchat: {message}" + (f" ({hint})" if hint else ""))

    def remark(self, text: str) -> None:
        """A line on stderr about the result: that it is empty, or how many there are. On a terminal it is broken between words."""
        columns = self.columns or _terminal_columns
        self.err.write(sanitize(_break_lines(text, columns()) if self.err_is_terminal else text) + "\n")
        self.err.flush()

    def progress(self, text: str) -> None:
        """A line about progress, only if stderr is a terminal."""
        if self.err_is_terminal:
            self.remark(text)

    @contextmanager
    def progress_bar(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """A line of figures on a terminal's stderr that appears after a moment and leaves nothing behind; nothing elsewhere."""
        next_at = time.monotonic() + PROGRESS_DELAY
        with self.transient_line(self.err) as show:

            def report(done: int, total: int) -> None:
                nonlocal next_at
                if self.err_is_terminal and time.monotonic() > next_at:
                    show(f"{title}  {done}/{total}")
                    next_at = time.monotonic() + PROGRESS_INTERVAL

            yield report

    @contextmanager
    def transient_line(self, out: TextIO) -> Iterator[Callable[[str], None]]:
        """A line on a terminal that each call replaces, and that leaves nothing behind; a screen reader gets its first word once."""
        drawn = ""

        def show(text: str) -> None:
            nonlocal drawn
            if not self.accessible:
                out.write("\r" + sanitize(text).ljust(len(drawn)))
                drawn = text
            elif (word := text.split()[0]) != drawn:
                out.write(f"{word}\n")
                drawn = word
            out.flush()

        try:
            yield show
        finally:
            if drawn and not self.accessible:
                out.write(f"\r{' ' * len(drawn)}\r")
                out.flush()


def json_text(document: "BaseModel | Any", indent: int | None = None) -> str:
    """A document as JSON, with escapes for the characters that `sanitize` would replace."""
    text = json.dumps(
        document, ensure_ascii=False, indent=indent, default=lambda v: v.model_dump(mode="json") if hasattr(v, "model_dump") else str(v)
    )
    return text.translate({ord(c): f"\\u{ord(c):04x}" for c in set(text) if sanitize(c) != c})


def _terminal_columns() -> int:
    return shutil.get_terminal_size().columns


def _break_lines(text: str, columns: int) -> str:
    lines = [styled_line(line, indent=_hanging_indent(line)) for line in text.expandtabs(4).split("\n")]
    return "\n".join("".join(span.text for span in row) for row in lay_out(lines, columns, plain=True))


def _hanging_indent(line: str) -> int:
    own = len(line) - len(line.lstrip(" "))
    return own if own > 4 else own + 4
