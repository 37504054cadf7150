"""The table `fact`: what the user asked to remember, by vault and key. One fact per key is current;
those it replaced are its history.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from zkchat_cli.models.facts import Fact
from zkchat_cli.models.notes import NoteUsage
from zkchat_cli.store import rows
from zkchat_cli.store.codec import checksum
from zkchat_cli.store.port import FactStore
from zkchat_cli.store.sqlite import note_usage
from zkchat_cli.store.sqlite.database import insert_row
from zkchat_cli.store.sqlite.store_connection import StoreConnection
from zkchat_cli.text.words import replace_surrogates

_COLUMNS = (
    "key",
    "content",
    "source",
    "conversation_id",
    "message_id",
    "created_at",
    "last_accessed",
    "ended_at",
    "agent",
)
_FIELDS = (*_COLUMNS, "title")
_SELECTED = ("vault", "checksum", *_COLUMNS)
_CURRENT = f"""
    SELECT {", ".join(f"fact.{column}" for column in _SELECTED)}, conversation.title
    FROM fact NOT INDEXED LEFT JOIN conversation ON conversation.id = fact.conversation_id
    WHERE fact.vault = :vault
        AND fact.ended_at IS NULL
        AND (:key IS NULL OR fact.key = :key)
    ORDER BY fact.seq DESC
"""
_END = "UPDATE fact SET ended_at = ? WHERE vault = ? AND key = ? AND ended_at IS NULL"
_RECORD_ACCESS = """
    UPDATE fact SET last_accessed = ? WHERE vault = ? AND key = ? AND ended_at IS NULL
"""


class SqliteFactStore(FactStore):
    """The facts in the store's file, and how often its conversations used each note."""

    def __init__(self, connection: StoreConnection) -> None:
        self._connection = connection

    def vaults(self) -> tuple[str, ...]:
        query = "SELECT DISTINCT vault FROM fact WHERE ended_at IS NULL ORDER BY vault"
        with self._connection.reading("read what was remembered") as db:
            return tuple(vault for (vault,) in db.execute(query))

    def current(self, vault: str) -> tuple[Fact, ...]:
        with self._connection.reading("read what was remembered") as db:
            return _read(db, vault)

    def remember(self, vault: str, fact: Fact) -> Fact | None:
        with self._connection.writing("remember") as db:
            replaced = _read_one(db, vault, fact.key)
            db.execute(_END, (fact.created_at, vault, fact.key))
            row = {"vault": replace_surrogates(vault)} | rows.column_values(fact, _COLUMNS)
            insert_row(db, "fact", row | {"checksum": _checksum(row)})
            return replaced

    def forget(self, vault: str, key: str) -> Fact | None:
        with self._connection.writing("forget") as db:
            fact = _read_one(db, vault, key)
            db.execute("DELETE FROM fact WHERE vault = ? AND key = ?", (vault, key))
            return fact

    def often_cited(self, vault: str) -> tuple[NoteUsage, ...]:
        with self._connection.reading("look for notes that are often cited") as db:
            return note_usage.often_cited(db, vault)

    def most_used_notes(self, vault: str, most: int) -> tuple[NoteUsage, ...]:
        with self._connection.reading("count the uses of notes") as db:
            return note_usage.most_used(db, vault, most)


def record_access(connection: sqlite3.Connection, vault: str, keys: Sequence[str], at: str) -> None:
    """Store when these facts were last used, inside the caller's transaction."""
    connection.executemany(_RECORD_ACCESS, [(at, vault, key) for key in keys])


def is_intact(row: Mapping[str, Any]) -> bool:
    """Whether the columns of a fact are as they were stored."""
    return bool(_checksum(row) == row["checksum"])


def _checksum(row: Mapping[str, Any]) -> int:
    return checksum(
        None, row["vault"], row["key"], row["content"], row["source"], row["created_at"]
    )


def _read(connection: sqlite3.Connection, vault: str, key: str | None = None) -> tuple[Fact, ...]:
    """The current facts, or that of `key`, newest first, without damaged ones."""
    facts: list[Fact] = []
    for values in connection.execute(_CURRENT, {"vault": vault, "key": key}):
        row = dict(zip((*_SELECTED, "title"), values, strict=True))
        if is_intact(row):
            facts.append(Fact.model_validate({name: row[name] for name in _FIELDS}))
    return tuple(facts)


def _read_one(connection: sqlite3.Connection, vault: str, key: str) -> Fact | None:
    return next(iter(_read(connection, vault, key)), None)
