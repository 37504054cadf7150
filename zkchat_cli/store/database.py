"""Opening the store's SQLite file, and the connection that the store works with.

Nobody outside the store sees an `sqlite3.Error`: each operation runs inside `translate_errors`. A file of another program or of another
version of zkchat is refused before the first write. Everything is private to its user: new folders get mode 0700, new files 0600 (SQLite
gives its -wal and -shm files the database's mode).
"""

import errno
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal

from zkchat_cli.errors import StoreDamaged, StoreError, StoreUnwritable
from zkchat_cli.fileio import can_lock, create_database, lock_timeout, make_private_folder
from zkchat_cli.store import rows, schema

BUSY_TIMEOUT = 10.0
"""Seconds to wait for another process's write; a write takes milliseconds."""

_Cause = tuple[type[StoreError], str, str]
_FULL: _Cause = (StoreUnwritable, "the disk is full", "Free some space and try again; what was stored before is safe.")
_UNWRITABLE: _Cause = (
    StoreUnwritable,
    "it may not be written",
    "Make the file and its folder writable for you, set ZKCHAT_HOME to another folder, or use --no-store.",
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
_LOCKED: _Cause = (StoreError, "another program keeps it locked", "Close that program (a backup or a database browser) and try again.")
_BROKEN_DISK: _Cause = (StoreUnwritable, "reading or writing the disk failed", "Check the disk, its space and your quota, then try again.")
_CAUSES: dict[str | tuple[str, ...], _Cause] = {
    ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"): _FULL,  # the second: no space for the -shm file
    ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM"): _UNWRITABLE,
    ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"): _LOCKED,
    ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_MISMATCH"): _DAMAGED,  # our own SQL is right
    "SQLITE_IOERR": _BROKEN_DISK,
    "SQLITE_CONSTRAINT": (StoreError, "it contradicts what is stored", "Nothing was changed."),
    "": (StoreError, "an unexpected error", "Run `zkchat doctor`; if it finds nothing, please report this."),
}


def describe_store(file: Path | None) -> str:
    return f"The store {file}" if file else "The store in memory"


@contextmanager
def translate_errors(file: Path | None, action: str) -> Iterator[None]:
    """Raise StoreError for any error inside; `action` completes "The store FILE cannot …"."""
    error: Exception
    try:
        yield
        return
    except sqlite3.Error as e:
        error, detail = e, str(e)
        cause = next(cause for prefixes, cause in _CAUSES.items() if (getattr(e, "sqlite_errorname", None) or "").startswith(prefixes))
        if cause in (_LOCKED, _BROKEN_DISK) and file is not None and not can_lock(file.parent):
            cause = _NO_LOCKS
    except rows.UNREADABLE as e:  # a row that is not a valid value
        error, cause, detail = e, _DAMAGED, next(iter(str(e).splitlines()), type(e).__name__)
    except OSError as e:
        error, cause, detail = e, _FULL if e.errno in (errno.ENOSPC, errno.EDQUOT) else _UNWRITABLE, e.strerror or str(e)
    kind, why, hint = cause
    raise kind(f"{describe_store(file)} cannot {action}: {why} ({detail})", hint) from error


class StoreConnection:
    """One SQLite connection to a store; `file` is None for a store in memory.

    Threads may share it, one at a time: a thread that calls SQLite while a statement of another one calls `checksum` would wait for it and
    hold Python's global lock, which `checksum` needs.
    """

    def __init__(self, db: sqlite3.Connection, file: Path | None = None, write_error: StoreUnwritable | None = None) -> None:
        self.db = db
        self.file = file
        self.write_error = write_error
        """Why the store cannot be written, if so; `db` is then a copy in memory."""
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock, translate_errors(self.file, "be closed"):
            self.db.close()

    @contextmanager
    def reading(self, action: str) -> Iterator[None]:
        with self._lock, translate_errors(self.file, action):
            yield

    @contextmanager
    def writing(self, action: str) -> Iterator[None]:
        """One transaction. Raises StoreUnwritable for a store that can only be read."""
        if self.write_error is not None:
            why = self.write_error.message.partition(": ")[2]
            raise StoreUnwritable(f"{describe_store(self.file)} cannot {action}: {why}", self.write_error.hint)
        with self._lock, translate_errors(self.file, action), transaction(self.db):
            yield


def connect(file: Path | None) -> sqlite3.Connection:
    """A connection to the store at `file`, which is created if it is missing (None: in memory). Raises StoreError."""
    with translate_errors(file, "be opened"):
        if file is None:
            return _prepare(_connect(":memory:"), None)
        make_private_folder(file.parent)
        create_database(file)
        if not os.access(file, os.W_OK):  # SQLite would open it, and refuse the first write after the question was answered
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return _prepare(_connect(file, lock_timeout(file, BUSY_TIMEOUT)), file)


def connect_to_copy(file: Path) -> sqlite3.Connection:
    """A connection to a copy in memory of a store that cannot be written. Raises StoreError if it cannot be read either.

    SQLite reads a write-ahead log only if it may use a file beside it; `immutable` needs none, and is correct if the log is empty.
    """
    log = file.with_name(f"{file.name}-wal")
    with translate_errors(file, "be read"):
        mode = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
        copy = _connect(":memory:")
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?{mode}", uri=True, timeout=lock_timeout(file, BUSY_TIMEOUT))) as source:
            source.backup(copy)
        return _prepare(copy, file)


@contextmanager
def transaction(connection: sqlite3.Connection, kind: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE") -> Iterator[None]:
    """All or nothing. A writer is IMMEDIATE: SQLite refuses a reader that becomes a writer at once, without waiting."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:  # after some errors, a full disk among them, SQLite has already rolled back
            connection.execute("ROLLBACK")


def _connect(file: Path | str, timeout: float = 0.0) -> sqlite3.Connection:
    """Opened for all threads: a chat opens the store in a background thread and uses it in another."""
    return sqlite3.connect(file, timeout=timeout, isolation_level=None, check_same_thread=False, factory=rows.StoreDatabase)


def _prepare(connection: sqlite3.Connection, file: Path | None) -> sqlite3.Connection:
    """Set the connection up and create the tables of a new store. A store of another version is refused before the first write."""
    try:
        connection.text_factory = rows.decode_leniently
        connection.create_function("checksum", -1, rows.checksum, deterministic=True)
        _check_version(connection, file)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # deleted rows are overwritten with zeros; see secure_delete.py
        connection.execute("PRAGMA synchronous = FULL")  # acknowledged turns survive a power cut; measured at 0.3 ms a transaction
        connection.execute("PRAGMA cache_size = -4000")  # KB; 4,000 messages are read in the same time with 16,000
        with suppress(sqlite3.OperationalError):  # another process is setting it, which counts for the file
            connection.execute("PRAGMA journal_mode = WAL")
        with transaction(connection):  # a write even if there are tables: a store that cannot be written must fail now
            if connection.execute("PRAGMA user_version").fetchone() == (0,):
                statement = ""  # one at a time, because `executescript` commits the open transaction, and half of the tables would remain
                for line in schema.SCHEMA.splitlines(keepends=True):
                    statement += line
                    if sqlite3.complete_statement(statement):
                        connection.execute(statement)
                        statement = ""
            connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {schema.VERSION}")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_version(connection: sqlite3.Connection, file: Path | None) -> None:
    [application] = connection.execute("PRAGMA application_id").fetchone()
    [version] = connection.execute("PRAGMA user_version").fetchone()
    is_new = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None
    if not is_new and application != schema.APPLICATION_ID:
        problem = f"{describe_store(file)} is a database of another program; it was not changed"
        raise StoreError(problem, "Move it away, or set ZKCHAT_HOME to another folder.")
    if not is_new and version != schema.VERSION:
        step = "Update zkchat" if version > schema.VERSION else "Export it with the zkchat that wrote it"
        layout = f"layout {version}, this one knows {schema.VERSION}"
        problem = f"{describe_store(file)} was written by another version of zkchat ({layout}); it was not changed"
        raise StoreError(problem, f"{step}, or set ZKCHAT_HOME to another folder to keep both.")
