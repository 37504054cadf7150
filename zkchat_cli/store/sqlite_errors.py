"""SQLite's and the system's errors as StoreError: what could not be done, why, and what to do next.

Nobody outside the store sees an `sqlite3.Error`: each operation runs inside `translate_errors`.
"""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zkchat_cli.errors import StoreDamaged, StoreError, StoreUnwritable
from zkchat_cli.fileio import can_lock
from zkchat_cli.store import rows

_Cause = tuple[type[StoreError], str, str]
_FULL: _Cause = (StoreUnwritable, "the disk is full", "Free some space and try again; what was stored before is safe.")
_UNWRITABLE: _Cause = (
    StoreUnwritable,
    "it may not be written",
    "Make the file and its folder writable for you, set ZKCHAT_HOME to another folder, or use --no-store.",
)
_LOCKED: _Cause = (
    StoreError,
    "another program keeps it locked",
    "Close that program (a backup, a sync or a database browser) and try again.",
)
_DAMAGED: _Cause = (
    StoreDamaged,
    "the file is damaged or not a zkchat store",
    "`zkchat doctor --repair` saves what can be read and keeps the damaged file; or restore a backup.",
)
_NO_LOCKS: _Cause = (
    StoreUnwritable,
    "its file system cannot lock files",
    "Network file systems often cannot: set ZKCHAT_HOME to a folder on a local disk, or use --no-store.",
)
_BROKEN_DISK: _Cause = (
    StoreUnwritable,
    "reading or writing the disk failed",
    "Check the disk's space, your quota and its health, then try again.",
)
_NOT_A_FILE: _Cause = (StoreError, "something else has its place", "Move that away, or set ZKCHAT_HOME to another folder.")

_CAUSES: tuple[tuple[tuple[str, ...], _Cause], ...] = (
    (("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"), _FULL),  # the second: no space for the -shm file
    (("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM"), _UNWRITABLE),
    (("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"), _LOCKED),
    (("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_MISMATCH"), _DAMAGED),  # our own SQL is right
    (("SQLITE_IOERR_LOCK", "SQLITE_IOERR_RDLOCK", "SQLITE_IOERR_UNLOCK", "SQLITE_IOERR_CHECKRESERVEDLOCK"), _NO_LOCKS),
    (("SQLITE_IOERR",), _BROKEN_DISK),
    (("SQLITE_CONSTRAINT",), (StoreError, "it contradicts what is stored", "Nothing was changed.")),
    (("",), (StoreError, "an unexpected error", "Run `zkchat doctor`; if it finds nothing, please report this.")),
)
_SYSTEM_CAUSES = {errno.EINVAL: _NOT_A_FILE, errno.ENOSPC: _FULL, errno.EDQUOT: _FULL}


def describe_store(file: Path | None) -> str:
    return f"The store {file}" if file else "The store in memory"


@contextmanager
def translate_errors(file: Path | None, action: str) -> Iterator[None]:
    """Raise StoreError for any error inside; `action` completes "The store FILE cannot …"."""
    try:
        yield
    except sqlite3.Error as e:
        name = getattr(e, "sqlite_errorname", None) or ""
        cause = next(cause for prefixes, cause in _CAUSES if name.startswith(prefixes))
        if cause is _LOCKED and file is not None and not can_lock(file.parent):
            cause = _NO_LOCKS
        raise _error(cause, file, action, e) from e
    except rows.UNREADABLE as e:  # a row that is not a valid value
        raise _error(_DAMAGED, file, action, next(iter(str(e).splitlines()), type(e).__name__)) from e
    except OSError as e:
        raise _error(_SYSTEM_CAUSES.get(e.errno or 0, _UNWRITABLE), file, action, e.strerror or e) from e


def _error(cause: _Cause, file: Path | None, action: str, detail: object) -> StoreError:
    error, why, hint = cause
    return error(f"{describe_store(file)} cannot {action}: {why} ({detail})", hint)
