"""An SQLite file that lies beside the index and outlasts it: what is made of notes' texts and costs more than reading them again.

It belongs to texts, not to places in notes: moving a note or building the index anew loses nothing of it. It is still a cache: a file that
is damaged or of another version is replaced by an empty one.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from zkchat_cli.errors import IndexDamaged, VaultError
from zkchat_cli.vault.index.database import sqlite_errors

BUSY_SECONDS = 10.0

T = TypeVar("T")


class SidecarDatabase:
    """Several threads and processes may use it; it is made when something is first written. Its kinds say `what` they hold, and how."""

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
        def transaction(db: sqlite3.Connection) -> None:
            with _writing(db):
                change(db)

        self._ask(transaction, None, create=True)

    def _ask(self, question: Callable[[sqlite3.Connection], T], without: T, *, create: bool = False) -> T:
        """The answer of the file, or `without` when there is none. A file that turns out damaged is replaced, once. Raises VaultError."""
        with self._lock:
            try:
                return self._asked(question, without, create=create)
            except IndexDamaged:
                self._remove()
            try:
                return self._asked(question, without, create=create)
            except IndexDamaged as e:  # the index is not to be built anew for this
                raise VaultError(e.message, "Set ZKCHAT_HOME to a folder on a disk that works.") from e

    def _asked(self, question: Callable[[sqlite3.Connection], T], without: T, *, create: bool) -> T:
        with sqlite_errors(self.file):
            db = self._open(create=create)
            return question(db) if db else without

    def _open(self, *, create: bool) -> sqlite3.Connection | None:
        if self._connection and self._moved():
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
            self._prepare(db)
        except BaseException:
            self.close()
            raise
        return db

    def _prepare(self, db: sqlite3.Connection) -> None:
        """Make the tables in an empty file; two processes may come to it at once. Raises IndexDamaged for another version's."""
        if _version(db) == 0:
            with suppress(sqlite3.OperationalError):  # another process is at it: what it sets holds for the file
                db.execute("PRAGMA journal_mode = WAL")
            with _writing(db):
                if _version(db) == 0:
                    for table in self.schema:
                        db.execute(table)
                    db.execute(f"PRAGMA user_version = {self.version}")
        if _version(db) != self.version:
            raise IndexDamaged(f"the {self.what} {self.file} were made by another version of zkchat", "They are made anew.")
        db.execute("PRAGMA synchronous = NORMAL")  # a message may keep ten summaries; after a power cut the last are made again

    def _moved(self) -> bool:
        """Whether another process has replaced the file."""
        try:
            return self.file.stat().st_ino != self._inode
        except OSError:
            return True

    def _remove(self) -> None:
        self.close()
        for file in (self.file, Path(f"{self.file}-wal"), Path(f"{self.file}-shm")):
            with suppress(OSError):
                file.unlink()


@contextmanager
def _writing(db: sqlite3.Connection) -> Iterator[None]:
    """One transaction: all of it, or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def _version(db: sqlite3.Connection) -> Any:
    return db.execute("PRAGMA user_version").fetchone()[0]
