"""An SQLite file beside the index that outlasts it: what is computed from notes' texts and costs more than reading them again.

Its rows belong to texts, not to places in notes: nothing is lost when a note is moved or the index is rebuilt. It is still a cache: a file
that is damaged or of another version is replaced by an empty one.
"""

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from zkchat_cli.errors import IndexDamaged, VaultError
from zkchat_cli.vault.index.database import BUSY_SECONDS, delete_database, is_replaced, sqlite_errors, transaction

T = TypeVar("T")


class SidecarDatabase:
    """Threads and processes may share it. The first write creates the file. `what` names its content in errors."""

    what: ClassVar[str]
    version: ClassVar[int]
    schema: ClassVar[tuple[str, ...]]

    def __init__(self, file: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.file = file
        self._busy_seconds = busy_seconds
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._opened = object()
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock:
            if self._connection:
                with suppress(sqlite3.Error):
                    self._connection.close()
            self._connection = None

    def _write(self, change: Callable[[sqlite3.Connection], object]) -> None:
        def write(db: sqlite3.Connection) -> None:
            with transaction(db):
                change(db)

        self._query(write, None, create=True)

    def _query(self, query: Callable[[sqlite3.Connection], T], default: T, *, create: bool = False) -> T:
        """The query's result, or `default` without a file. A damaged file is replaced, once. Raises VaultError."""
        with self._lock:
            try:
                return self._query_once(query, default, create=create)
            except IndexDamaged:
                self.close()
                delete_database(self.file)
            try:
                return self._query_once(query, default, create=create)
            except IndexDamaged as e:  # not passed on, because it would rebuild the index
                raise VaultError(e.message, "Set ZKCHAT_HOME to a folder on a disk that works.") from e

    def _query_once(self, query: Callable[[sqlite3.Connection], T], default: T, *, create: bool) -> T:
        with sqlite_errors(self.file):
            db = self._open(create=create)
            return query(db) if db else default

    def _open(self, *, create: bool) -> sqlite3.Connection | None:
        if self._connection and is_replaced(self.file, self._inode):
            self.close()
        if self._connection or not (create or self.file.exists()):
            return self._connection
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600))
            self._inode = self.file.stat().st_ino
        except OSError as e:
            hint = "Check its permissions, or set ZKCHAT_HOME."
            raise VaultError(f"the {self.what} {self.file} cannot be opened: {e.strerror}", hint) from e
        self._connection = db = sqlite3.connect(self.file, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False)
        self._opened = object()
        try:
            self._create_tables(db)
        except BaseException:
            self.close()
            raise
        return db

    def _create_tables(self, db: sqlite3.Connection) -> None:
        """Create the tables in an empty file; two processes may try at once. Raises IndexDamaged for another version."""
        if _version(db) == 0:
            with suppress(sqlite3.OperationalError):  # another process is setting it, which counts for the file
                db.execute("PRAGMA journal_mode = WAL")
            with transaction(db):
                if _version(db) == 0:
                    for table in self.schema:
                        db.execute(table)
                    db.execute(f"PRAGMA user_version = {self.version}")
        if _version(db) != self.version:
            raise IndexDamaged(f"the {self.what} {self.file} were made by another version of zkchat", "They are computed again.")
        db.execute("PRAGMA synchronous = NORMAL")  # after a power cut the last rows are computed again


def _version(db: sqlite3.Connection) -> Any:
    return db.execute("PRAGMA user_version").fetchone()[0]
