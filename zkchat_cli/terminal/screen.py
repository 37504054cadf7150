"""stdout and stderr, and what may be written to them: lines fitted to the width, in colors that can
be read.

Results go to stdout, everything else to stderr, and escape sequences only to a terminal that wants
them. Lists with styles and links go through rich; single lines and pipes do not, because importing
rich costs 40 ms, which the first prompt and a pipe should not pay.
"""

import json
import os
import posixpath
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO
from urllib.parse import quote

from zkchat_cli.text.sanitize import sanitize, sanitize_name
from zkchat_cli.views.text import StyledLine, StyledSpan, spoken_text, styled_line

if TYPE_CHECKING:
    from rich.console import Console

# Seconds before progress is shown: for quicker work it would only flicker
PROGRESS_DELAY = 0.3
PROGRESS_INTERVAL = 0.1
_SGR = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
"""The numbers of the escape sequences of styles, without a palette: the first prompt is drawn
without rich.
"""

Palette = Mapping[str, int]
"""The number of each color, of xterm's 256, by the name of its style, with a contrast of at least
4.5 (WCAG AA) to the background. What the first sixteen colors look like, each theme decides: on a
light background green, yellow and cyan are often unreadable.
"""
DARK: Palette = {"green": 114, "yellow": 221, "red": 210, "cyan": 80, "magenta": 183, "dim": 248}
LIGHT: Palette = {"green": 22, "yellow": 94, "red": 124, "cyan": 24, "magenta": 90, "dim": 240}
EITHER: Palette = {"green": 29, "yellow": 131, "red": 163, "cyan": 63, "magenta": 98, "dim": 243}
"""For a background that is not known: as readable on black as on white."""

# Terminals ignore longer ones (VTE: 2083 bytes)
MAX_ADDRESS = 2000
WEB = ("http://", "https://", "mailto:")

Spans = tuple[StyledSpan, ...]
GAP = "   "
MAX_LEFT = 60
"""Columns, or half the screen, up to which a left part moves the column of the right parts; a
longer one moves only its own right part.
"""


class LinkTargets(NamedTuple):
    """The addresses that a click on a link in an answer opens (OSC 8), or None: a note by the text
    in `[[…]]`, a source by its number. They are percent-encoded ASCII, so that a file name cannot
    end the escape sequence or begin another one.
    """

    note: Callable[[str], str | None] = lambda _: None
    source: Callable[[int], str | None] = lambda _: None


NO_LINKS = LinkTargets()


def terminal_columns() -> int:
    return shutil.get_terminal_size().columns


