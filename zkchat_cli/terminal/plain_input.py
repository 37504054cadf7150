"""The input line for a screen reader and for a terminal without escape sequences (`TERM=dumb`).

As in a shell, only what is typed appears. It uses readline: prompt_toolkit writes the whole line
again when it is sent, and its menus and its toolbar while the user types.
"""

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from types import ModuleType
from typing import Any

from zkchat_cli.completion.input_completer import InputCompleter
from zkchat_cli.terminal.job_control import handle_signals, terminal_mode
from zkchat_cli.terminal.vault_history import VaultHistory

readline: ModuleType | None = None
# Windows has no readline, but its console edits lines itself
with suppress(ImportError):
    import readline

SPOKEN_PROMPT = "you: "
QUIT_HINT = "Press Ctrl-C again, or Ctrl-D, to quit."
# Seconds within which a second Ctrl-C quits: long enough to hear the hint
QUIT_WITHIN = 10.0
MAX_RECALLED = 1000


class PlainInputLine:
    """Has the methods of `InputLine`; only `ask` shows anything."""

    # The line being typed; always empty, because readline does not tell it
    text = ""

    def __init__(self, prompt: str, completer: InputCompleter, history: VaultHistory) -> None:
        self._prompt = prompt
        self._completer = completer
        self._history = history
        self._matches: list[str] = []
        self._asked_before = False
        self._is_reading = False
        # The time of the last Ctrl-C, in seconds of the monotonic clock
        self._interrupted_at = float("-inf")

    def ask(self, default: str = "") -> str:
        """The next line.

        Raises EOFError at the end of the input or after a second Ctrl-C, KeyboardInterrupt after
        the first.
        """
        if not self._asked_before:
            self._set_up_readline()
        self._asked_before = True
        self._is_reading = True
        try:
            line = read_line(self._prompt, default)
        except KeyboardInterrupt:
            if time.monotonic() - self._interrupted_at < QUIT_WITHIN:
                print()  # noqa: T201
                raise EOFError from None
            print(f"\n{QUIT_HINT}")  # noqa: T201
            self._interrupted_at = time.monotonic()
            raise
        finally:
            self._is_reading = False
        self._interrupted_at = float("-inf")
        if line.strip():
            self._history.append_string(line)
            if readline is not None:
                readline.add_history(line)
        return line

    def _set_up_readline(self) -> None:
        """Give readline the history of the vault, which is known now, and the completer."""
        if readline is None:
            return
        newest_first = list(islice(self._history.load_history_strings(), MAX_RECALLED))
        for line in reversed(newest_first):
            readline.add_history(line.replace("\n", " "))
        # Complete the whole line instead of its last word
        readline.set_completer_delims("")
        readline.set_completer(self._complete)
        readline.parse_and_bind("tab: complete")

    def _complete(self, line: str, number: int) -> str | None:
        """The completion of the line with this number; readline calls it with 0, 1, 2 and so on."""
        if number == 0:
            self._matches = []
            for each in self._completer.suggest(line):
                before = line[: len(line) - each.replaced]
                self._matches.append(before + each.text)
        return self._matches[number] if number < len(self._matches) else None

    def use_vi_keys(self) -> None:
        """Use vi's keys from now on."""
        if readline is not None:
            readline.parse_and_bind("set editing-mode vi")

    def update(self, **changes: Any) -> None:
        """Do nothing: there is no toolbar."""

    def end_input(self, *, erase: bool = False) -> None:  # noqa: ARG002
        """End the reading of a line, if there is one; for a signal handler."""
        if self._is_reading:
            raise EOFError

    def call_soon(self, action: Callable[[], None]) -> None:
        """Do nothing: while the user types nothing is shown. What the background finds appears
        after the line.
        """

    def complete(self) -> None:
        """Do nothing: completions are computed when the user presses Tab."""

    def print_above(self, show: Callable[[], None]) -> None:
        """Print something before the next line is read."""
        show()


def read_line(prompt: str, default: str = "") -> str:
    """Read a line that can be edited as in a shell. Ctrl-C raises KeyboardInterrupt."""
    with handle_signals(signal.default_int_handler, signal.SIGINT), terminal_mode(suspends=True):
        if readline is not None:
            readline.set_auto_history(False)
            readline.set_startup_hook((lambda: readline.insert_text(default)) if default else None)
        return input(prompt)
