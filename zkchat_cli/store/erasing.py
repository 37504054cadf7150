"""Deleting for good: after it no file of the store holds a word of the conversation any more, the backups beside it included.

SQLite by itself leaves deleted text in three places. Freed pages and gaps in pages: `secure_delete`, which every connection has, fills
them with zeros. The full-text index, which notes a deletion beside the words: it is written anew. And the -wal file, which holds old pages
until it is cut.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from zkchat_cli.errors import StoreError


def questions(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, set[str]]:
    """What was asked in these conversations, by vault."""
    found: dict[str, set[str]] = {}
    query = """
        SELECT vault, content FROM conversation JOIN message ON conversation_id = conversation.id
        WHERE conversation.id = ? AND role = 'user'
    """
    for id_ in ids:
        for vault, content in connection.execute(query, (id_,)):
            found.setdefault(vault, set()).add(content)
    return found


def erase(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Delete conversations with all that hangs on them, inside the caller's transaction, in a store of any version."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    each = [(id_,) for id_ in ids]
    gone = connection.executemany("DELETE FROM conversation WHERE id = ?", each).rowcount
    if "fact" in tables:  # what somebody asked to remember outlasts where it was said
        connection.executemany("UPDATE fact SET conversation_id = NULL, message_id = NULL WHERE conversation_id = ?", each)
    if "spoken" in tables and gone:
        connection.execute("INSERT INTO spoken (spoken) VALUES ('optimize')")


def cut_log(connection: sqlite3.Connection, file: Path | None) -> None:
    """Write the -wal file back and empty it. Raises StoreError when another program that is reading keeps it."""
    kept, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
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
                connection.execute("COMMIT")
                connection.execute("VACUUM")
            finally:
                connection.close()
        except sqlite3.Error as e:
            raise StoreError(
                f"The conversation is deleted, but the backup {copy} may still hold it: {e}", "Delete that file if you do not need it."
            ) from e
