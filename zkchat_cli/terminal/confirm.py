"""A question that only a deliberate yes answers: y or yes and Enter. Anything else is a no: Enter alone, Ctrl-C, Ctrl-D, the end.

What was typed before the question was there is not taken for its answer, but dropped: it was meant for something else.
"""

import sys

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import DummyHistory
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.output import ColorDepth

from zkchat_cli.terminal.interrupts import STOPPED, termios
from zkchat_cli.text.sanitize import sanitize_name

YES = ("y", "yes")


class Confirmation:
    """Asks on a prompt of its own, which remembers nothing."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    def ask(self, question: str) -> bool:
        """Whether the user says yes."""
        return self.said(question, "y/N").lower() in YES

    def said(self, question: str, choices: str) -> str:
        """What the user says; STOPPED for Ctrl-C, Ctrl-D and the end."""
        prompt: PromptSession[str] = PromptSession(
            history=DummyHistory(), color_depth=None if self._colour else ColorDepth.DEPTH_1_BIT, enable_suspend=True
        )
        if termios is not None and sys.stdin.isatty():
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        clear_typeahead(prompt.input)
        try:
            said = prompt.prompt(FormattedText([("bold" if self._colour else "", f"{sanitize_name(question)} [{choices}] ")]))
        except (EOFError, KeyboardInterrupt):
            return STOPPED
        return said.strip()
