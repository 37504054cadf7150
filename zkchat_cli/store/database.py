"""Opening the store's SQLite file, and the connection that the store works with.

A file of another program or of another version of zkchat is refused before the first write. Everything is private to its user: new
folders get mode 0700, new files 0600 (SQLite gives its -wal and -shm files the database's mode).
"""

import errno
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal

from zkchat_cli.errors import StoreError, StoreUnwritable
from zkchat_cli.fileio import create_database, lock_timeout, make_private_folder
from zkchat_cli.store import rows, schema
from zkchat_cli.store.sqlite_errors import describe_store, translate_errors

BUSY_TIMEOUT = 10.0
"""Seconds to wait for another process's write; a write takes milliseconds."""


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
    """A connection to the store at `file`, which is created if it is missing (None: in memory).

    Raises StoreError for a file that is no store of this version, damaged, a folder, or not writable.
    """
    with translate_errors(file, "be opened"):
        timeout = 0.0
        if file is not None:
            make_private_folder(file.parent)
            create_database(file)
            if not os.access(file, os.W_OK):  # SQLite would open it, and refuse the first write after the question was answered
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            timeout = lock_timeout(file, BUSY_TIMEOUT)
        connection = _connect(file or ":memory:", timeout)
        return _prepare(connection, file, timeout)


def connect_to_copy(file: Path) -> sqlite3.Connection:
    """A connection to a copy in memory of a store that cannot be written: 30 MB per thousand turns, in 20 ms.

    Raises StoreError if the store cannot be read either.
    """
    with translate_errors(file, "be read"):
        image = bytearray(_read_image(file))
        connection = _connect(":memory:")
        if image:
            image[18:20] = b"\1\1"  # the header's journal mode: memory has no write-ahead log
            connection.deserialize(image)
        return _prepare(connection, file)


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


def _read_image(file: Path) -> bytes:
    """The database's bytes. SQLite can read a write-ahead log only if it may use a file beside it; `immutable` needs none, and is correct
    only if the log is empty.
    """
    if file.exists() and not file.stat().st_size:  # the first write to a new store failed; SQLite serializes no empty database
        return b""
    log = file.with_name(f"{file.name}-wal")
    mode = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?{mode}", uri=True, timeout=lock_timeout(file, BUSY_TIMEOUT))) as connection:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # `serialize` does not report why it cannot read
        return connection.serialize()


def _connect(file: Path | str, timeout: float = 0.0) -> sqlite3.Connection:
    """Opened for all threads: a chat opens the store in a background thread and uses it in another."""
    return sqlite3.connect(file, timeout=timeout, isolation_level=None, check_same_thread=False, factory=rows.StoreDatabase)


def _prepare(connection: sqlite3.Connection, file: Path | None, timeout: float = 0.0) -> sqlite3.Connection:
    """Set the connection up and create the tables of a new store. A store of another version is refused before the first write."""
    deadline = time.monotonic() + timeout
    try:
        connection.text_factory = rows.decode_leniently
        connection.create_function("checksum", -1, rows.checksum, deterministic=True)
        _check_version(connection, file)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # deleted rows are overwritten with zeros; see secure_delete.py
        connection.execute("PRAGMA synchronous = FULL")  # acknowledged turns survive a power cut; measured at 0.3 ms a transaction
        connection.execute("PRAGMA cache_size = -4000")  # KB; 4,000 messages are read in the same time with 16,000
        is_set = False
        while not is_set:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                is_set = True
            except sqlite3.OperationalError as e:  # SQLite does not wait here, and two processes may create the store at the same moment
                if not (e.sqlite_errorname or "").startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                    raise
                time.sleep(0.005)
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
