"""Opening the store's database: made if it is missing, checked before it is touched, migrated after a copy was put beside it.

A store that a newer zkchat wrote, and a database that is not ours, are refused before the first write. Everything is private to its
user: new folders 0700, new files 0600 (SQLite gives its -wal and -shm files the database's mode).
"""

import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal

from zkchat_cli.errors import StoreError
from zkchat_cli.store import migrations
from zkchat_cli.store.sqlite_errors import place, translate_errors
from zkchat_cli.store.wal_reader import written_back

PATIENCE = 10.0
"""Seconds to wait for another process's write before "locked" is an error; a write takes milliseconds."""


def connect(file: Path | None, scripts: Sequence[str] = migrations.SCRIPTS) -> sqlite3.Connection:
    """A connection to the store at `file` (None: in memory), at the schema's version `len(scripts)`.

    Raises StoreError when it is newer, another program's, damaged, a folder, or not writable.
    """
    with translate_errors(file, "be opened"):
        if file is not None:
            _make_room(file)
        # an interactive chat opens it behind its prompt, in a thread, and uses it in another
        connection = sqlite3.connect(file or ":memory:", timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            _refuse_what_is_not_ours(connection, file, len(scripts))
            _set_up(connection)
            _migrate(connection, file, scripts)
        except BaseException:
            connection.close()
            raise
        return connection


def connect_to_copy(file: Path, scripts: Sequence[str] = migrations.SCRIPTS) -> sqlite3.Connection:
    """A connection to a copy, in memory, of a store that may not be written, migrated if it is older: 30 MB a thousand turns, in 20 ms.

    Raises StoreError when it cannot be read either, is newer, another program's or damaged.
    """
    with translate_errors(file, "be read"):
        image = bytearray(_image(file))
        image[18:20] = b"\1\1"  # the header's word for a log beside the file, which memory has none of
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        try:
            connection.deserialize(image)
            _refuse_what_is_not_ours(connection, file, len(scripts))
            _set_up(connection)
            _migrate(connection, None, scripts)
        except BaseException:
            connection.close()
            raise
        return connection


def _image(file: Path) -> bytes:
    """All that was committed, what waits in the log included."""
    with suppress(sqlite3.OperationalError):
        return _read(f"{file.absolute().as_uri()}?mode=ro")
    log = file.with_name(f"{file.name}-wal")
    return bytes(written_back(file.read_bytes(), log.read_bytes() if log.exists() else b""))


def _read(address: str) -> bytes:
    with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)) as connection:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # `serialize` does not say what keeps it from reading
        return connection.serialize()


def copied(connection: sqlite3.Connection) -> sqlite3.Connection:
    """What a store in memory holds now, in another one: for another thread, as a connection is one thread's at a time."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.backup(copy)
    return copy


@contextmanager
def transaction(connection: sqlite3.Connection, kind: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE") -> Iterator[None]:
    """All or nothing. A writer is IMMEDIATE: a reader that turns writer later can be refused at once, however patient it is."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:  # SQLite itself has rolled back after some errors, a full disk among them
            connection.execute("ROLLBACK")


def by_and_by(connection: sqlite3.Connection, step: Callable[[sqlite3.Connection], int]) -> Iterator[int]:
    """Work that takes long: `step` again and again, each time in a transaction of its own, until it says that it has done nothing; what
    each has done. A third of the time is left to others, because SQLite lets who waits for it look only now and then."""
    while True:
        begin = time.monotonic()
        with transaction(connection):
            done = step(connection)
        if not done:
            return
        took = time.monotonic() - begin
        yield done
        time.sleep(took / 2)


def _make_room(file: Path) -> None:
    missing = [folder for folder in file.parents if not folder.exists()]
    for folder in reversed(missing):  # one by one: `mkdir(parents=True)` gives its mode to the last one only
        folder.mkdir(mode=0o700, exist_ok=True)
    if file.is_dir():
        raise IsADirectoryError(21, "Is a directory")
    if not file.exists():
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    if not os.access(file, os.W_OK):  # SQLite would read it, and refuse the first write: after the question was answered
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None


def _refuse_what_is_not_ours(connection: sqlite3.Connection, file: Path | None, newest: int) -> None:
    version = _version(connection)
    if _is_empty(connection):
        return
    if connection.execute("PRAGMA application_id").fetchone()[0] != migrations.APPLICATION_ID:
        raise StoreError(
            f"{place(file)} is a database of another program; it was left untouched",
            "Move it away, or set ZKCHAT_HOME to another folder.",
        )
    if version > newest:
        raise StoreError(
            f"{place(file)} was written by a newer zkchat (version {version}, this one knows {newest}); it was left untouched",
            "Update zkchat, or set ZKCHAT_HOME to another folder to keep both.",
        )


def _set_up(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten; see erasing
    connection.execute("PRAGMA synchronous = FULL")  # what was acknowledged outlives a power cut; measured at 0.3 ms a transaction
    connection.execute("PRAGMA cache_size = -16000")  # KB; SQLite's 2 MB make reading a history of 2 000 messages twice as slow
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as e:  # SQLite does not wait here: two processes may be making the store at the same moment
            if not (e.sqlite_errorname or "").startswith("SQLITE_BUSY") or time.monotonic() > until:
                raise
            time.sleep(0.005)


def _migrate(connection: sqlite3.Connection, file: Path | None, scripts: Sequence[str]) -> None:
    """Up to date or not, this begins a write: a store that may not be written is found out now, not after the first question."""
    copy = None
    try:
        with transaction(connection):
            version = _version(connection)
            if version < len(scripts):
                if file is not None and not _is_empty(connection):
                    copy = _copy(file, version)
                migrations.run(connection, scripts, version)
    except BaseException:
        if copy is not None:
            copy.unlink(missing_ok=True)  # the store is as it was, so the copy says nothing new
        raise
    if copy is not None and version < migrations.SECURE_SINCE:
        with suppress(sqlite3.Error):  # no room, or another process is at work: only gaps in pages are left as they were
            connection.execute("VACUUM")


def _copy(file: Path, version: int) -> Path:
    """A backup beside `file`, through a connection of its own: that sees what was committed, the -wal file included."""
    names = (file.with_name(f"{file.name}.v{version}{suffix}.bak") for suffix in ("", *(f".{n}" for n in range(2, 1000))))
    copy = next(name for name in names if not name.exists())
    os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    source = sqlite3.connect(file, timeout=PATIENCE, isolation_level=None)
    try:
        source.execute("VACUUM INTO ?", (str(copy),))
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    finally:
        source.close()
    return copy
