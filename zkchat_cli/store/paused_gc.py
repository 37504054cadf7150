"""A pause of Python's garbage collection while a whole conversation is read or stored."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_gc() -> Iterator[None]:
    """Pause garbage collection while thousands of values are made: none of them is garbage, and
    collecting takes two thirds of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
