"""Keeps an index file from being replaced in the moment in which it is opened.

SQLite opens a file at once, its log and the log's memory (`-wal`, `-shm`) by name with the first question. Were another file put in its
place in between, the old file would be read with the new one's log: short reads, or worse, for as long as the connection lives.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where a file that is open is not replaced
    fcntl = None  # type: ignore[assignment]


@contextmanager
def opening(index: Path) -> Iterator[None]:
    """While this lasts nobody replaces the file; as many as want may open it."""
    with _locked(index, alone=False):
        yield


@contextmanager
def replacing(index: Path) -> Iterator[None]:
    """While this lasts nobody opens the file, nor replaces it. It waits for those who do, who take a millisecond."""
    with _locked(index, alone=True):
        yield


@contextmanager
def _locked(index: Path, *, alone: bool) -> Iterator[None]:
    """The lock is a file beside the index. Where there cannot be one (some network disks), work goes on as if it were not needed."""
    handle = None
    try:
        with suppress(OSError):
            if fcntl:
                handle = os.open(index.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
                fcntl.flock(handle, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
    finally:
        if handle is not None:
            os.close(handle)
