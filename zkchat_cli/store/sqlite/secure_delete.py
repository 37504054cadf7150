"""Deleting conversations for good: afterwards no file of the store contains a word of them.

SQLite leaves deleted text in three places. Freed pages: the pragma `secure_delete`, set on every
connection, fills them with zeros. The full-text index, which stores a deletion in addition to the
words: it is rewritten. The -wal file, which holds old pages until it is truncated. A row in
`pending_cleanup` is written with the deletion and removed after the last step, so the next process
that opens the store finishes a deletion that was killed.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from zkchat_cli.errors import StoreError
from zkchat_cli.store import input_history
from zkchat_cli.store.sqlite.database import transaction

# Seconds to wait for readers of the -wal file
LOG_TIMEOUT = 2.0
_TYPED = """
    SELECT vault, content FROM message JOIN conversation ON conversation.id = conversation_id
    WHERE conversation.id = :id AND role = 'user'
    UNION ALL
    SELECT vault, title FROM conversation WHERE id = :id AND title IS NOT NULL
"""
_RELEASE_FACTS = """
    UPDATE fact SET conversation_id = NULL, message_id = NULL WHERE conversation_id = ?
"""


def delete(db: sqlite3.Connection, file: Path | None, ids: Sequence[str]) -> None:
    """Delete existing conversations, inside the caller's transaction; then `clean_up` removes their
    words.
    """
    if file is not None:
        _delete_typed_lines(db, file.parent, ids)
    db.execute("INSERT INTO pending_cleanup DEFAULT VALUES")
    for id_ in ids:
        db.execute(_RELEASE_FACTS, (id_,))
        db.execute("DELETE FROM conversation WHERE id = ?", (id_,))


def _delete_typed_lines(db: sqlite3.Connection, folder: Path, ids: Sequence[str]) -> None:
    """Questions and titles are in the input history, too. In the transaction of the deletion: a
    store that cannot be written keeps both.
    """
    texts: defaultdict[Path, set[str]] = defaultdict(set)
    for id_ in ids:
        for vault, text in db.execute(_TYPED, {"id": id_}):
            texts[input_history.history_file(folder, vault)].add(text.strip())
    input_history.delete_typed(texts)


def clean_up(db: sqlite3.Connection, file: Path | None, timeout: float) -> None:
    """Remove the words of all deleted conversations, also those of other processes, or of a process
    that was killed. `timeout`: seconds to wait for other programs. Raises StoreError if a file may
    still contain some.
    """
    [last] = db.execute("SELECT max(seq) FROM pending_cleanup").fetchone()
    if last is None:
        return
    with transaction(db):
        db.execute("INSERT INTO message_index (message_index) VALUES ('optimize')")
    if file is not None:
        _empty_log(file, timeout)
    with transaction(db):
        db.execute("DELETE FROM pending_cleanup WHERE seq <= ?", (last,))


def _empty_log(file: Path, timeout: float) -> None:
    """Truncate the -wal file. Raises StoreError while another program reads it."""
    # A connection of its own, for another timeout
    with closing(sqlite3.connect(file, timeout=timeout)) as other:
        [is_in_use, *_] = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if is_in_use:
        raise StoreError(
            f"Deleted, but {file}-wal still has the words: another program reads the store",
            "Close that program; the next start of zkchat empties the file.",
        )
