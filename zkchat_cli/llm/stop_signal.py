"""Stops a model call from another thread, for front ends in which the turn is not on the main thread and Ctrl-C does not reach it.

The thread that runs turns sets `STOP` once; whoever sets the event interrupts the wait for the model, as Ctrl-C does in the terminal.
"""

import threading
from contextvars import ContextVar

STOP: ContextVar[threading.Event | None] = ContextVar("STOP", default=None)

STOP_INTERVAL = 0.1
"""Seconds between two looks at it."""


def raise_if_stopped() -> None:
    """Raises KeyboardInterrupt if this thread's work is to end."""
    if (stop := STOP.get()) is not None and stop.is_set():
        raise KeyboardInterrupt
