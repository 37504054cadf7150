"""SQLite's errors as ours: nobody outside the store sees an `sqlite3.Error`. Each operation runs
inside `translate_errors`, and the StoreError says what failed, why, and what to do next.
"""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.errors import StoreDamaged, StoreError, StoreUnwritable
from zkchat_cli.fileio import can_lock
from zkchat_cli.store.codec import UNREADABLE


class _Cause(NamedTuple):
    kind: type[StoreError]
    why: str
    hint: str


_FULL = _Cause(
    StoreUnwritable,
    "the disk is full",
    "Free some space and try again; what was stored before is safe.",
)
_UNWRITABLE = _Cause(
    StoreUnwritable,
    "it may not be written",
    "Make the file and its folder writable for you, set ZKCHAT_HOME to another folder, or "
    "use --no-store.",
)
_DAMAGED = _Cause(
    StoreDamaged,
    "the file is damaged or not a zkchat store",
    "`zkchat doctor --repair` saves what can be read and keeps the damaged file; or "
    "restore a backup.",
)
_NO_LOCKS = _Cause(
    StoreUnwritable,
    "its file system cannot lock files",
    "Network file systems often cannot: set ZKCHAT_HOME to a folder on a local disk, or "
    "use --no-store.",
)
_LOCKED = _Cause(
    StoreError,
    "another program keeps it locked",
    "Close that program (a backup or a database browser) and try again.",
)
_BROKEN_DISK = _Cause(
    StoreUnwritable,
    "reading or writing the disk failed",
    "Check the disk, its space and your quota, then try again.",
)
_CONTRADICTION = _Cause(StoreError, "it contradicts what is stored", "Nothing was changed.")
_UNEXPECTED = _Cause(
    StoreError,
    "an unexpected error",
    "Run `zkchat doctor`; if it finds nothing, please report this.",
)
_CAUSES: dict[str, _Cause] = {
    "SQLITE_FULL": _FULL,
    # No space for the -shm file
    "SQLITE_IOERR_SHMSIZE": _FULL,
    "SQLITE_READONLY": _UNWRITABLE,
    "SQLITE_CANTOPEN": _UNWRITABLE,
    "SQLITE_PERM": _UNWRITABLE,
    "SQLITE_BUSY": _LOCKED,
    "SQLITE_LOCKED": _LOCKED,
    "SQLITE_PROTOCOL": _LOCKED,
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_NOTADB": _DAMAGED,
    # Our own SQL is right, so these are damage, too
    "SQLITE_ERROR": _DAMAGED,
    "SQLITE_MISMATCH": _DAMAGED,
    "SQLITE_IOERR": _BROKEN_DISK,
    "SQLITE_CONSTRAINT": _CONTRADICTION,
}
"""By the beginning of SQLite's name of an error; the first that fits counts."""


def describe_store(file: Path | None) -> str:
    """The subject of an error's sentence."""
    return f"The store {file}" if file else "The store in memory"


def is_locked(error: sqlite3.Error) -> bool:
    """Whether another connection holds a lock that this one waited for in vain."""
    return (getattr(error, "sqlite_errorname", None) or "").startswith("SQLITE_BUSY")


@contextmanager
def translate_errors(file: Path | None, action: str) -> Iterator[None]:
    """Raise StoreError for any error inside; `action` completes "The store FILE cannot …"."""
    error: Exception
    try:
        yield
        return
    except sqlite3.Error as e:
        error = e
        cause = _sqlite_cause(e, file)
        detail = str(e)
    except UNREADABLE as e:
        # A row that is not a valid value
        error = e
        cause = _DAMAGED
        detail = next(iter(str(e).splitlines()), type(e).__name__)
    except OSError as e:
        error = e
        cause = _FULL if e.errno in (errno.ENOSPC, errno.EDQUOT) else _UNWRITABLE
        detail = e.strerror or str(e)
    message = f"{describe_store(file)} cannot {action}: {cause.why} ({detail})"
    raise cause.kind(message, cause.hint) from error


def _sqlite_cause(error: sqlite3.Error, file: Path | None) -> _Cause:
    name = getattr(error, "sqlite_errorname", None) or ""
    cause = next(
        (cause for beginning, cause in _CAUSES.items() if name.startswith(beginning)), _UNEXPECTED
    )
    if cause not in (_LOCKED, _BROKEN_DISK) or file is None:
        return cause
    if not can_lock(file.parent):
        return _NO_LOCKS
    return cause
