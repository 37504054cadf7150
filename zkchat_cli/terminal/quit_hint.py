"""The hint that a second Ctrl-C quits."""

import asyncio
from typing import Any

from prompt_toolkit.application import Application

# Seconds for which the hint is shown and a second Ctrl-C quits
QUIT_WITHIN = 2.0
QUIT_HINT = "press Ctrl-C again to quit"


class QuitHint:
    """Shown for a moment instead of the toolbar; `text` is empty while it is not shown."""

    def __init__(self) -> None:
        self.text = ""
        self._timer: asyncio.TimerHandle | None = None

    def show(self, app: "Application[Any]") -> None:
        """Show the hint in the running prompt, after a key was pressed."""
        assert app.loop is not None
        # End the timer of an earlier hint, after which something was typed
        if self._timer is not None:
            self._timer.cancel()
        self._set(QUIT_HINT, app)
        self._timer = app.loop.call_later(QUIT_WITHIN, self._set, "", app)

    def clear(self) -> None:
        """Bring the toolbar back with the next drawing."""
        self.text = ""

    def _set(self, text: str, app: "Application[Any]") -> None:
        self.text = text
        app.invalidate()
