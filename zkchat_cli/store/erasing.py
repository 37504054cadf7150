"""Deleting for good: after it no file of the store holds a word of the conversation any more, the backups beside it included.

SQLite by itself leaves deleted text in three places. Freed pages and gaps in pages: `secure_delete`, which every connection has, fills
them with zeros. The full-text index, which notes a deletion beside the words: it is written anew. And the -wal file, which holds old pages
until it is cut.
"""

import json
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

from zkchat_cli.errors import StoreError
from zkchat_cli.store import typed
from zkchat_cli.store.faults import told
from zkchat_cli.store.file import by_and_by, transaction

PATIENCE = 2.0
"""Seconds for which others may keep the -wal file from being emptied."""
PAGES = 500
"""Of the full-text index that are written in one transaction: some 20 ms."""


def questions(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, set[str]]:
    """What was asked in these conversations, and what they are called, by vault."""
    found: dict[str, set[str]] = {}
    query = """
        SELECT vault, content FROM conversation JOIN message ON conversation_id = conversation.id
        WHERE conversation.id = :id AND role = 'user'
        UNION ALL SELECT vault, title FROM conversation WHERE id = :id AND title IS NOT NULL
    """
    for id_ in ids:
        for vault, content in connection.execute(query, {"id": id_}):
            found.setdefault(vault, set()).add(content)
    return found


def delete(connection: sqlite3.Connection, file: Path | None, ids: Sequence[str]) -> None:
    """Delete conversations that are out of the full-text index (see `unindex`), for good. Raises StoreError.

    They go last from the store: a deletion that is broken off, while the index is written anew, can be begun again.
    """
    with told(file, "delete a conversation"):
        list(by_and_by(connection, Rewriting().step))
        with transaction(connection):
            asked = questions(connection, ids)
            indexed = unindex(connection, ids)
            erase(connection, ids)
    with told(file, "be cleared of a deleted conversation"):
        if indexed:  # again, by somebody who has searched meanwhile
            list(by_and_by(connection, Rewriting().step))
        cut_log(connection, file)
        if file is not None:
            erase_from_backups(file, ids)
            for vault, said in asked.items():
                typed.erase(typed.file_of(file.parent, vault), said)


def unindex(connection: sqlite3.Connection, ids: Sequence[str]) -> int:
    """Take what was said in these conversations out of the full-text index, as if it waited for that, inside the caller's transaction; of
    how many messages. The index still has their words: see Rewriting."""
    query = """
        SELECT seq FROM message WHERE content <> '' AND conversation_id IN (SELECT value FROM json_each(?))
        AND NOT EXISTS (SELECT 1 FROM unspoken WHERE message_seq = seq)
    """
    spoken = connection.execute(query, (json.dumps(ids),)).fetchall()
    connection.executemany("DELETE FROM spoken WHERE rowid = ?", spoken)
    connection.executemany("DELETE FROM spelling WHERE message_seq = ?", spoken)
    connection.executemany("INSERT INTO unspoken VALUES (?)", spoken)
    return len(spoken)


def erase(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Delete conversations with all that hangs on them, inside the caller's transaction, in a store of any version. The full-text index
    still has their words, if it had them: see Rewriting."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    each = [(id_,) for id_ in ids]
    connection.executemany("DELETE FROM conversation WHERE id = ?", each)
    if "fact" in tables:  # what somebody asked to remember outlasts where it was said
        connection.executemany("UPDATE fact SET conversation_id = NULL, message_id = NULL WHERE conversation_id = ?", each)


class Rewriting:
    """The full-text index of the store written anew, some of it at a time: in one go it takes seconds, in which nobody could write."""

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
    while kept := connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        if time.monotonic() > until:
            break
        time.sleep(0.02)  # SQLite waits for readers, but not for another process that is writing the file back itself
    if kept:
        raise StoreError(
            f"The conversation is deleted, but {file}-wal still holds its words: another program is reading the store",
            "Close that program; the next deletion, or the last zkchat that is closed, empties the file.",
        )


def erase_from_backups(file: Path, ids: Sequence[str]) -> None:
    """The same for the copies that migrations put beside `file`. Raises StoreError that names the copy which could not be changed."""
    for copy in sorted(file.parent.glob(f"{file.name}.v*.bak")):
        try:
            connection = sqlite3.connect(copy, isolation_level=None)
            try:
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("PRAGMA foreign_keys = ON")
                connection.execute("BEGIN IMMEDIATE")
                erase(connection, ids)
                if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'spoken'").fetchone():
                    connection.execute("INSERT INTO spoken (spoken) VALUES ('optimize')")
                connection.execute("COMMIT")
                connection.execute("VACUUM")
            finally:
                connection.close()
        except sqlite3.Error as e:
            raise StoreError(
                f"The conversation is deleted, but the backup {copy} may still hold it: {e}", "Delete that file if you do not need it."
            ) from e
