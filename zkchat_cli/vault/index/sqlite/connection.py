"""Opening SQLite files that can be made again: the index and the vectors."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from zkchat_cli.errors import IndexDamaged, IndexUnwritable, VaultError, reason
from zkchat_cli.fileio import can_lock, create_database, lock_timeout, make_private_folder
from zkchat_cli.vault.index.sqlite.checksum import CHECKSUM_SUFFIX

BUSY_SECONDS = 10.0
_CHECK_DISK = "Check the disk and its permissions, or set ZKCHAT_HOME."


@contextmanager
def sqlite_errors(file: Path) -> Iterator[None]:
    """Translate SQLite's errors: IndexDamaged if only a rebuild helps, IndexUnwritable or
    VaultError if the user can help.
    """
    try:
        yield
    except sqlite3.Error as e:
        raise _translated(e, file) from e


def _translated(error: sqlite3.Error, file: Path) -> VaultError:
    match getattr(error, "sqlite_errorname", "").split("_")[1:2]:
        case ["BUSY" | "LOCKED"] if can_lock(file.parent):
            problem = f"another zkchat is writing the index {file}"
            return VaultError(problem, "Try again when it is done.")
        case ["BUSY" | "LOCKED"]:
            return _unwritable(file, "its file system cannot lock files")
        case ["PROTOCOL" | "FULL" | "READONLY" | "CANTOPEN" | "IOERR" | "PERM" | "AUTH"]:
            return _unwritable(file, str(error))
        case _:
            return damage_error(file, str(error))


def _unwritable(file: Path, problem: str) -> IndexUnwritable:
    return IndexUnwritable(f"the index {file} cannot be written: {problem}", _CHECK_DISK)


def damage_error(file: Path, problem: str) -> IndexDamaged:
    """The error about an index that must be made again."""
    return IndexDamaged(
        f"the index {file} is damaged: {problem}", "`zkchat vault index --full` rebuilds it."
    )


def connect(file: Path, page_size: int = 4096) -> sqlite3.Connection:
    """A connection to the file, which is created if needed, with pages of this size, readable for
    its owner only. Raises VaultError. Threads may share it. Processes may share the file: readers
    see the last commit, and a killed writer leaves no trace.
    """
    try:
        make_private_folder(file.parent)
        create_database(file)
    except OSError as e:
        raise _unwritable(file, reason(e)) from e
    with sqlite_errors(file):
        connection = sqlite3.connect(
            file,
            timeout=lock_timeout(file, BUSY_SECONDS),
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            # Before the first page is written
            connection.execute(f"PRAGMA page_size = {page_size}")
            # Another process is setting it, which counts for the file
            with suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA journal_mode = WAL")
            # What is lost in a power cut is computed again
            connection.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.Error:
            connection.close()
            raise
    return connection


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Write in the block: it is committed, or rolled back after any exception."""
    with db:
        db.execute("BEGIN IMMEDIATE")
        yield


def delete_database(file: Path) -> None:
    """Delete a damaged file, its checksum and SQLite's files beside it, as far as possible."""
    for suffix in (CHECKSUM_SUFFIX, "", "-wal", "-shm"):
        with suppress(OSError):
            Path(f"{file}{suffix}").unlink()
