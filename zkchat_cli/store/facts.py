"""The table `fact`: what the user asked to remember, by vault and key. One fact per key is current;
those it replaced are its history.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from zkchat_cli.models.facts import Fact
from zkchat_cli.store import rows
from zkchat_cli.text.words import replace_surrogates

COLUMNS = (
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
_FACT = f"""
    SELECT {", ".join(f"fact.{column}" for column in ("vault", "checksum", *COLUMNS))}, conversation.title
    FROM fact NOT INDEXED LEFT JOIN conversation ON conversation.id = fact.conversation_id
    WHERE fact.vault = :vault AND fact.ended_at IS NULL AND (:key IS NULL OR fact.key = :key) ORDER BY fact.seq DESC
"""


def remember(connection: sqlite3.Connection, vault: str, fact: Fact) -> Fact | None:
    """Make `fact` the current one of its key; returns the one it replaces."""
    replaced = _current(connection, vault, fact.key)
    end = "UPDATE fact SET ended_at = ? WHERE vault = ? AND key = ? AND ended_at IS NULL"
    connection.execute(end, (fact.created_at, vault, fact.key))
    row = {"vault": replace_surrogates(vault)} | rows.column_values(fact, COLUMNS)
    rows.insert(connection, "fact", row | {"checksum": _checksum(row)})
    return replaced


def read(connection: sqlite3.Connection, vault: str, key: str | None = None) -> tuple[Fact, ...]:
    """The current facts, or that of `key`, newest first, without damaged ones."""
    found = connection.execute(_FACT, {"vault": vault, "key": key})
    read = [dict(zip(("vault", "checksum", *COLUMNS, "title"), row, strict=True)) for row in found]
    return tuple(
        Fact.model_validate({name: row[name] for name in (*COLUMNS, "title")})
        for row in read
        if is_intact(row)
    )


def forget(connection: sqlite3.Connection, vault: str, key: str) -> Fact | None:
    """Delete the key with its history; returns the fact that was current."""
    fact = _current(connection, vault, key)
    connection.execute("DELETE FROM fact WHERE vault = ? AND key = ?", (vault, key))
    return fact


def without_vectors(
    connection: sqlite3.Connection, vault: str, embedder: str, limit: int
) -> dict[int, str]:
    """Current facts without vectors of `embedder`, by their rows."""
    sql = """SELECT seq, content FROM fact WHERE vault = ? AND ended_at IS NULL
             AND NOT EXISTS (SELECT 1 FROM fact_vector WHERE fact_seq = seq AND embedder = ?) ORDER BY seq DESC LIMIT ?"""
    return dict(connection.execute(sql, (vault, embedder, limit)).fetchall())


def add_vectors(
    connection: sqlite3.Connection, embedder: str, vectors: Mapping[int, bytes]
) -> None:
    """Store the packed vectors of facts, by their rows, in place of another embedder's; of those
    that are still current.
    """
    sql = (
        "INSERT OR REPLACE INTO fact_vector SELECT seq, ?, ? FROM fact WHERE seq = ? AND "
        "ended_at IS NULL"
    )
    connection.executemany(sql, [(embedder, packed, seq) for seq, packed in vectors.items()])


def vectors(connection: sqlite3.Connection, vault: str, embedder: str) -> dict[str, bytes]:
    """The packed vectors of the current facts, by their keys; none for a fact in a language that
    the embedder does not know.
    """
    sql = (
        "SELECT key, passages FROM fact_vector JOIN fact ON seq = fact_seq WHERE vault = ? AND "
        "ended_at IS NULL AND embedder = ?"
    )
    return dict(connection.execute(sql, (vault, embedder)).fetchall())


def record_access(connection: sqlite3.Connection, vault: str, keys: Sequence[str], at: str) -> None:
    update = "UPDATE fact SET last_accessed = ? WHERE vault = ? AND key = ? AND ended_at IS NULL"
    connection.executemany(update, [(at, vault, key) for key in keys])


def _current(connection: sqlite3.Connection, vault: str, key: str) -> Fact | None:
    return next(iter(read(connection, vault, key)), None)


def is_intact(row: Mapping[str, Any]) -> bool:
    """Whether the columns of a fact are as they were stored."""
    return bool(_checksum(row) == row["checksum"])


def _checksum(row: Mapping[str, Any]) -> int:
    return rows.checksum(
        None, *(row[name] for name in ("vault", "key", "content", "source", "created_at"))
    )
