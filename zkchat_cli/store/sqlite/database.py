"""Opening the store's SQLite file.

A file of another program, or one that a newer zkchat wrote, is refused before the first write; one
with an older layout is upgraded (see `migrations`). Everything is private to its user: new folders
get mode 0700, new files 0600 (SQLite gives its -wal and -shm files the database's mode).
"""

import errno
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from zkchat_cli.fileio import create_database, lock_timeout, make_private_folder
from zkchat_cli.store import codec
from zkchat_cli.store.sqlite import migrations
from zkchat_cli.store.sqlite.sqlite_errors import is_locked, translate_errors
from zkchat_cli.text.words import replace_surrogates

# Seconds to wait for another process's write, which takes milliseconds. A database browser can hold
# its lock for hours, and the answer waits for the question to be stored.
BUSY_TIMEOUT = 5.0
# KB; 4,000 messages are read in the same time with 16,000
_CACHE_SIZE = 4_000


class StoreDatabase(sqlite3.Connection):
    """A connection that takes any text as a parameter: ids, paths and queries may have lone
    surrogates, which are no valid Unicode.
    """

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Run one statement."""
        return super().execute(sql, _to_utf8(parameters))

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        """Run one statement for each set of parameters."""
        return super().executemany(sql, map(_to_utf8, parameters))


def _to_utf8(parameters: Any) -> Any:
    if isinstance(parameters, dict):
        return {
            name: replace_surrogates(value) if isinstance(value, str) else value
            for name, value in parameters.items()
        }
    return [replace_surrogates(value) if isinstance(value, str) else value for value in parameters]


def connect(
    file: Path | None, layouts: Sequence[migrations.Migration] = migrations.MIGRATIONS
) -> sqlite3.Connection:
    """A connection to the store at `file`, which is created if it is missing (None: in memory), and
    upgraded to the last of `layouts`. Raises StoreError.
    """
    with translate_errors(file, "be opened"):
        if file is None:
            return _prepare(_connect(":memory:"), layouts)
        make_private_folder(file.parent)
        create_database(file)
        # SQLite would open it, and refuse the first write after the question was answered
        if not os.access(file, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        timeout = lock_timeout(file, BUSY_TIMEOUT)
        return _prepare(_connect(file, timeout), layouts, file, timeout=timeout)


def connect_to_copy(
    file: Path, layouts: Sequence[migrations.Migration] = migrations.MIGRATIONS
) -> sqlite3.Connection:
    """A connection to a copy in memory of a store that cannot be written. Raises StoreError if it
    cannot be read either.

    SQLite reads a write-ahead log only if it may use a file beside it; `immutable` needs none, and
    is correct if the log is empty.
    """
    log = file.with_name(f"{file.name}-wal")
    with translate_errors(file, "be read"):
        mode = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
        uri = f"{file.absolute().as_uri()}?{mode}"
        timeout = lock_timeout(file, BUSY_TIMEOUT)
        copy = _connect(":memory:")
        with closing(sqlite3.connect(uri, uri=True, timeout=timeout)) as source:
            source.backup(copy)
        return _prepare(copy, layouts, file, in_memory=True)


@contextmanager
def transaction(
    connection: sqlite3.Connection, kind: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE"
) -> Iterator[None]:
    """All or nothing. A writer is IMMEDIATE: SQLite refuses a reader that becomes a writer at once,
    without waiting.
    """
    # Commits, or rolls back after any exception
    with connection:
        connection.execute(f"BEGIN {kind}")
        yield


def insert_row(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> int:
    """Insert a row with these columns; returns its number."""
    columns = ", ".join(row)
    parameters = ", ".join(f":{name}" for name in row)
    cursor = connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({parameters})", row)
    return cursor.lastrowid or 0


def _set_timeout(connection: sqlite3.Connection, seconds: float) -> None:
    """How long a statement waits for another program's lock."""
    connection.execute(f"PRAGMA busy_timeout = {round(1000 * seconds)}")


def _connect(file: Path | str, timeout: float = 0.0) -> sqlite3.Connection:
    """Opened for all threads: a chat opens the store in a background thread and uses it in
    another.
    """
    return sqlite3.connect(
        file,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
        factory=StoreDatabase,
    )


def _prepare(
    connection: sqlite3.Connection,
    layouts: Sequence[migrations.Migration],
    file: Path | None = None,
    *,
    timeout: float = 0.0,
    in_memory: bool = False,
) -> sqlite3.Connection:
    """Set the connection up, and bring its tables to the last of `layouts`. `file` is the store
    that errors name, `timeout` the seconds to wait for a lock; `in_memory` says that the connection
    is to a copy of it.
    """
    try:
        connection.text_factory = codec.decode_leniently
        connection.create_function("checksum", -1, codec.checksum, deterministic=True)
        layout = migrations.stored_layout(connection, file, newest=len(layouts))
        # Deleted rows are overwritten with zeros; see secure_delete.py
        connection.execute("PRAGMA secure_delete = ON")
        # Acknowledged turns survive a power cut; measured at 0.3 ms a transaction
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA cache_size = {-_CACHE_SIZE}")
        # Another process is setting it, which counts for the file
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
        if 0 < layout < len(layouts):
            migrations.upgrade(connection, file, layouts, copied=not in_memory)
        connection.execute("PRAGMA foreign_keys = ON")
        # A write even if there are tables: a store that cannot be written must fail now. But
        # reading needs no write, so it does not wait for another program.
        if layout == len(layouts):
            _set_timeout(connection, 0.0)
        try:
            with transaction(connection):
                if migrations.stored_layout(connection, file, newest=len(layouts)) == 0:
                    migrations.create(connection, layouts)
                migrations.write_layout(connection, len(layouts))
        except sqlite3.OperationalError as e:
            if not is_locked(e) or layout < len(layouts):
                raise
        _set_timeout(connection, timeout)
    except BaseException:
        connection.close()
        raise
    return connection
