"""Show a value again whenever it changes, until Ctrl-C: in the same place on a terminal, one below the other elsewhere."""

import time
from collections.abc import Callable, Hashable
from typing import Any

from zkchat_cli.terminal.screen import Screen

INTERVAL = 0.5
"""Seconds between two checks; a check without a change takes a millisecond."""
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"


def watch(
    get_version: Callable[[], Hashable],
    get_value: Callable[[], Any],
    show: Callable[[Any], None],
    screen: Screen,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Show the value, and show it again whenever its version and the value itself have changed. Only an exception ends this."""
    last_version: Hashable = None
    shown: Any = None
    while True:
        version = get_version()
        if shown is None or version != last_version:
            last_version, value = version, get_value()
            if value != shown:
                if screen.colour:
                    screen.out.write(_CLEAR)
                show(value)
                shown = value
        wait(INTERVAL)
