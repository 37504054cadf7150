"""Stops a model call from another thread, for front ends in which the turn is not on the main
thread and Ctrl-C does not reach it.

The thread that runs turns sets `STOP` once; whoever sets the event interrupts the wait for the
model, as Ctrl-C does in the terminal.
"""

import math
import threading
import time
from concurrent.futures import Future
from contextvars import ContextVar
from typing import TypeVar

R = TypeVar("R")

STOP: ContextVar[threading.Event | None] = ContextVar("STOP", default=None)

# Seconds between two looks at `STOP`
STOP_INTERVAL = 0.1


def raise_if_stopped() -> None:
    """Raises KeyboardInterrupt if this thread's work is to end."""
    if (stop := STOP.get()) is not None and stop.is_set():
        raise KeyboardInterrupt


def wait_for(future: "Future[R]", seconds: float = math.inf) -> R:
    """The result of a future, or the error that it raises. Raises TimeoutError after so many
    seconds, and KeyboardInterrupt if this thread's work is to end.
    """
    deadline = time.monotonic() + seconds
    while True:
        raise_if_stopped()
        try:
            return future.result(max(0.0, min(STOP_INTERVAL, deadline - time.monotonic())))
        except TimeoutError:
            # It ended just now, or raised this itself
            if future.done():
                return future.result()
            if time.monotonic() >= deadline:
                raise
