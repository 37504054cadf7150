"""Something that changes, shown again whenever it did, until Ctrl-C: in its place on a terminal, one below the other elsewhere."""

import time
from collections.abc import Callable, Hashable
from typing import Any

from zkchat_cli.terminal.screen import Screen

EVERY = 0.5
"""Seconds between two looks; a look at what has not changed takes a millisecond."""
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"


def watch(
    changed: Callable[[], Hashable],
    look: Callable[[], Any],
    show: Callable[[Any], None],
    screen: Screen,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Show the value of `look`, and again whenever `changed` returns another value and `look` too. Ends only by an exception."""
    seen: Hashable = None
    shown: Any = None
    while True:
        now = changed()
        if shown is None or now != seen:
            seen, value = now, look()
            if value != shown:
                if screen.colour:
                    screen.out.write(_CLEAR)
                show(value)
                shown = value
        wait(EVERY)
