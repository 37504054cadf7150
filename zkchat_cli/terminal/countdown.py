"""A line that says how long something is still waited for: rewritten in place in a chat, said once elsewhere."""

from collections.abc import Callable

from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize_name


class Countdown:
    """Draws with a carriage return and spaces only, which every terminal knows."""

    def __init__(self, screen: Screen, aside: Callable[[str, str], None]) -> None:
        self._screen = screen
        self._aside = aside
        self._width = 0
        self._said = ""

    @property
    def is_shown(self) -> bool:
        return self._width > 0

    def show(self, seconds: float, reason: str) -> None:
        if self._screen.columns is None:
            if reason != self._said:
                self._said = reason
                self._aside(f"  {reason}; trying again in {seconds:.0f} s", "dim")
            return
        from zkchat_cli.terminal.markdown.pieces import width  # measures with prompt_toolkit, which an interactive chat has loaded
        from zkchat_cli.terminal.status_line import clipped

        said = sanitize_name(f"  again in {max(1, round(seconds))} s, Ctrl-C stops: {reason}")
        line = clipped(said, self._screen.columns() - 1)
        self._screen.write_raw(f"\r{line}{' ' * (self._width - width(line))}")
        self._width = width(line)

    def clear(self) -> None:
        """Leave nothing behind, so that something else may be printed."""
        if self._width:
            self._screen.write_raw(f"\r{' ' * self._width}\r")
        self._width, self._said = 0, ""
