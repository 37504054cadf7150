"""A lock that one process holds at a time."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(file: Path) -> Iterator[None]:
    """Where there cannot be a lock file beside `file` (some network disks), work goes on without it."""
    handle = None
    try:
        with suppress(OSError):
            if fcntl:
                handle = os.open(file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        if handle is not None:
            os.close(handle)
