"""A turn as plain text: in a pipe, for a screen reader, and on a terminal that gets no escape
sequences (`NO_COLOR`, `TERM=dumb`).
"""

from collections.abc import Callable

from zkchat_cli import events
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize

WITHDRAWN = "  the text above was the model's reasoning; its answer follows"
"""Tells that text was no part of the answer."""
RemarkPrinter = Callable[[str, str], None]
"""Prints a line that is not part of the answer, with its style: to the screen in a chat, to stderr
in a pipe.
"""


class PlainTurnView:
    """Prints text as it arrives; on a screen it breaks lines between words.

    It has the methods of StreamingView, which describes them, but no status line.
    """

    def __init__(self, screen: Screen, print_remark: RemarkPrinter) -> None:
        self._screen = screen
        self._print_remark = print_remark
        # The style of reasoning, while it streams
        self._style = ""
        # The answer so far in a pipe, which cannot take it back if it turns out to be a thought
        self._holds = False
        self._held = ""
        # The last row on a screen, and how many of its characters were written
        self._row = ""
        self._written = 0
        # Whether the last line has not ended yet, and whether the answer needs an empty line before
        # it
        self._is_open = False
        self._needs_gap = False
        # The reason for waiting and the speaker that were printed last, so that each is printed
        # once
        self._wait_reason = ""
        self._speaker = ""

    def add_answer(self, text: str) -> None:
        """Print a piece of the answer."""
        if self._style:
            self.close()
        if self._needs_gap and text.strip():
            self._write("\n")
            self._needs_gap = False
        if self._holds:
            self._held += text
        else:
            self._write(self._wrapped(text))

    def add_reasoning(self, text: str) -> None:
        """Print a piece of what the model thinks before it answers."""
        if not self._style:
            self.print_remark("  thinking", "dim")
            self._style = "dim"
        self._write(self._wrapped(text))

    def print_remark(self, line: str, style: str = "") -> None:
        """Print a line that is not part of the answer."""
        self.close()
        self._print_remark(line, style)
        # In a pipe, remarks are not on stdout and need no gap
        self._needs_gap = self._screen.columns is not None

    def update(self, event: events.Event) -> None:
        """Print each reason for waiting once, because there is no status line.

        A screen reader also hears that an answer is being written, and what else takes a while.
        """
        if isinstance(event, events.PromptBuilt):
            self._holds = event.may_withdraw and self._screen.columns is None
        match event:
            case events.TextWithdrawn():
                self._withdraw()
            case events.Waiting(seconds, reason) if reason != self._wait_reason:
                self._wait_reason = reason
                self.print_remark(f"  {reason}; trying again in {seconds:.0f} s", "dim")
            case events.PromptBuilt(_, speaker) if self._screen.accessible and not self._speaker:
                self._speaker = speaker
                self.print_remark(f"  {speaker} is answering", "dim")
            case events.CompactionStarted(why) if self._screen.accessible:
                self.print_remark(f"  compacting: {why}", "dim")

    def _withdraw(self) -> None:
        """A pipe has not got the answer yet; a screen is told what the text above it was."""
        if self._holds:
            self._held = ""
        else:
            self.print_remark(WITHDRAWN, "dim")

    def close(self) -> None:
        """Finish the open line, so that other text can be printed."""
        held = self._held
        self._held = ""
        self._write(held)
        self._write(self._row[self._written :].rstrip())
        if self._is_open:
            self._write("\n")
        self._row = ""
        self._written = 0
        self._style = ""

    pause = close

    def _wrapped(self, text: str) -> str:
        """The text that can be written now: all but the last word, which may become too long for
        its row.
        """
        if self._screen.columns is None:
            return text
        # This import loads rich, which a pipe does not need
        from rich.text import Text

        from zkchat_cli.terminal.text_layout import last_word, wrap

        already_written = self._written
        text = self._row + sanitize(text.replace("\r", ""))
        *full_rows, last_row = [row.plain for row in wrap(Text(text), self._screen.columns())]
        self._row = last_row
        self._written = last_word(last_row)
        if not full_rows:
            self._written = max(self._written, already_written)
        lines = [row.rstrip() for row in full_rows]
        lines.append(last_row[: self._written])
        return "\n".join(lines)[already_written:]

    def _write(self, text: str) -> None:
        if text:
            self._screen.write(text, *self._style.split())
            self._is_open = not text.endswith("\n")
