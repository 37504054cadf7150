"""Where a turn is shown: what each such place can be told, and the plainest, text line after line. live.py and patient.py have others."""

from collections.abc import Callable
from typing import Protocol

from zkchat_cli.terminal.countdown import Countdown
from zkchat_cli.terminal.screen import Screen

Aside = Callable[[str, str], None]
"""Where a line that is not the answer goes, with its style: the screen itself in a chat, stderr in a pipe."""


class TurnView(Protocol):
    """Where a turn is shown: with a terminal's means (live.Live) or as plain text (PlainStage)."""

    def answer(self, text: str) -> None: ...

    def thought(self, text: str) -> None: ...

    def aside(self, line: str, style: str = "") -> None: ...

    def stand_apart(self) -> None: ...

    def doing(self, what: str) -> None: ...

    def waiting(self, seconds: float, reason: str) -> None: ...

    def end(self) -> None: ...

    def pause(self) -> None: ...

    def close(self) -> None: ...


def to_stderr(screen: Screen, wanted: Callable[[], bool] = lambda: False) -> Aside:
    """For a pipe: warnings always reach stderr, what is only progress reaches a terminal's, or any if it is `wanted`."""

    def aside(line: str, style: str) -> None:
        if style in ("yellow", "red"):
            screen.warn(line.strip())
        elif wanted():
            screen.remark(line)
        else:
            screen.progress(line)

    return aside


class PlainTurnView:
    """Text as it is, line after line; on a screen broken between words."""

    def __init__(self, screen: Screen, aside: Aside) -> None:
        self._answer = _Streamed(screen)
        self._thoughts = _Streamed(screen, "dim")
        self._thinking = False
        self._interactive = screen.columns is not None
        self._aside = aside
        self._countdown = Countdown(screen, aside)

    def answer(self, text: str) -> None:
        self._countdown.clear()
        self._end_thoughts()
        self._answer.add(text)

    def thought(self, text: str) -> None:
        self._countdown.clear()
        if not self._thinking:
            self._answer.end()
            self._aside("  thinking", "dim")
        self._thinking = self._answer.stand_apart = True
        self._thoughts.add(text)

    def aside(self, line: str, style: str = "") -> None:
        self.end()
        self._aside(line, style)

    def stand_apart(self) -> None:
        self._answer.stand_apart = self._interactive  # where the asides are in the way; in a pipe they are not on stdout

    def doing(self, what: str) -> None:  # noqa: ARG002  a line that goes away again takes a terminal's means
        self._countdown.clear()

    def waiting(self, seconds: float, reason: str) -> None:
        self._countdown.show(seconds, reason)

    def end(self) -> None:
        self._countdown.clear()
        self._end_thoughts()
        self._answer.end()

    def pause(self) -> None:
        self.end()

    def close(self) -> None:
        self.end()

    @property
    def has_the_line(self) -> bool:
        """Whether the cursor's line is one that goes on."""
        return self._answer.is_open or self._thoughts.is_open or self._countdown.is_shown

    def _end_thoughts(self) -> None:
        if self._thinking:
            self._thoughts.end()
            self._thinking = False


class _Streamed:
    """Streamed text on the screen, and whether a line of it is open. `stand_apart` asks for an empty line before what comes next."""

    def __init__(self, screen: Screen, *styles: str) -> None:
        self._screen = screen
        self._styles = styles
        self._flow = screen.flow()
        self.is_open = False
        self.stand_apart = False

    def add(self, text: str) -> None:
        if self.stand_apart and text.strip():
            self._write("\n")
            self.stand_apart = False
        self._write(self._flow.feed(text))

    def end(self) -> None:
        """Finish the open line, so that something else may be printed."""
        self._write(self._flow.close())
        self._flow = self._screen.flow()
        if self.is_open:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._screen.write_styled(text, *self._styles)
            self.is_open = not text.endswith("\n")
