"""stdout and stderr, and what may be written to them: lines fitted to the width, in readable
colors.

Results go to stdout, everything else to stderr, and escape sequences only to a terminal that wants
them. Lists with styles and links go through rich; single lines and pipes do not, because importing
rich takes 40 ms, which the first prompt and a pipe should not pay.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TextIO

from zkchat_cli.terminal.column_layout import Spans, break_lines, joined_text, lay_out
from zkchat_cli.terminal.palette import Palette, choose_palette
from zkchat_cli.text.sanitize import sanitize, sanitize_shown
from zkchat_cli.views.text import StyledLine, spoken_text, time_left

# Importing rich takes 40 ms
if TYPE_CHECKING:
    from rich.console import Console

# Seconds before progress is shown: for faster work it would only flicker
PROGRESS_DELAY = 0.3
PROGRESS_INTERVAL = 0.1
# The same where each report is a line that stays: in a pipe and for a screen reader
PROGRESS_LINE_INTERVAL = 10.0
# Reports of progress that belong to the preparation: the first one tells what was done before
STEPS_TO_PREPARE = 2
_SGR = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
"""The numbers of the escape sequences for styles without a palette; the first prompt is drawn
without rich.
"""


def terminal_columns() -> int:
    """The width of the terminal, or 80 without one."""
    return shutil.get_terminal_size().columns


@dataclass(frozen=True, slots=True)
class Screen:
    """The two streams of the process, and how to write to them.

    `color` is for stdout; stderr may be another terminal or none. `columns` returns the width that
    lines are fitted to; without it lines keep their length, for files and for readers who resize
    the window. `lines` returns the height. `address` returns what opens the note at a path, if
    anything does. An `accessible` screen is for a screen reader: it has no colors, nothing is drawn
    again, and signs are words. Without a `palette` it has the terminal's sixteen colors.
    """

    out: TextIO
    err: TextIO
    color: bool
    err_is_terminal: bool
    columns: Callable[[], int] | None = None
    address: Callable[[str], str | None] | None = None
    lines: Callable[[], int] = lambda: shutil.get_terminal_size().lines
    accessible: bool = False
    palette: Palette | None = None

    @classmethod
    def of(cls, *, accessible: bool = False, background: str = "auto") -> "Screen":
        """The screen of this process, for a terminal with a `dark` or `light` background.

        With `auto` the environment tells the background.
        """
        wants_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        color = sys.stdout.isatty() and not accessible and not wants_plain
        palette = choose_palette(background, os.environ)
        return cls(
            sys.stdout,
            sys.stderr,
            color,
            err_is_terminal=sys.stderr.isatty(),
            accessible=accessible,
            palette=palette,
        )

    def with_width(self) -> "Screen":
        """The same screen, for lists in columns: they are fitted to the terminal, which would break
        their lines anywhere.
        """
        return replace(self, columns=terminal_columns) if self.out.isatty() else self

    def console(self) -> "Console":
        """A rich console for stdout in color. It prints texts without reading them as markup."""
        # This import takes 40 ms
        from rich.console import Console
        from rich.theme import Theme

        colors = {name: f"color({number})" for name, number in (self.palette or {}).items()}
        theme = Theme({**colors, "comment": f"{colors.get('dim', 'dim')} italic"})
        return Console(
            file=self.out,
            force_terminal=True,
            color_system="256",
            theme=theme,
            legacy_windows=False,
        )

    def print(self, text: str = "", *styles: str) -> None:
        """Print a line to stdout. On a screen, its further rows are indented."""
        if self.accessible:
            text = spoken_text(text)
        if self.columns is not None:
            text = break_lines(text, self.columns())
        self.write(f"{text}\n", *styles)

    def show(self, lines: Iterable[StyledLine]) -> None:
        """Print lines to stdout with their styles, columns and links, as far as this screen
        supports them.
        """
        width = self.columns() if self.columns is not None else None
        rows = lay_out(lines, width, self._quotation_format())
        if self.color:
            self._show_styled(rows)
        else:
            plain = "".join(f"{joined_text(row)}\n" for row in rows)
            self.out.write(spoken_text(plain) if self.accessible else plain)
        self.out.flush()

    def _quotation_format(self) -> str:
        if self.color:
            return "{}"
        return "“{}” (quoted)" if self.accessible else "»{}«"

    def _show_styled(self, rows: Sequence[Spans]) -> None:
        from rich.style import Style
        from rich.text import Text

        console = self.console()
        for row in rows:
            text = Text()
            for span in row:
                address = None
                if span.path is not None and self.address is not None:
                    address = self.address(span.path)
                styles = [console.get_style(name) for name in span.style.split()]
                text.append(span.text, Style.combine([Style(link=address), *styles]))
            # The rows fit already, or may have any length
            console.print(text, soft_wrap=True)

    def discard_output(self) -> None:
        """Discard further output: the terminal may be gone, and the interpreter would report that
        at exit.
        """
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (self.out, self.err):
            os.dup2(nowhere, stream.fileno())
        os.close(nowhere)

    def write(self, text: str, *styles: str) -> None:
        """Write text to stdout, sanitized, in these styles if the screen has any."""
        safe = sanitize(text) if self.columns is None else sanitize_shown(text)
        if self.color and styles and safe.strip():
            body = safe.rstrip("\n")
            line_ends = safe[len(body) :]
            safe = f"\x1b[{self._style_numbers(styles)}m{body}\x1b[0m{line_ends}"
        self.out.write(safe)
        self.out.flush()

    def _style_numbers(self, styles: Iterable[str]) -> str:
        """The numbers in an escape sequence for these styles, such as `1;32`."""
        numbers = dict(_SGR)
        for name, number in (self.palette or {}).items():
            numbers[name] = f"38;5;{number}"
        words = " ".join(styles).split()
        return ";".join(numbers[word] for word in words)

    def json(self, document: Any) -> None:
        """Print a document as JSON, with escapes for the characters that `sanitize` would
        replace.
        """
        text = json.dumps(document, ensure_ascii=False, default=_as_json)
        escapes = {ord(c): f"\\u{ord(c):04x}" for c in set(text) if sanitize(c) != c}
        self.out.write(text.translate(escapes) + "\n")
        self.out.flush()

    def warn(self, message: str, hint: str = "") -> None:
        """Print a warning on stderr, with what to do about it."""
        advice = f" ({hint})" if hint else ""
        self.remark(f"zkchat: {message}{advice}")

    def remark(self, text: str) -> None:
        """Print a line about the result on stderr: that it is empty, or how many there are.

        On a terminal it is broken between words.
        """
        if self.err_is_terminal:
            columns = self.columns or terminal_columns
            text = break_lines(text, columns())
        self.err.write(sanitize_shown(text) + "\n")
        self.err.flush()

    def progress(self, text: str) -> None:
        """Print a line about progress, only if stderr is a terminal."""
        if self.err_is_terminal:
            self.remark(text)

    @contextmanager
    def progress_bar(
        self, title: str, clock: Callable[[], float] = time.monotonic
    ) -> Iterator[Callable[[int, int], None]]:
        """Figures on stderr, with the time that is left.

        On a terminal they are a line that appears after a moment and leaves nothing behind. In a
        pipe and for a screen reader they are a line each `PROGRESS_LINE_INTERVAL` seconds.
        """
        begin = clock()
        interval = PROGRESS_INTERVAL
        if self.accessible or not self.err_is_terminal:
            interval = PROGRESS_LINE_INTERVAL
        next_at = begin + (PROGRESS_DELAY if self.err_is_terminal else interval)
        # What an earlier run has done, and the first step with its preparations, say nothing about
        # the speed
        steps = 0
        done_before = 0

        def report(done: int, total: int) -> None:
            nonlocal begin, next_at, done_before, steps
            now = clock()
            steps += 1
            if steps <= STEPS_TO_PREPARE:
                begin = now
                done_before = done
            if now < next_at:
                return
            next_at = now + interval
            left = time_left(now - begin, done - done_before, total - done)
            text = f"{title}  {done:,}/{total:,}{left}"
            if interval == PROGRESS_INTERVAL:
                show(text)
            else:
                self.remark(text)

        with self.transient_line(self.err) as show:
            yield report

    @contextmanager
    def transient_line(self, out: TextIO) -> Iterator[Callable[[str], None]]:
        """A line on a terminal that each call replaces, and that leaves nothing behind.

        A screen reader gets its first word once.
        """
        drawn = ""

        def show(text: str) -> None:
            nonlocal drawn
            if not self.accessible:
                out.write("\r" + sanitize(text).ljust(len(drawn)))
            else:
                text = text.split()[0]
                if text != drawn:
                    out.write(f"{text}\n")
            drawn = text
            out.flush()

        try:
            yield show
        finally:
            if drawn and not self.accessible:
                out.write(f"\r{' ' * len(drawn)}\r")
                out.flush()


def _as_json(value: Any) -> Any:
    """A value for which JSON has no form: a model's fields, or the value as text."""
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else str(value)
