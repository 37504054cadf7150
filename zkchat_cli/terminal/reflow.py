"""Terminals that wrap the rows on the screen again when they become narrower: the cursor moves down with its row.

prompt_toolkit erases as many rows as it has drawn, so the first ones of a prompt would stay. A terminal does not say whether it wraps, and
where it does not, erasing more would erase the rows above the prompt. So its environment variables decide.
"""

import os
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point

WRAPPING = ("TMUX", "TERM_PROGRAM", "VTE_VERSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "ALACRITTY_WINDOW_ID", "WT_SESSION")
CUTTING = ("STY", "XTERM_VERSION", "INSIDE_EMACS")
"""Set by terminals that may have been started in one of the others."""


def follow_reflow(app: Application[Any]) -> None:
    """Erase all of a prompt when it is drawn again in another width."""
    if not any(map(os.environ.get, WRAPPING)) or any(map(os.environ.get, CUTTING)):
        return
    draw_again = app._on_resize

    def draw_all_again() -> None:
        renderer, columns = app.renderer, app.output.get_size().columns
        if (screen := renderer.last_rendered_screen) is not None:
            x, y = renderer._cursor_pos
            rows = [screen.data_buffer[row].items() for row in range(y + 1)]
            lengths = [max((at + 1 for at, cell in row if cell.char.strip()), default=1) for row in rows]
            wrapped = sum((length - 1) // columns for length in lengths[:-1]) + min(x, lengths[-1] - 1) // columns
            renderer._cursor_pos = Point(x, y + wrapped)
        draw_again()

    app._on_resize = draw_all_again  # type: ignore[method-assign]
