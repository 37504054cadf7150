"""Deleting for good: after it no file of the store holds a word of the conversation any more, the backups beside it included.

SQLite by itself leaves deleted text in three places. Freed pages and gaps in pages: `secure_delete`, which every connection has, fills
them with zeros. The full-text index, which notes a deletion beside the words: it is written anew. And the -wal file, which holds old pages
until it is cut.

A conversation is gone at once (`begin`), and noted in the table `erased`; its words are cleared by and by (`finish`), because that takes
seconds, in which nobody else could write. The note goes when no word is left, so whoever opens the store after a crash knows.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from zkchat_cli.errors import StoreError
from zkchat_cli.store import input_history
from zkchat_cli.store.database import by_and_by, connect, transaction
from zkchat_cli.store.sqlite_errors import translate_errors

try:
    import fcntl
except ImportError:  # Windows: two that clear at once do some of the work twice
    fcntl = None  # type: ignore[assignment]

PATIENCE = 2.0
"""Seconds for which others may keep the -wal file from being emptied."""
AT_ONCE = 0.1
"""Seconds of them in one go: meanwhile nobody can write."""
PAGES = 500
"""Of the full-text index that are written in one transaction: some 20 ms."""
MESSAGES = 200
"""That are deleted in one transaction: as long."""


@contextmanager
def apart(connection: sqlite3.Connection) -> Iterator[None]:
    """While this lasts, what hangs on a deleted conversation stays: to be deleted by and by."""
    connection.execute("PRAGMA foreign_keys = OFF")  # which has no effect inside a transaction
    try:
        yield
    finally:
        connection.execute("PRAGMA foreign_keys = ON")


def begin(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Delete conversations, inside the caller's transaction, which is `apart`; of their messages, which nobody finds any more, `finish`
    clears the store."""
    for id_ in ids:
        found = connection.execute("SELECT seq, vault, title FROM conversation WHERE id = ?", (id_,)).fetchone()
        if found is None:  # named twice
            continue
        seq, vault, title = found
        asked = connection.execute("SELECT content FROM message WHERE conversation_id = ? AND role = 'user'", (id_,))
        lines = b"".join({input_history.fingerprint(said) for said in (*(content for (content,) in asked), title or "") if said.strip()})
        connection.execute("INSERT OR REPLACE INTO erased VALUES (?, ?, ?)", (id_, input_history.name_of(vault), lines))
        for table in ("piece", "prompt"):  # not later: the next conversation may get this one's number
            connection.execute(f"DELETE FROM {table} WHERE conversation_seq = ?", (seq,))
        connection.execute("DELETE FROM compaction WHERE conversation_id = ?", (id_,))
        connection.execute("DELETE FROM conversation WHERE id = ?", (id_,))
        connection.execute("UPDATE fact SET conversation_id = NULL, message_id = NULL WHERE conversation_id = ?", (id_,))


def is_left(connection: sqlite3.Connection) -> bool:
    """Whether a deletion is not over: one that goes on, or was killed, or could not clear everything."""
    return connection.execute("SELECT 1 FROM erased LIMIT 1").fetchone() is not None


def finish(connection: sqlite3.Connection, file: Path | None) -> None:
    """Clear every file of the words of all that was deleted, what others began included. Raises StoreError that names the first file which
    could not be cleared, when all the others are; whoever opens the store next tries again."""
    with _alone(file, wait=True):
        _finish(connection, file)


def finish_meanwhile(file: Path) -> threading.Thread:
    """The same through a connection of its own, unless somebody is at it; what goes wrong is tried again by whoever opens it next."""
    thread = threading.Thread(target=_finish_if_nobody_does, args=(file,), name="finish a deletion")
    thread.start()
    return thread


def _finish_if_nobody_does(file: Path) -> None:
    with suppress(StoreError), _alone(file, wait=False) as free:
        if free:
            with closing(connect(file)) as connection, translate_errors(file, "be cleared of a deleted conversation"):
                _finish(connection, file)


