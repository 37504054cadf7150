"""The table `fact`: what the user asked to remember, by vault and key. One fact per key is current;
those it replaced are its history. A shared fact is read by everybody, and changed by its owner.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from zkchat_cli.models.facts import Fact
from zkchat_cli.models.notes import NoteUsage
from zkchat_cli.store import rows
from zkchat_cli.store.codec import checksum
from zkchat_cli.store.port import FactStore
from zkchat_cli.store.postgres import note_usage
from zkchat_cli.store.postgres.postgres_connection import (
    PostgresConnection,
    PostgresDatabase,
    clean_value,
)
from zkchat_cli.store.vault_names import SAME_NAMES, VaultNames

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
# The user's own fact counts more than somebody else's with the same key
_CURRENT = f"""
    SELECT {", ".join(f"fact.{column}" for column in _SELECTED)}, (
        SELECT title FROM conversation WHERE id = fact.conversation_id ORDER BY seq LIMIT 1
    )
    FROM (
        SELECT DISTINCT ON (key) * FROM fact
        WHERE vault = %(vault)s
            AND ended_at IS NULL
            AND (%(key)s::text IS NULL OR key = %(key)s)
            AND (NOT %(own)s OR owner = me())
        ORDER BY key, owner = me() DESC, seq DESC
    ) AS fact
    ORDER BY fact.seq DESC
"""
_MINE = "owner = me() AND vault = %s AND key = %s"
_END = f"UPDATE fact SET ended_at = %s WHERE {_MINE} AND ended_at IS NULL"
_INSERT = f"""
    INSERT INTO fact (vault, checksum, shared, {", ".join(_COLUMNS)})
    VALUES (
        %(vault)s, %(checksum)s, %(shared)s, {", ".join(f"%({column})s" for column in _COLUMNS)}
    )
"""


class PostgresFactStore(FactStore):
    """The facts on the server, and how often its conversations used each note."""

    def __init__(self, connection: PostgresConnection, names: VaultNames = SAME_NAMES) -> None:
        self._connection = connection
        self._names = names

    def vaults(self) -> tuple[str, ...]:
        query = 'SELECT DISTINCT vault COLLATE "C" FROM fact WHERE ended_at IS NULL ORDER BY 1'
        with self._connection.reading("read what was remembered") as db:
            return tuple(self._names.local(vault) for (vault,) in db.execute(query))

    def current(self, vault: str) -> tuple[Fact, ...]:
        with self._connection.reading("read what was remembered") as db:
            return _read(db, self._names.stored(vault))

    def remember(self, vault: str, fact: Fact) -> Fact | None:
        vault = self._names.stored(vault)
        with self._connection.writing("remember") as db:
            replaced = _read_one(db, vault, fact.key)
            db.execute(_END, (fact.created_at, vault, fact.key))
            columns = rows.column_values(fact, _COLUMNS)
            row = {name: clean_value(value) for name, value in columns.items()}
            row["vault"] = clean_value(vault)
            row["shared"] = False
            db.execute(_INSERT, row | {"checksum": row_checksum(row)})
            return replaced

    def forget(self, vault: str, key: str) -> Fact | None:
        vault = self._names.stored(vault)
        with self._connection.writing("forget") as db:
            fact = _read_one(db, vault, key)
            db.execute(f"DELETE FROM fact WHERE {_MINE}", (vault, key))
            return fact

    def often_cited(self, vault: str) -> tuple[NoteUsage, ...]:
        with self._connection.reading("look for notes that are often cited") as db:
            return note_usage.often_cited(db, self._names.stored(vault))

    def most_used_notes(self, vault: str, most: int) -> tuple[NoteUsage, ...]:
        with self._connection.reading("count the uses of notes") as db:
            return note_usage.most_used(db, self._names.stored(vault), most)


def record_access(db: PostgresDatabase, vault: str, keys: Sequence[str], at: str) -> None:
    """Store when these facts of the user were last used, inside the caller's transaction."""
    query = f"UPDATE fact SET last_accessed = %s WHERE {_MINE} AND ended_at IS NULL"
    db.executemany(query, [(at, vault, key) for key in keys])


def _is_intact(row: Mapping[str, Any]) -> bool:
    return bool(row_checksum(row) == row["checksum"])


def row_checksum(row: Mapping[str, Any]) -> int:
    """The checksum of the columns of a fact that do not change."""
    return checksum(
        None, row["vault"], row["key"], row["content"], row["source"], row["created_at"]
    )


def _read(
    db: PostgresDatabase, vault: str, key: str | None = None, *, own: bool = False
) -> tuple[Fact, ...]:
    """The current facts, or that of `key`, newest first, without damaged ones."""
    facts: list[Fact] = []
    for values in db.execute(_CURRENT, {"vault": vault, "key": key, "own": own}):
        row = dict(zip((*_SELECTED, "title"), values, strict=True))
        if _is_intact(row):
            facts.append(Fact.model_validate({name: row[name] for name in _FIELDS}))
    return tuple(facts)


def _read_one(db: PostgresDatabase, vault: str, key: str) -> Fact | None:
    """The user's own current fact of a key."""
    return next(iter(_read(db, vault, key, own=True)), None)
