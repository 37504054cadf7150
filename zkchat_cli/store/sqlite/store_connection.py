"""One connection to the store, which its parts share."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zkchat_cli.errors import StoreUnwritable
from zkchat_cli.store.port import StoreChanges
from zkchat_cli.store.sqlite.database import transaction
from zkchat_cli.store.sqlite.sqlite_errors import describe_store, is_locked, translate_errors

# Wait for a lock that was waited for in vain before
REPEATED_TIMEOUT_MS = 200


class StoreConnection:
    """A connection that threads may share, one at a time: a thread that calls SQLite while a
    statement of another one calls `checksum` would wait for it and hold Python's global lock, which
    `checksum` needs.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        file: Path | None = None,
        write_error: StoreUnwritable | None = None,
    ) -> None:
        """`file` is None for a store in memory. `write_error` says why the file cannot be written;
        `db` is then a copy in memory.
        """
        self.db = db
        self.file = file
        self.write_error = write_error
        self._lock = threading.RLock()
        # Milliseconds to wait for a lock, while shorter ones are in force
        self._full_timeout: int | None = None

    @contextmanager
    def reading(self, action: str) -> Iterator[sqlite3.Connection]:
        """The database, for this thread alone. Raises StoreError that says what `action` failed."""
        with self._lock, translate_errors(self.file, action):
            yield self.db

    @contextmanager
    def writing(self, action: str) -> Iterator[sqlite3.Connection]:
        """The same in one transaction. Raises StoreUnwritable for a store that can only be read."""
        if self.write_error is not None:
            why = self.write_error.message.partition(": ")[2]
            raise StoreUnwritable(
                f"{describe_store(self.file)} cannot {action}: {why}", self.write_error.hint
            )
        with self.reading(action) as db, self._transaction(db):
            yield db

    @contextmanager
    def _transaction(self, db: sqlite3.Connection) -> Iterator[None]:
        """A transaction. After one that waited in vain for another program's lock, the next ones
        wait less, until one succeeds: nobody should wait for the same lock again and again.
        """
        try:
            with transaction(db):
                yield
        except sqlite3.OperationalError as e:
            if is_locked(e) and self._full_timeout is None:
                [self._full_timeout] = db.execute("PRAGMA busy_timeout").fetchone()
                db.execute(f"PRAGMA busy_timeout = {REPEATED_TIMEOUT_MS}")
            raise
        if self._full_timeout is not None:
            db.execute(f"PRAGMA busy_timeout = {self._full_timeout}")
            self._full_timeout = None

    def changes(self) -> StoreChanges:
        """Figures that change whenever anything has been written."""
        with self.reading("be checked for changes") as db:
            [others] = db.execute("PRAGMA data_version").fetchone()
            return StoreChanges(own=db.total_changes, others=others)

    def close(self) -> None:
        """Close the connection; every later call raises StoreError."""
        with self.reading("be closed") as db:
            db.close()
