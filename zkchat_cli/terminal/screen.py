"""The two streams and what may be written to them.

Results go to stdout, all else to stderr, and escape sequences only where a terminal wants them.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from zkchat_cli.terminal.laying import lay_out
from zkchat_cli.terminal.theme import EITHER, Theme, can_say, chosen, in_ascii
from zkchat_cli.text.sanitize import sanitize
from zkchat_cli.views.text import StyledLine, StyledSpan

if TYPE_CHECKING:
    from pydantic import BaseModel

    from zkchat_cli.config.schema import TerminalSettings

PROMPT = "you › "
PROGRESS_AFTER = 0.3
"""Seconds before a progress bar appears: what is quicker should not flicker."""
PROGRESS_EVERY = 0.1


class Flow(Protocol):
    """How streamed text gets onto the screen: `feed` what came, show what it returns; `close` has the rest."""

    def feed(self, text: str) -> str: ...

    def close(self) -> str: ...


class _AsItIs:
    def feed(self, text: str) -> str:
        return text

    def close(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class Screen:
    """Streams with their manners. `colour` is for stdout; stderr has its own terminal-ness.

    `columns` tells the width that lines are fitted to, which is for an interactive chat: in a file, or for a reader who resizes the
    window, lines are best left as they are; `lines` how high that is. `address` tells what opens the note at a path, if anything does.
    With `ascii` the signs that zkchat draws are ASCII.
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
    """Whether a terminal is to get no escape sequences."""

    @classmethod
    def of(cls, env: Mapping[str, str] = os.environ) -> "Screen":
        plain = bool(env.get("NO_COLOR")) or env.get("TERM") == "dumb"
        return cls(
            sys.stdout,
            sys.stderr,
            colour=sys.stdout.isatty() and not plain,
            plain=plain,
            err_is_terminal=sys.stderr.isatty(),
            theme=chosen("auto", env),
            ascii=not can_say(sys.stdout.encoding),
        )

    def dressed(self, settings: "TerminalSettings", env: Mapping[str, str] = os.environ) -> "Screen":
        """The screen as the settings want it, where it has looks at all."""
        return replace(
            self,
            colour=self.colour and settings.theme != "plain",
            plain=self.plain or settings.theme == "plain",
            theme=chosen(settings.theme, env),
            ascii=self.ascii or settings.ascii,
        )

    def fitted(self) -> "Screen":
        """For lists in columns, which a terminal that breaks its lines anywhere makes unreadable."""
        return replace(self, columns=lambda: shutil.get_terminal_size().columns) if self.out.isatty() else self

    def said(self, text: str) -> str:
        """A text of ours in the signs that this screen has."""
        return in_ascii(text) if self.ascii else text

    def write(self, text: str) -> None:
        """Text of whatever origin to stdout, neutralised, as it is."""
        self.out.write(sanitize(text))
        self.out.flush()

    def print(self, text: str = "", *styles: str) -> None:
        """A line to stdout."""
        text = self.said(text)
        if self.columns is not None:
            from zkchat_cli.terminal.wrapping import fit  # measures with prompt_toolkit, which an interactive chat has loaded

            text = fit(sanitize(text), self.columns())
        self.write_styled(text + "\n", *styles)

    def show(self, lines: Iterable[StyledLine]) -> None:
        """Lines to stdout with their styles, columns and links, as far as this screen has them."""
        if self.ascii:
            lines = [
                StyledLine(tuple(map(self._in_ascii, each.left)), tuple(map(self._in_ascii, each.right)), each.indent) for each in lines
            ]
        rows = lay_out(lines, self.columns() if self.columns is not None else None, plain=not self.colour)
        self.out.write("".join("".join(map(self._dressed, row)) + "\n" for row in rows))
        self.out.flush()

    def _in_ascii(self, span: StyledSpan) -> StyledSpan:
        return StyledSpan(self.said(span.text), span.style, span.path, span.quoted)

    def _dressed(self, span: StyledSpan) -> str:
        text = self.styled(span.text, *span.style.split())
        return text if span.path is None or self.address is None else self.link(text, self.address(span.path))

    def link(self, shown: str, address: str | None) -> str:
        """What is `shown` (already safe) as a link that a terminal opens (OSC 8); without an address or a terminal as it is.

        The address must be percent-encoded: see links.py.
        """
        return f"\x1b]8;;{address}\x1b\\{shown}\x1b]8;;\x1b\\" if address and self.colour else shown

    def abandon(self) -> None:
        """The terminal may be gone: what could not be written to it goes nowhere, or the interpreter would complain of it at exit."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (self.out, self.err):
            os.dup2(nowhere, stream.fileno())
        os.close(nowhere)

    def flow(self) -> Flow:
        """For an answer, piece by piece."""
        if self.columns is None:
            return _AsItIs()
        from zkchat_cli.terminal.wrapping import Wrapper  # as above

        return Wrapper(self.columns())

    def write_raw(self, text: str) -> None:
        """Text of ours to stdout that moves the cursor by a carriage return."""
        self.out.write("".join("\r" if c == "\r" else sanitize(c) for c in text))
        self.out.flush()

    def write_styled(self, text: str, *styles: str) -> None:
        self.out.write(self.styled(text, *styles))
        self.out.flush()

    def styled(self, text: str, *styles: str) -> str:
        """`text` neutralised, in the styles if this screen has any; none is ever the only sign of something."""
        safe = sanitize(text)
        if not self.colour or not styles or not safe.strip():
            return safe
        body = safe.rstrip("\n")
        return f"\x1b[{self.theme.sgr(' '.join(styles))}m{body}\x1b[0m{safe[len(body) :]}"

    def json(self, document: "BaseModel | Any") -> None:
        """One JSON document on stdout. C1 controls are escaped too: JSON lets them pass, terminals act on them."""
        self.out.write(self.as_json(document) + "\n")
        self.out.flush()

    @staticmethod
    def as_json(document: "BaseModel | Any") -> str:
        """What `json` prints, without the line's end."""
        dumped = document.model_dump(mode="json") if hasattr(document, "model_dump") else document
        text = json.dumps(dumped, ensure_ascii=False, default=str)
        return "".join(f"\\u{ord(c):04x}" if "\x7f" <= c <= "\x9f" else c for c in text)

    def warn(self, message: str, hint: str = "") -> None:
        """One or two lines on stderr."""
        self.err.write(sanitize(self.said(f"zkchat: {message}" + (f" ({hint})" if hint else ""))) + "\n")
        self.err.flush()

    def remark(self, text: str) -> None:
        """A line on stderr about the result, which is no part of it: that there is none, how many there are."""
        self.err.write(sanitize(self.said(text)) + "\n")
        self.err.flush()

    def progress(self, text: str) -> None:
        """A line about what is going on, only where somebody watches."""
        if self.err_is_terminal:
            self.err.write(sanitize(text) + "\n")
            self.err.flush()

    @contextmanager
    def progress_bar(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """A bar on a terminal's stderr that appears after a moment and leaves nothing behind; elsewhere nothing."""
        if not self.err_is_terminal:
            yield lambda _done, _total: None
            return
        if self.plain:
            with self._plain_progress(title) as told:
                yield told
            return
        from rich.console import Console  # 40 ms, paid only where a bar is drawn
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        drawn = () if self.ascii else (BarColumn(),)
        columns = (TextColumn(f"{title} "), *drawn, MofNCompleteColumn(), TimeRemainingColumn())
        bar = Progress(*columns, console=Console(file=self.err), transient=True)
        task = bar.add_task(title)
        began = time.monotonic()
        shown = False

        def report(done: int, total: int) -> None:
            nonlocal shown
            if not shown and time.monotonic() - began > PROGRESS_AFTER:
                bar.start()
                shown = True
            bar.update(task, completed=done, total=total)

        try:
            yield report
        finally:
            if shown:
                bar.stop()

    @contextmanager
    def _plain_progress(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """A line that is rewritten in place with a carriage return and spaces, which every terminal knows."""
        next_at = time.monotonic() + PROGRESS_AFTER
        shown = 0

        def report(done: int, total: int) -> None:
            nonlocal shown, next_at
            if time.monotonic() > next_at:
                text = f"{title}  {done}/{total}"
                self.err.write("\r" + text.ljust(shown))
                self.err.flush()
                shown, next_at = len(text), time.monotonic() + PROGRESS_EVERY

        try:
            yield report
        finally:
            if shown:
                self.err.write(f"\r{' ' * shown}\r")
                self.err.flush()
