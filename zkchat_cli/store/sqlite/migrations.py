"""The layouts of the store, as a list of functions that only grows: number N makes a store of
layout N from one of layout N - 1.

A released function never changes. A new store goes through all of them; an older one is copied to
`conversations.db.before-N`, goes through the missing ones in one transaction, and is compared with
what it was before the transaction ends. If anything fails, the file is as it was.

SQLite's `user_version` of layout N is N + 13. The numbers below 14 were those of development
versions before 0.1.0.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.errors import StoreError
from zkchat_cli.fileio import create_database, unused_name
from zkchat_cli.store.sqlite.schema import LAYOUT_1
from zkchat_cli.store.sqlite.sqlite_errors import describe_store, translate_errors

Migration = Callable[[sqlite3.Connection], None]
"""It runs inside a transaction, with foreign keys switched off: so it may make a table anew."""

# `zkch`, in the file's header: a store of ours, not another program's database
APPLICATION_ID = 0x7A6B6368
_LAST_DEVELOPMENT_VERSION = 13
_TABLES = ("conversation", "message", "compaction", "fact", "piece", "prompt")
_WORDS = (
    "SELECT id, vault, title FROM conversation ORDER BY seq",
    "SELECT id, parent_id, role, content, timestamp FROM message ORDER BY seq",
    "SELECT vault, key, content, source, created_at FROM fact ORDER BY seq",
)
_DAMAGED_MESSAGES = """
    SELECT count(*) FROM message
    WHERE checksum <> checksum(packed, id, parent_id, role, content, timestamp, rest)
"""


# Names of SQLite's errors that say that a migration is wrong, not the disk or the file
_OUR_MISTAKES = ("SQLITE_ERROR", "SQLITE_CONSTRAINT")


def create_first_layout(connection: sqlite3.Connection) -> None:
    """Layout 1, of version 0.1.0: the tables in `schema`."""
    run_script(connection, LAYOUT_1)


def add_documents(connection: sqlite3.Connection) -> None:
    """Layout 2: a conversation has a list of documents, as JSON."""
    connection.execute("ALTER TABLE conversation ADD COLUMN documents TEXT NOT NULL DEFAULT '[]'")


MIGRATIONS: tuple[Migration, ...] = (create_first_layout, add_documents)
"""Only ever append to this list."""


def run_script(connection: sqlite3.Connection, script: str) -> None:
    """Run SQL statements one at a time, because `executescript` commits the open transaction, and
    half of the tables would remain.
    """
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def create(connection: sqlite3.Connection, layouts: Sequence[Migration]) -> None:
    """Create the tables of a new store, inside the caller's transaction."""
    for migrate in layouts:
        migrate(connection)


