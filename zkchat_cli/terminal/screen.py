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
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, TextIO

from zkchat_cli.terminal.line_layout import lay_out
from zkchat_cli.terminal.theme import EITHER, Theme, can_encode_symbols, choose_theme, to_ascii
from zkchat_cli.text.sanitize import sanitize
from zkchat_cli.views.text import StyledLine, StyledSpan

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console
    from rich.text import Text

    from zkchat_cli.config.schema import TerminalSettings

PROMPT = "you › "
PROGRESS_DELAY = 0.3
"""Seconds before a progress bar appears: for quicker work it would only flicker."""
PROGRESS_INTERVAL = 0.1
MAX_WIDTH = 10_000


@dataclass(frozen=True, slots=True)
class Screen:
    """The two streams. `colour` is for stdout; stderr can be another terminal or none.

    `columns` returns the width that lines are fitted to; without it lines keep their length, for files and for readers who resize the
    window. `lines` returns the height. `address` returns what opens the note at a path, if anything does. With `ascii` the symbols that
    zkchat draws are ASCII; with `plain` no terminal gets escape sequences.
    """

    out: TextIO
    err: TextIO
    colour: bool
    err_is_terminal: bool
    columns: Callable[[], int] | None = None
    address: Callable[[str], str | None] | None = None
    theme: Theme = EITHER
    ascii: bool = False
    lines: Callable[[], int] = lambda: 24
    plain: bool = False

    @classmethod
    def of(cls, env: Mapping[str, str] = os.environ) -> "Screen":
        plain = bool(env.get("NO_COLOR")) or env.get("TERM") == "dumb"
        return cls(
            sys.stdout,
            sys.stderr,
            colour=sys.stdout.isatty() and not plain,
            plain=plain,
            err_is_terminal=sys.stderr.isatty(),
            theme=choose_theme("auto", env),
            ascii=not can_encode_symbols(sys.stdout.encoding),
        )

    def with_settings(self, settings: "TerminalSettings", env: Mapping[str, str] = os.environ) -> "Screen":
        """The screen with the theme and the symbols that the settings want."""
        return replace(
            self,
            colour=self.colour and settings.theme != "plain",
            plain=self.plain or settings.theme == "plain",
            theme=choose_theme(settings.theme, env),
            ascii=self.ascii or settings.ascii,
        )

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
            theme=self.theme.for_rich(),
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
        )

    def symbols(self, text: str) -> str:
        """A text of ours with the symbols that this screen has."""
        return to_ascii(text) if self.ascii else text

    def write(self, text: str) -> None:
        """Any text to stdout, sanitized and otherwise unchanged."""
        self.out.write(sanitize(text))
        self.out.flush()

    def print(self, text: str = "", *styles: str) -> None:
        """A line to stdout. On a screen, its rows after the first are indented."""
        text = sanitize(self.symbols(text))
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
        if self.ascii:
            lines = [StyledLine(tuple(map(self._ascii, each.left)), tuple(map(self._ascii, each.right)), each.indent) for each in lines]
        rows = lay_out(lines, self.columns() if self.columns is not None else None, plain=not self.colour)
        if self.colour:
            self._print_rows(rows)
        else:
            self.out.write("".join("".join(span.text for span in (*row.left, *row.right)) + "\n" for row in rows))
        self.out.flush()

    def _print_rows(self, rows: Iterable[StyledLine]) -> None:
        """Rows of one part as text, and neighbouring rows of two as a table with the columns that the layout chose."""
        from rich.segment import Segment, Segments  # deferred: it costs 40 ms
        from rich.table import Table

        from zkchat_cli.terminal.markdown_blocks import strip_end

        console = self.console()
        texts = ((self._rich_text(row.left, console), row.right) for row in rows)
        for left_width, group in groupby(texts, key=lambda row: row[0].cell_len if row[1] else None):
            if left_width is None:
                for text, _ in group:
                    console.print(text, soft_wrap=True)
                continue
            table = Table.grid()
            table.add_column(no_wrap=True)
            table.add_column(no_wrap=True)
            for text, right in group:
                table.add_row(text, right[0].renderable or self._rich_text(right, console))
            options = console.options.update(width=MAX_WIDTH)  # the rows fit already, or may be of any length
            for row in console.render_lines(table, options, pad=False):
                console.print(Segments([*strip_end(row), Segment.line()]), soft_wrap=True)

    def _rich_text(self, spans: Iterable[StyledSpan], console: "Console") -> "Text":
        from rich.style import Style
        from rich.text import Text

        text = Text()
        for span in spans:
            address = self.address(span.path) if span.path is not None and self.address else None
            text.append(span.text, Style.combine([Style(link=address), *map(console.get_style, span.style.split())]))
        return text

    def _ascii(self, span: StyledSpan) -> StyledSpan:
        return replace(span, text=self.symbols(span.text), renderable=None)

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
            safe = f"\x1b[{self.theme.sgr(' '.join(styles))}m{body}\x1b[0m{safe[len(body) :]}"
        self.out.write(safe)
        self.out.flush()

    def json(self, document: "BaseModel | Any") -> None:
        """One JSON document on stdout. C1 controls are escaped too: JSON allows them, but terminals act on them."""
        self.out.write(self.as_json(document) + "\n")
        self.out.flush()

    @staticmethod
    def as_json(document: "BaseModel | Any") -> str:
        """The document as `json` prints it, without the line end."""
        dumped = document.model_dump(mode="json") if hasattr(document, "model_dump") else document
        text = json.dumps(dumped, ensure_ascii=False, default=str)
        return "".join(f"\\u{ord(c):04x}" if "\x7f" <= c <= "\x9f" else c for c in text)

    def warn(self, message: str, hint: str = "") -> None:
        """One or two lines on stderr."""
        self.err.write(sanitize(self.symbols(f"zkchat: {message}" + (f" ({hint})" if hint else ""))) + "\n")
        self.err.flush()

    def remark(self, text: str) -> None:
        """A line on stderr about the result: that it is empty, or how many there are."""
        self.err.write(sanitize(self.symbols(text)) + "\n")
        self.err.flush()

    def progress(self, text: str) -> None:
        """A line about progress, only if stderr is a terminal."""
        if self.err_is_terminal:
            self.err.write(sanitize(text) + "\n")
            self.err.flush()

    @contextmanager
    def progress_bar(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """A bar on a terminal's stderr that appears after a moment and leaves nothing behind; nothing elsewhere."""
        if not self.err_is_terminal:
            yield lambda _done, _total: None
            return
        if self.plain:
            with self._plain_progress(title) as report_plain:
                yield report_plain
            return
        from rich.console import Console  # 40 ms, paid only where a bar is drawn
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        bars = () if self.ascii else (BarColumn(),)
        columns = (TextColumn(f"{title} "), *bars, MofNCompleteColumn(), TimeRemainingColumn())
        bar = Progress(*columns, console=Console(file=self.err), transient=True)
        task = bar.add_task(title)
        began = time.monotonic()
        started = False

        def report(done: int, total: int) -> None:
            nonlocal started
            if not started and time.monotonic() - began > PROGRESS_DELAY:
                bar.start()
                started = True
            bar.update(task, completed=done, total=total)

        try:
            yield report
        finally:
            if started:
                bar.stop()

    @contextmanager
    def _plain_progress(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """A line that is rewritten with a carriage return and spaces, which every terminal understands."""
        next_at = time.monotonic() + PROGRESS_DELAY
        drawn = 0

        def report(done: int, total: int) -> None:
            nonlocal drawn, next_at
            if time.monotonic() > next_at:
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
