"""A lock that keeps an index file from being replaced while it is opened.

SQLite opens the file at once, but its `-wal` and `-shm` by name with the first query. If the file were replaced in between, the old file
would be read with the new one's log.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where an open file cannot be replaced
    fcntl = None  # type: ignore[assignment]


@contextmanager
def _lock(index: Path, *, exclusive: bool) -> Iterator[None]:
    """Where there cannot be a lock file (some network disks), work goes on without it."""
    handle = None
    try:
        with suppress(OSError):
            if fcntl:
                handle = os.open(index.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
                fcntl.flock(handle, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield
    finally:
        if handle is not None:
            os.close(handle)


opening = partial(_lock, exclusive=False)
"""A shared lock: nobody replaces the file meanwhile."""
replacing = partial(_lock, exclusive=True)
"""An exclusive lock: nobody opens or replaces the file meanwhile. Waits for those who open it, which takes a millisecond."""