def write_layout(connection: sqlite3.Connection, layout: int) -> None:
    """Write into the file's header that it is a store with this layout."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {layout + _LAST_DEVELOPMENT_VERSION}")


def stored_layout(connection: sqlite3.Connection, file: Path | None, *, newest: int) -> int:
    """The layout of a store, 0 for an empty file. Raises StoreError for a file of another program
    and for a layout that is not known here; `newest` is the newest that is.
    """
    if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
        return 0
    [application] = connection.execute("PRAGMA application_id").fetchone()
    [version] = connection.execute("PRAGMA user_version").fetchone()
    store = describe_store(file)
    if application != APPLICATION_ID:
        raise StoreError(
            f"{store} is a database of another program; it was not changed",
            "Move it away, or set ZKCHAT_HOME to another folder.",
        )
    layout: int = version - _LAST_DEVELOPMENT_VERSION
    if layout > newest:
        raise StoreError(
            f"{store} was written by a newer zkchat: it has layout {layout}, and this zkchat "
            f"knows layout {newest}; it was not changed",
            "Update zkchat, or set ZKCHAT_HOME to another folder to keep both.",
        )
    if layout < 1:
        known = "layout 1" if newest == 1 else f"layouts 1 to {newest}"
        raise StoreError(
            f"{store} is from a development version of zkchat (number {version}); this one reads "
            f"{known}; it was not changed",
            "Move it away to begin a new one. Import its exports: zkchat context import --file "
            "FILE",
        )
    return layout


def upgrade(
    connection: sqlite3.Connection,
    file: Path | None,
    layouts: Sequence[Migration],
    *,
    copied: bool,
) -> None:
    """Bring a store of an older layout to the last of `layouts`, in one transaction; `copied` says
    whether the file is copied first. Raises StoreError, and then the store is as it was.

    Another process may be faster: then nothing is left to do.
    """
    newest = len(layouts)
    # A migration may drop a table that others refer to, and foreign keys cannot be switched off
    # within a transaction.
    connection.execute("PRAGMA foreign_keys = OFF")
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        layout = stored_layout(connection, file, newest=newest)
        if layout == newest:
            return
        with translate_errors(file, f"be upgraded from layout {layout} to {newest}"):
            before = _read_contents(connection)
            with _copy_kept_if_it_succeeds(file if copied else None, newest):
                problem = _migrate(connection, layouts[layout:], before)
                if problem is not None:
                    raise StoreError(
                        f"{describe_store(file)} cannot be upgraded from layout {layout} to "
                        f"{newest}: {problem}; it was not changed",
                        "Please report this, and use the zkchat that you had before, or another "
                        "ZKCHAT_HOME.",
                    )
                write_layout(connection, newest)


def _migrate(
    connection: sqlite3.Connection, steps: Sequence[Migration], before: "_Contents"
) -> str | None:
    """Run migrations; what is wrong with them, or None if the store has all that it had `before`.
    Raises sqlite3.Error for what is no mistake of theirs, such as a full disk.
    """
    try:
        for migrate in steps:
            migrate(connection)
        after = _read_contents(connection)
    except ValueError as e:
        return f"afterwards {e}"
    except sqlite3.Error as e:
        if getattr(e, "sqlite_errorname", "").startswith(_OUR_MISTAKES):
            return str(e)
        raise
    return None if after == before else f"afterwards {before.difference(after)}"


class _Contents(NamedTuple):
    """What no migration may change: how much is stored, and every word that was said."""

    counts: dict[str, int]
    damaged_messages: int
    words: str

    def difference(self, after: "_Contents") -> str:
        """What is not the same afterwards, as the end of a sentence."""
        for table, count in self.counts.items():
            if after.counts[table] != count:
                return f"the table {table} had {after.counts[table]:,} rows instead of {count:,}"
        if after.damaged_messages != self.damaged_messages:
            return f"{after.damaged_messages:,} messages did not match their checksums"
        return "not every word was the same"


def _read_contents(connection: sqlite3.Connection) -> _Contents:
    """Raises ValueError if SQLite finds an error in the file."""
    [result] = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if result != "ok":
        raise ValueError(result)
    if connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
        raise ValueError("a row belongs to another one that is missing")
    counts: dict[str, int] = {}
    for table in _TABLES:
        [counts[table]] = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    [damaged] = connection.execute(_DAMAGED_MESSAGES).fetchone()
    words = hashlib.sha256()
    for query in _WORDS:
        for row in connection.execute(query):
            words.update(repr(row).encode("utf-8", "replace"))
    return _Contents(counts, damaged, words.hexdigest())


@contextmanager
def _copy_kept_if_it_succeeds(file: Path | None, layout: int) -> Iterator[None]:
    """Copy the store to a new file beside it, which is deleted if the block fails. Without a file
    nothing is copied.
    """
    if file is None:
        yield
        return
    copy = unused_name(file.with_name(f"{file.name}.before-{layout}"))
    try:
        create_database(copy)
        # Through a connection of its own: SQLite copies nothing from one that is writing, and
        # Python would wait for ever
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        yield
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
