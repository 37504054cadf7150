"""The checksum of an index's file, in a small file beside it. It finds the damage that SQLite does not notice, such as lost words.

It is written when an index is closed, and deleted before anything is written. So while it is there, no zkchat has changed the index, and
other bytes are damage. Comparing takes 40 ms for 10,000 notes; it is done when the file's time or size has changed, and at every 20th
opening, because a failing disk changes no times. Where it is missing, since the index was open or its process was killed, SQLite's own
check takes its place: 70 ms for 10,000 notes. It finds lost pages, and it is done before a checksum is written, too.
"""

import hashlib
import sqlite3
from contextlib import closing, suppress
from io import FileIO
from pathlib import Path

from zkchat_cli.fileio import atomic_write, open_regular, read_beginning

SUFFIX = ".checksum"
OPENINGS = 20
_LONGEST = 200


def forget_checksum(file: Path) -> None:
    """Call it in a write transaction, before anything is written. Raises OSError."""
    _checksum_file(file).unlink(missing_ok=True)


def write_checksum(file: Path) -> None:
    """Write the checksum of an index that is closed; none if another process is writing to it, or the disk is full."""
    if _checksum_file(file).exists() or not file.exists():
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
            atomic_write(_checksum_file(file), f"{_file_state(file)} {_digest(reader)}\n", private=True)


def is_intact(file: Path) -> bool:
    """Whether the file is as it was written, as far as that is known. Counts the openings."""
    try:
        if not _checksum_file(file).exists() and file.is_file():
            with closing(sqlite3.connect(file, timeout=0)) as connection:
                return _is_sound(connection)
        noted = read_beginning(_checksum_file(file), _LONGEST)
        line, _, openings = noted.partition(b"\n")
        state, _, checksum = line.decode().rpartition(" ")
        if state == _file_state(file) and len(openings) < OPENINGS:
            with _checksum_file(file).open("ab") as out:
                out.write(b".")
            return True
        with open_regular(file) as reader:
            found = _digest(reader)
        if checksum == found:
            forget_checksum(file)  # it is written again with the new time
            return True
        return not read_beginning(_checksum_file(file), _LONGEST).startswith(line)  # it was deleted meanwhile, to write
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
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _digest(reader: FileIO) -> str:
    return hashlib.file_digest(reader, "sha1").hexdigest()
