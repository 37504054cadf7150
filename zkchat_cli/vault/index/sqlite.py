"""SQLite files in the cache directory: connections, transactions, and errors that say what the user can do."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from zkchat_cli.errors import IndexDamaged, IndexUnwritable, VaultError, reason
from zkchat_cli.fileio import can_lock, create_database, lock_timeout, make_private_folder
from zkchat_cli.vault.index.checksum import SUFFIX

BUSY_SECONDS = 10.0
_CHECK_DISK = "Check the disk and its permissions, or set ZKCHAT_HOME."


@contextmanager
def sqlite_errors(file: Path) -> Iterator[None]:
    """Translate SQLite's errors: IndexDamaged if only a rebuild helps, IndexUnwritable or VaultError if the user can help."""
    try:
        yield
    except sqlite3.Error as e:
        match getattr(e, "sqlite_errorname", "").split("_")[1:2]:
            case ["BUSY" | "LOCKED"] if can_lock(file.parent):
                raise VaultError(f"another zkchat is writing the index {file}", "Try again when it is done.") from e
            case ["BUSY" | "LOCKED"]:
                problem = f"the index {file} cannot be written: its file system cannot lock files"
                raise IndexUnwritable(problem, "Set ZKCHAT_HOME to a folder on a local disk.") from e
            case ["PROTOCOL" | "FULL" | "READONLY" | "CANTOPEN" | "IOERR" | "PERM" | "AUTH"]:
                raise IndexUnwritable(f"the index {file} cannot be written: {e}", _CHECK_DISK) from e
            case _:
                raise damage_error(file, str(e)) from e


def damage_error(file: Path, problem: str) -> IndexDamaged:
    return IndexDamaged(f"the index {file} is damaged: {problem}", "`zkchat vault index --full` rebuilds it.")


def connect(file: Path, page_size: int = 4096) -> sqlite3.Connection:
    """A connection to the file, which is created if needed, with pages of this size, readable for its owner only. Raises VaultError.

    Threads may share it. Processes may share the file: readers see the last commit, and a killed writer leaves no trace.
    """
    try:
        make_private_folder(file.parent)
        create_database(file)
    except OSError as e:
        raise IndexUnwritable(f"the index {file} cannot be written: {reason(e)}", _CHECK_DISK) from e
    with sqlite_errors(file):
        timeout = lock_timeout(file, BUSY_SECONDS)
        connection = sqlite3.connect(file, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        with sqlite_errors(file):
            connection.execute(f"PRAGMA page_size = {page_size}")  # before the first page is written
            with suppress(sqlite3.OperationalError):  # another process is setting it, which counts for the file
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")  # what is lost in a power cut is computed again
    except VaultError:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def delete_database(file: Path) -> None:
    """Delete a damaged file, its checksum and SQLite's files beside it, as far as possible."""
    for suffix in (SUFFIX, "", "-wal", "-shm"):
        with suppress(OSError):
            Path(f"{file}{suffix}").unlink()