@dataclass(frozen=True, slots=True)
class Screen:
    """The two streams. `color` is for stdout; stderr can be another terminal or none.

    `columns` returns the width that lines are fitted to; without it lines keep their length, for
    files and for readers who resize the window. `lines` returns the height. `address` returns what
    opens the note at a path, if anything does. An `accessible` screen is for a screen reader: it
    has no colors, nothing is drawn again, and signs are words. Without a `palette` it has the
    terminal's sixteen colors.
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
        color = sys.stdout.isatty() and not (
            accessible or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        )
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
        """For lists in columns: a terminal that breaks their lines anywhere makes them
        unreadable.
        """
        return replace(self, columns=terminal_columns) if self.out.isatty() else self

    def console(self) -> "Console":
        """A rich console for stdout in color. It prints texts, which are not read as markup."""
        from rich.console import Console  # deferred: it costs 40 ms
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
        """A line to stdout. On a screen, its rows after the first are indented."""
        text = spoken_text(text) if self.accessible else text
        self.write(
            (text if self.columns is None else _break_lines(text, self.columns())) + "\n", *styles
        )

    def show(self, lines: Iterable[StyledLine]) -> None:
        """Lines to stdout with their styles, columns and links, as far as this screen has them."""
        quoted = "{}" if self.color else "“{}” (quoted)" if self.accessible else "»{}«"
        rows = lay_out(lines, self.columns() if self.columns is not None else None, quoted)
        if self.color:
            from rich.style import Style
            from rich.text import Text

            console = self.console()
            for row in rows:
                text = Text()
                for span in row:
                    address = (
                        self.address(span.path) if span.path is not None and self.address else None
                    )
                    text.append(
                        span.text,
                        Style.combine(
                            [Style(link=address), *map(console.get_style, span.style.split())]
                        ),
                    )
                # The rows fit already, or may be of any length
                console.print(text, soft_wrap=True)
        else:
            plain = "".join(f"{_joined_text(row)}\n" for row in rows)
            self.out.write(spoken_text(plain) if self.accessible else plain)
        self.out.flush()

    def discard_output(self) -> None:
        """Discard further output: the terminal may be gone, and the interpreter would report that
        at exit.
        """
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (self.out, self.err):
            os.dup2(nowhere, stream.fileno())
        os.close(nowhere)

    def write(self, text: str, *styles: str) -> None:
        """Text to stdout, sanitized, in these styles if the screen has any."""
        safe = sanitize(text)
        if self.color and styles and safe.strip():
            body = safe.rstrip("\n")
            numbers = {
                **_SGR,
                **{name: f"38;5;{number}" for name, number in (self.palette or {}).items()},
            }
            safe = f"\x1b[{';'.join(numbers[word] for style in styles for word in style.split())}m{body}\x1b[0m{safe[len(body) :]}"
        self.out.write(safe)
        self.out.flush()

    def json(self, document: Any) -> None:
        """A document as JSON, with escapes for the characters that `sanitize` would replace."""
        text = json.dumps(
            document,
            ensure_ascii=False,
            default=lambda v: v.model_dump(mode="json") if hasattr(v, "model_dump") else str(v),
        )
        self.out.write(
            text.translate({ord(c): f"\\u{ord(c):04x}" for c in set(text) if sanitize(c) != c})
            + "\n"
        )
        self.out.flush()

    def warn(self, message: str, hint: str = "") -> None:
        self.remark(f"zkchat: {message}" + (f" ({hint})" if hint else ""))

    def remark(self, text: str) -> None:
        """A line on stderr about the result: that it is empty, or how many there are. On a terminal
        it is broken between words.
        """
        columns = self.columns or terminal_columns
        self.err.write(
            sanitize(_break_lines(text, columns()) if self.err_is_terminal else text) + "\n"
        )
        self.err.flush()

    def progress(self, text: str) -> None:
        """A line about progress, only if stderr is a terminal."""
        if self.err_is_terminal:
            self.remark(text)

    @contextmanager
    def progress_bar(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """Figures in a line on a terminal's stderr that appears after a moment and leaves nothing
        behind; nothing elsewhere.
        """
        next_at = time.monotonic() + PROGRESS_DELAY

        def report(done: int, total: int) -> None:
            nonlocal next_at
            if self.err_is_terminal and time.monotonic() > next_at:
                show(f"{title}  {done}/{total}")
                next_at = time.monotonic() + PROGRESS_INTERVAL

        with self.transient_line(self.err) as show:
            yield report

    @contextmanager
    def transient_line(self, out: TextIO) -> Iterator[Callable[[str], None]]:
        """A line on a terminal that each call replaces, and that leaves nothing behind; a screen
        reader gets its first word once.
        """
        drawn = ""

        def show(text: str) -> None:
            nonlocal drawn
            if not self.accessible:
                out.write("\r" + sanitize(text).ljust(len(drawn)))
            elif (text := text.split()[0]) != drawn:
                out.write(f"{text}\n")
            drawn = text
            out.flush()

        try:
            yield show
        finally:
            if drawn and not self.accessible:
                out.write(f"\r{' ' * len(drawn)}\r")
                out.flush()


def note_opener(root: Path) -> Callable[[str], str | None]:
    """Returns the address that opens the note at a path relative to `root`. A path that leads out
    of it, which an imported conversation can contain, has none.
    """

    def address(relative_path: str) -> str | None:
        normal = posixpath.normpath(relative_path)
        if normal.startswith(("/", "..")) or "\0" in normal or Path(normal).drive:
            return None
        uri = (root / normal).as_uri()
        return uri if len(uri) <= MAX_ADDRESS else None

    return address


def web_address(target: str) -> str | None:
    """A web or mail address, encoded; None for anything else that a model may have written."""
    address = quote(target, safe="%/:=&?~#+!$,;'@()*[]") if target.lower().startswith(WEB) else ""
    return address if 0 < len(address) <= MAX_ADDRESS else None


def choose_palette(background: str, env: Mapping[str, str]) -> Palette | None:
    """The colors for a `dark` or `light` background, or for that which the environment tells; None:
    the terminal's own sixteen.
    """
    if "256color" not in env.get("TERM", "") and env.get("COLORTERM") not in ("truecolor", "24bit"):
        return None
    number = env.get("COLORFGBG", "").rpartition(";")[2]  # set by Konsole, rxvt and others
    if background not in ("dark", "light") and number.isdecimal():
        background = "light" if number in ("7", "15") else "dark"
    return {"dark": DARK, "light": LIGHT}.get(background, EITHER)


def lay_out(lines: Iterable[StyledLine], width: int | None, quoted: str = "{}") -> list[Spans]:
    """The rows of these lines in `width` columns, or of any length: the right parts in one column,
    long lines broken between words.

    `quoted` is the format of quoted text. rich.table cannot put a cell below the row instead of
    beside it, which narrow lists of sources need.
    """
    safe = [
        StyledLine(
            _sanitize_spans(each.left, quoted), _sanitize_spans(each.right, quoted), each.indent
        )
        for each in lines
    ]
    sizes = [
        (count_columns(_joined_text(each.left)), count_columns(_joined_text(each.right)))
        for each in safe
    ]
    # For a left and a right part side by side
    room = sys.maxsize if width is None else width - len(GAP)
    fitting = [
        size for each, size in zip(safe, sizes, strict=True) if each.right and sum(size) <= room
    ]
    column = max(
        [left for left, _ in fitting if left <= max(MAX_LEFT, (width or 0) // 2)], default=0
    )
    column = min([column, *(room - right for _, right in fitting)])
    rows: list[Spans] = []
    for each, (left, right) in zip(safe, sizes, strict=True):
        if each.right and left + right <= room:
            rows.append((*each.left, StyledSpan(" " * max(0, column - left) + GAP), *each.right))
            continue
        rows += _break_spans(each.left, each.indent, width)
        if each.right:
            rows += _break_spans(
                (StyledSpan(" " * min(each.indent, (width or 0) // 2)), *each.right),
                each.indent,
                width,
            )
    return rows


def count_columns(text: str) -> int:
    """How many columns a text takes, measured without rich, which costs 20 ms."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(c) or c == "\u200d"
        else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def _sanitize_spans(spans: Iterable[StyledSpan], quoted: str) -> Spans:
    texts = ((span, sanitize_name(span.text)) for span in spans)
    return tuple(
        span._replace(text=quoted.format(text) if span.quoted else text) for span, text in texts
    )


