"""Ask a yes/no question: only y or yes is a yes. Enter alone, Ctrl-C, Ctrl-D and anything else are a no.

Keys that were pressed before the question appeared are dropped, because they were meant for something else.
"""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import DummyHistory
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.output import ColorDepth

from zkchat_cli.terminal.interrupts import STOPPED, YES, termios
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize_name


class Confirmation:
    """Asks on a prompt of its own, without history. `pause_interrupts` is entered meanwhile, so that Ctrl-C answers the question instead of
    stopping a turn."""

    def __init__(self, screen: Screen, pause_interrupts: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        self._color, self._accessible = screen.color, screen.accessible
        self._pause_interrupts = pause_interrupts

    def ask(self, question: str) -> bool:
        return self.read_answer(question, "y/N").lower() in YES

    def read_answer(self, question: str, choices: str) -> str:
        """The text of the answer; STOPPED for Ctrl-C, Ctrl-D and the end of the input."""
        from zkchat_cli.terminal.plain_input import read_line  # needed here only

        read = read_line if self._accessible else self._read_shown
        with self._pause_interrupts():
            try:
                return read(f"{sanitize_name(question)} [{choices}] ").strip()
            except (EOFError, KeyboardInterrupt):
                return STOPPED

    def _read_shown(self, question: str) -> str:
        from zkchat_cli.terminal.text_layout import break_line  # imports rich, which the first prompt does not need

        prompt: PromptSession[str] = PromptSession(
            history=DummyHistory(), color_depth=None if self._color else ColorDepth.DEPTH_1_BIT, enable_suspend=True
        )
        if termios is not None and sys.stdin.isatty():
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        clear_typeahead(prompt.input)
        rows = [row.rstrip() for row in break_line(question, prompt.output.get_size().columns - 1)]
        return prompt.prompt(FormattedText([("bold" if self._color else "", "\n".join(rows) + " ")]))
