"""SQLite files in the cache directory: connections, transactions, errors that say what the user can do, and the checksum of an index.

The checksum, in a small file beside the index, finds the damage that SQLite does not notice, such as lost words. It is written when an
index is closed, and deleted before anything is written. So while it is there, no zkchat has changed the index, and other bytes are damage.
Comparing takes 40 ms for 10,000 notes; it is done when the file's time or size has changed, and once a day, because a failing disk changes
no times. Where it is missing, since the index was open or its process was killed, SQLite's own check takes its place: 70 ms
for 10,000 notes. It finds lost pages, and it is done before a checksum is written, too.
"""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import date
from io import FileIO
from pathlib import Path

from zkchat_cli.errors import IndexDamaged, IndexUnwritable, VaultError, reason
from zkchat_cli.fileio import atomic_write, can_lock, create_database, lock_timeout, make_private_folder, open_regular, read_beginning

BUSY_SECONDS = 10.0
SUFFIX = ".checksum"
_LONGEST_CHECKSUM = 200
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
                raise IndexUnwritable(f"the index {file} cannot be written: its file system cannot lock files", _CHECK_DISK) from e
            case ["PROTOCOL" | "FULL" | "READONLY" | "CANTOPEN" | "IOERR" | "PERM" | "AUTH"]:
                raise IndexUnwritable(f"the index {file} cannot be written: {e}", _CHECK_DISK) from e
            case _:
                raise damage_error(file, str(e)) from e


def damage_error(file: Path, problem: str) -> IndexDamaged:
    return IndexDamaged(f"the index {file} is damaged: {problem}", "`zkchat vault index --full` rebuilds it.")


def connect(file: Path, page_size: int = 4096) -> sqlite3.Connection:
    """A connection to the file, which is created if needed, with pages of this size, readable for its owner only. Raises VaultError.
    Threads may share it. Processes may share the file: readers see the last commit, and a killed writer leaves no trace."""
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


def forget_checksum(file: Path) -> None:
    """Call it in a write transaction, before anything is written."""
    with suppress(OSError):  # where there is none, or in a folder that cannot be written, as SQLite says
        _checksum_file(file).unlink()


def write_checksum(file: Path) -> None:
    """Write the checksum of an index that is closed; none if another process is writing to it, or the disk is full."""
    checksum = _checksum_file(file)
    if checksum.exists() or not file.exists():
        return
    with (
        suppress(sqlite3.Error, OSError),
        open_regular(file) as reader,  # closed last: it drops the locks that this process has on the file
        closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as connection,
    ):
        connection.execute("PRAGMA wal_checkpoint (TRUNCATE)")
        connection.execute("BEGIN IMMEDIATE")  # nobody writes from here on, and an empty log cannot change the file
        log = Path(f"{file}-wal")
        if not (log.exists() and log.stat().st_size) and _is_sound(connection):
            atomic_write(checksum, f"{_file_state(file)} {_digest(reader)}", private=True)


def is_intact(file: Path) -> bool:
    """Whether the file is as it was written, as far as that is known."""
    checksum = _checksum_file(file)
    try:
        if not checksum.exists() and file.is_file():
            with closing(sqlite3.connect(file, timeout=0)) as connection:
                return _is_sound(connection)
        noted = read_beginning(checksum, _LONGEST_CHECKSUM)
        state, _, digest = noted.decode().rpartition(" ")
        if state == _file_state(file):
            return True
        with open_regular(file) as reader:
            is_same = digest == _digest(reader)
        if is_same:
            forget_checksum(file)  # it is written again with the new state
        return is_same or read_beginning(checksum, _LONGEST_CHECKSUM) != noted  # another process has deleted it meanwhile, to write
    except (OSError, ValueError, sqlite3.Error):
        return True


def _is_sound(connection: sqlite3.Connection) -> bool:
    """Whether SQLite finds no damage; what it cannot read at all is reported where it is opened."""
    try:
        return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except sqlite3.Error as e:
        return not (e.sqlite_errorname or "").startswith("SQLITE_CORRUPT")


def _checksum_file(file: Path) -> Path:
    return Path(f"{file}{SUFFIX}")


def _file_state(file: Path) -> str:
    found = file.stat()
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {date.today()}"


def _digest(reader: FileIO) -> str:
    return hashlib.file_digest(reader, "sha1").hexdigest()
