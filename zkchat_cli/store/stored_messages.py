"""Storing a message, and reading some of a conversation by their ids; the log as a whole is read by the store itself."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from zkchat_cli.models import SpokenMessage, ZkChatMessage
from zkchat_cli.store import note_usage, rows
from zkchat_cli.store.sqlite_errors import read_leniently
from zkchat_cli.text.words import replace_surrogates

_THESE = "FROM message WHERE +conversation_id = ? AND id IN ({})"
"""With the + SQLite looks for the ids, and not through the whole conversation."""
_READ = f"SELECT {', '.join(rows.MESSAGE)} {_THESE}"
_COUNT = f"SELECT count(*) {_THESE}"
_ID, _ROLE, _CONTENT, _TIMESTAMP = (rows.MESSAGE.index(name) for name in ("id", "role", "content", "timestamp"))


def insert(connection: sqlite3.Connection, conversation_id: str, message: ZkChatMessage) -> None:
    row = rows.from_message(message) | {"conversation_id": replace_surrogates(conversation_id)}
    note_usage.add(connection, rows.insert(connection, "message", row), message)


def has_all(connection: sqlite3.Connection, conversation_id: str, ids: Sequence[str]) -> bool:
    """Whether all of these messages are stored."""
    return bool(_select(connection, _COUNT, conversation_id, ids).fetchone()[0] == len(ids))


def read(connection: sqlite3.Connection, conversation_id: str, ids: Sequence[str]) -> tuple[ZkChatMessage, ...]:
    """These messages, in this order; one that is damaged or gone says so."""
    found = {row[_ID]: row for row in _fetch(connection, conversation_id, ids)}
    return tuple(rows.to_message(found[id_]) if id_ in found else rows.lost_message(id_) for id_ in map(replace_surrogates, ids))


def read_spoken(
    connection: sqlite3.Connection, conversation_id: str, ids: Sequence[str], *, links: bool = False
) -> tuple[SpokenMessage, ...]:
    """What the user and the model said in these messages, in this order, without what is damaged or gone; with `links` to documents on
    demand, since reading them takes as long again."""
    found = {row[_ID]: row for row in _fetch(connection, conversation_id, ids, f"{_READ} AND role <> 'tool' AND content <> ''")}
    intact = (row for id_ in map(replace_surrogates, ids) if (row := found.get(id_)) is not None and rows.is_intact(row))
    return tuple(SpokenMessage(row[_ID], row[_ROLE], row[_CONTENT], row[_TIMESTAMP], rows.links(row) if links else ()) for row in intact)


def _fetch(connection: sqlite3.Connection, conversation_id: str, ids: Sequence[str], query: str = _READ) -> Iterable[tuple[Any, ...]]:
    return read_leniently(connection, lambda: _select(connection, query, conversation_id, ids).fetchall())


def _select(connection: sqlite3.Connection, query: str, conversation_id: str, ids: Sequence[str]) -> sqlite3.Cursor:
    return connection.execute(query.format(", ".join("?" * len(ids))), (conversation_id, *map(replace_surrogates, ids)))
