"""A store while it is open: the one connection of its own, how it may be used, and in what words it fails.

What is kept in it, and how, is `sessions`'.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from zkchat_cli.errors import StoreUnwritable
from zkchat_cli.store import secure_delete
from zkchat_cli.store.database import connect, connect_to_copy, copied, transaction
from zkchat_cli.store.sqlite_errors import place, translate_errors


class StoreConnection:
    """A store's database, opened to be read and written, or only to be read."""

    def __init__(self, connection: sqlite3.Connection, file: Path | None = None, unwritable: StoreUnwritable | None = None) -> None:
        self._db = connection
        self._file = file
        self.unwritable = unwritable
        """Why nothing can be written to it, if so."""
        self._finishing: threading.Thread | None = None

    @classmethod
    def open(cls, file: Path | None) -> Self:
        """The store at `file`, made if missing, migrated if older; None: one in memory that leaves no trace. A deletion that was killed is
        finished meanwhile: `close` waits for that."""
        store = cls(connect(file), file)
        with store._reading("be opened"):
            if file is not None and secure_delete.is_left(store._db):
                store._finishing = secure_delete.finish_meanwhile(file)
        return store

    @classmethod
    def open_to_read(cls, file: Path) -> Self:
        """The same; of one that is there but may not be written (a disk that is full or read-only, another user's file), a copy in memory,
        of which all can be read. Whoever writes to that is told why not: StoreUnwritable."""
        try:
            return cls.open(file)
        except StoreUnwritable as e:
            try:
                return cls(connect_to_copy(file), file, e)
            except StoreUnwritable:
                raise e from None

    def beside(self) -> Self:
        """The same store through another connection, for another thread; of one in memory, what it holds now."""
        if self._file is not None:
            return self.open_to_read(self._file)
        with self._reading("be read beside"):
            return type(self)(copied(self._db))

    def close(self) -> None:
        if self._finishing is not None:
            self._finishing.join()
        with translate_errors(self._file, "be closed"):
            self._db.close()

    @property
    def lasting(self) -> bool:
        """Whether what is stored outlasts the program."""
        return self._file is not None and self.unwritable is None

    @contextmanager
    def _reading(self, doing: str) -> Iterator[None]:
        with translate_errors(self._file, doing):
            yield

    @contextmanager
    def _writing(self, doing: str) -> Iterator[None]:
        if self.unwritable is not None:
            why = self.unwritable.message.partition(": ")[2]
            raise StoreUnwritable(f"{place(self._file)} cannot {doing}: {why}", self.unwritable.hint)
        with translate_errors(self._file, doing), transaction(self._db):
            yield
