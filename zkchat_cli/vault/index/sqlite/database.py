"""The open file of an index. It is a cache that can be made again from the notes."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from zkchat_cli.text.case_folder import fold
from zkchat_cli.vault.index.sqlite.checksum import forget_checksum
from zkchat_cli.vault.index.sqlite.connection import connect, sqlite_errors, transaction


class IndexDatabase:
    """A connection, for one thread at a time; processes may share the file."""

    def __init__(self, file: Path, *, in_memory: bool = False) -> None:
        """Raises IndexDamaged if the file is no database. `in_memory`: an empty index that is gone
        when it is closed.
        """
        self.file = file
        self.in_memory = in_memory
        if in_memory:
            self.connection = sqlite3.connect(
                ":memory:", isolation_level=None, check_same_thread=False
            )
        else:
            self.connection = connect(file)
        self.connection.execute("PRAGMA temp_store = MEMORY")
        self.connection.create_function("fold", 1, fold, deterministic=True)
        self._written = 0
        self._snapshots = 0
        # The number of the snapshot that is open, if one is
        self.snapshot_number: int | None = None

    def close(self) -> None:
        """Close the file, which may be damaged."""
        with suppress(sqlite3.Error):
            self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write in the block; it is undone after any exception. The checksum is gone from then
        on.
        """
        with sqlite_errors(self.file), transaction(self.connection):
            self._written += 1
            forget_checksum(self.file)
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All queries inside see one state of the index, whatever other processes write
        meanwhile.
        """
        is_within_another = self.connection.in_transaction
        if is_within_another:
            yield
            return
        with self.connection:
            self.rows("BEGIN")
            self._snapshots += 1
            self.snapshot_number = self._snapshots
            try:
                yield
            finally:
                self.snapshot_number = None

    def rows(self, sql: str, *values: object, **named: object) -> list[tuple[Any, ...]]:
        """The result of an SQL query, with its values or the named ones."""
        try:
            with sqlite_errors(self.file):
                return self.connection.execute(sql, named or values).fetchall()
        except UnicodeEncodeError:
            # A lone surrogate from a command line: no note has it
            return []

    def meta(self, key: str) -> str | None:
        """What is stored under a key about the whole index."""
        for (value,) in self.rows("SELECT value FROM meta WHERE key = ?", key):
            return str(value)
        return None

    def stamp(self) -> tuple[object, ...]:
        """A value that changes whenever any process writes to the index."""
        [[data_version]] = self.rows("PRAGMA data_version")
        return self, data_version, self._written