def _finish(connection: sqlite3.Connection, file: Path | None) -> None:
    noted = connection.execute("SELECT conversation_id, typed_in, lines FROM erased").fetchall()
    list(by_and_by(connection, _delete_messages))
    list(by_and_by(connection, Rewriting().step))
    if file is not None:
        problems = [*_problems(connection, file, noted)]
        if problems:
            raise problems[0]
    with transaction(connection):
        connection.executemany("DELETE FROM erased WHERE conversation_id = ?", [(id_,) for id_, *_ in noted])


def _problems(connection: sqlite3.Connection, file: Path, noted: Sequence[tuple[str, str, bytes]]) -> Iterator[StoreError]:
    """What keeps other files than the store itself from being cleared."""
    try:
        cut_log(connection, file)
    except StoreError as e:
        yield e
    yield from _erase_from_backups(file, [id_ for id_, *_ in noted])
    for _, name, lines in noted:
        try:
            input_history.erase(input_history.files(file.parent) / name, lines)
        except StoreError as e:
            yield e


@contextmanager
def _alone(file: Path | None, *, wait: bool) -> Iterator[bool]:
    """Whether nobody else clears this store while this lasts. Where there are no locks (some network disks), nobody is taken to."""
    handle, free = None, True
    try:
        if file is not None and fcntl:
            try:
                handle = os.open(file.parent, os.O_RDONLY)  # its folder: to open and close the file would take SQLite's own locks away
                fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                free = False
            except OSError:
                pass
        yield free
    finally:
        if handle is not None:
            os.close(handle)


def _delete_messages(connection: sqlite3.Connection) -> int:
    """Some of those whose conversation is gone; how many."""
    some = "SELECT seq FROM message WHERE conversation_id IN (SELECT conversation_id FROM erased) LIMIT ?"
    return connection.execute(f"DELETE FROM message WHERE seq IN ({some})", (MESSAGES,)).rowcount


class Rewriting:
    """The full-text index of the store written anew, some of it at a time: in one go it takes seconds, in which nobody could write.
    One that is broken off goes on from where it was."""

    def __init__(self) -> None:
        self._pages = -PAGES  # to begin with, all there is becomes one thing to merge

    def step(self, connection: sqlite3.Connection) -> int:
        """How many pages were written, about; 0 when all are."""
        before = connection.total_changes
        connection.execute("INSERT INTO spoken (spoken, rank) VALUES ('merge', ?)", (self._pages,))
        self._pages = PAGES
        written = connection.total_changes - before
        return written if written >= 2 else 0  # the statement itself counts for one


def cut_log(connection: sqlite3.Connection, file: Path | None) -> None:
    """Write the -wal file back and empty it. Raises StoreError when another program that is reading keeps it."""
    until = time.monotonic() + PATIENCE
    [patience] = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {round(1000 * AT_ONCE)}")  # while SQLite waits for readers, it lets nobody write
    try:
        while kept := connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > until:
                break
            time.sleep(AT_ONCE)
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience}")
    if kept:
        raise StoreError(
            f"The conversation is deleted, but {file}-wal still holds its words: another program is reading the store",
            "Close that program; the next zkchat that is started, or the last one that is closed, empties the file.",
        )


def _erase_from_backups(file: Path, ids: Sequence[str]) -> Iterator[StoreError]:
    """The same for the copies that migrations put beside `file`, of any version; the errors name those which could not be changed."""
    for copy in sorted(file.parent.glob(f"{file.name}.v*.bak")):
        try:
            with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("PRAGMA foreign_keys = ON")
                if _erase(connection, ids):
                    connection.execute("VACUUM")
        except sqlite3.Error as e:
            yield StoreError(
                f"The conversation is deleted, but the backup {copy} may still hold it: {e}", "Delete that file if you do not need it."
            )


def _erase(connection: sqlite3.Connection, ids: Sequence[str]) -> int:
    """Delete conversations with all that hangs on them and write the full-text index anew, in one transaction; how many there were."""
    each = [(id_,) for id_ in ids]
    with transaction(connection):
        deleted = connection.executemany("DELETE FROM conversation WHERE id = ?", each).rowcount
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")} if deleted else set()
        if "fact" in tables:
            connection.executemany("UPDATE fact SET conversation_id = NULL, message_id = NULL WHERE conversation_id = ?", each)
        if "spoken" in tables:
            connection.execute("INSERT INTO spoken (spoken) VALUES ('optimize')")
    return deleted
