"""Where a turn is shown: the protocol of the views, and how a pipe reports what is not the answer.

`StreamingView` draws Markdown on a terminal; `PlainTurnView` writes the text as it comes, to a pipe or to a terminal without escape
sequences.
"""

from collections.abc import Callable
from typing import Protocol

from zkchat_cli.terminal.screen import Screen

NotePrinter = Callable[[str, str], None]
"""Prints a line that is not part of the answer, with its style: to the screen in a chat, to stderr in a pipe."""


class TurnView(Protocol):
    """What a turn tells the screen."""

    def add_answer(self, text: str) -> None: ...

    def add_reasoning(self, text: str) -> None: ...

    def print_note(self, line: str, style: str = "") -> None: ...

    def add_gap(self) -> None: ...

    def set_activity(self, activity: str) -> None: ...

    def set_waiting(self, seconds: float, reason: str) -> None: ...

    def end_stream(self) -> None: ...

    def pause(self) -> None: ...

    def close(self) -> None: ...


def note_printer(screen: Screen, verbose: Callable[[], bool] = lambda: False) -> NotePrinter:
    """For a pipe: warnings always reach stderr, progress only if stderr is a terminal or the user asked for it."""

    def print_note(line: str, style: str) -> None:
        if style in ("yellow", "red"):
            screen.warn(line.strip())
        elif verbose():
            screen.remark(line)
        else:
            screen.progress(line)

    return print_note
