"""A turn as plain text: in a pipe, for a screen reader, and on a terminal that gets no escape sequences (`NO_COLOR`, `TERM=dumb`)."""

from collections.abc import Callable

from zkchat_cli import events
from zkchat_cli.terminal.screen import Screen

RemarkPrinter = Callable[[str, str], None]
"""Prints a line that is not part of the answer, with its style: to the screen in a chat, to stderr in a pipe."""


def remark_printer(screen: Screen, verbose: Callable[[], bool] = lambda: False) -> RemarkPrinter:
    """For a pipe: warnings and lines without a style always reach stderr, others only if it is a terminal or the user asked for them."""

    def print_remark(line: str, style: str) -> None:
        if style in ("yellow", "red"):
            screen.warn(line.strip())
        elif verbose() or not style:
            screen.remark(line)
        else:
            screen.progress(line)

    return print_remark


class PlainTurnView:
    """Text as it comes; on a screen it breaks between words. It has the methods of StreamingView, which describes them, but no status
    line."""

    def __init__(self, screen: Screen, print_remark: RemarkPrinter) -> None:
        self._screen = screen
        self._print_remark = print_remark
        self._style = ""
        """That of reasoning, while it streams."""
        self._row = ""
        """The last row, on a screen."""
        self._written = 0
        """Characters of the last row that are on the screen."""
        self._is_open = self._needs_gap = False
        self._wait_reason = self._speaker = ""

    def add_answer(self, text: str) -> None:
        if self._style:
            self.pause()
        if self._needs_gap and text.strip():
            self._write("\n")
            self._needs_gap = False
        self._write(self._wrapped(text))

    def add_reasoning(self, text: str) -> None:
        if not self._style:
            self.print_remark("  thinking", "dim")
            self._style = "dim"
        self._write(self._wrapped(text))

    def print_remark(self, line: str, style: str = "") -> None:
        self.pause()
        self._print_remark(line, style)
        self._needs_gap = self._screen.columns is not None  # in a pipe the remarks are not on stdout

    def update(self, event: events.Event) -> None:
        """There is no status line: each reason for waiting is printed once, and what takes a while for a screen reader."""
        match event:
            case events.Waiting(seconds, reason) if reason != self._wait_reason:
                self._wait_reason = reason
                self.print_remark(f"  {reason}; trying again in {seconds:.0f} s", "dim")
            case events.PromptBuilt(_, speaker) if self._screen.accessible and not self._speaker:
                self._speaker = speaker
                self.print_remark(f"  {speaker} is answering", "dim")
            case events.CompactionStarted(why) if self._screen.accessible:
                self.print_remark(f"  compacting: {why}", "dim")

    def pause(self) -> None:
        """Finish the open line, so that something else can be printed."""
        self._write(self._row[self._written :].rstrip())
        if self._is_open:
            self._write("\n")
        self._row, self._written, self._style = "", 0, ""

    def close(self) -> None:
        self.pause()

    def _wrapped(self, text: str) -> str:
        """What can be written now: all but the last word, which may not fit into its row when the rest of it comes."""
        if self._screen.columns is None:
            return text
        from zkchat_cli.terminal.text_layout import break_line, last_word  # loads rich, which a pipe does not need

        written, width = self._written, max(1, self._screen.columns())
        rows = [row for line in (self._row + text).replace("\r\n", "\n").split("\n") for row in break_line(line, width)]
        self._row = rows[-1]
        self._written = max(last_word(self._row), written if len(rows) == 1 else 0)
        return "\n".join([*(row.rstrip() for row in rows[:-1]), self._row[: self._written]])[written:]

    def _write(self, text: str) -> None:
        if text:
            self._screen.write(text, *self._style.split())
            self._is_open = not text.endswith("\n")