def _break_spans(spans: Spans, indent: int, width: int | None) -> list[Spans]:
    text = _joined_text(spans)
    if width is None or count_columns(text) <= width:
        return [spans]
    from zkchat_cli.terminal.text_layout import line_breaks  # loads rich

    indent = min(indent, width // 2)
    first = line_breaks(text, width)[:1]
    # These rows are indented
    others = [at + each for at in first for each in line_breaks(text[at:], max(1, width - indent))]
    rows: list[Spans] = []
    for begin, end in pairwise([0, *first, *others, len(text)]):
        end = begin + len(text[begin:end].rstrip())
        row = [StyledSpan(" " * indent)] if rows else []
        start = 0
        for span in spans:
            row.append(span._replace(text=span.text[max(0, begin - start) : max(0, end - start)]))
            start += len(span.text)
        rows.append(tuple(span for span in row if span.text))
    return rows


def _joined_text(spans: Iterable[StyledSpan]) -> str:
    return "".join(span.text for span in spans)


def _break_lines(text: str, columns: int) -> str:
    lines: list[StyledLine] = []
    for line in text.expandtabs(4).split("\n"):
        own = len(line) - len(line.lstrip(" "))
        lines.append(styled_line(line, indent=own if own > 4 else own + 4))
    return "\n".join(_joined_text(row) for row in lay_out(lines, columns))
