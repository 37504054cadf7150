"""Messages of a conversation by their ids: stored, updated and read. The store itself reads whole conversations."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from zkchat_cli.errors import StoreError
from zkchat_cli.models import SpokenMessage, ZkChatMessage
from zkchat_cli.store import conversations, note_usage, rows
from zkchat_cli.store.sqlite_errors import read_leniently
from zkchat_cli.text.words import replace_surrogates

_THESE = "FROM message WHERE +conversation_id = ? AND id IN ({})"
"""With the + SQLite looks for the ids, and not through the whole conversation."""
_READ = f"SELECT {', '.join(rows.MESSAGE)} {_THESE}"
_READ_IDS = f"SELECT id {_THESE}"
_CHECKSUM = "checksum({0}packed, id, parent_id, role, content, timestamp, {0}rest)"
_UPDATE = f"""
    UPDATE message SET rest = :rest, packed = :packed,
        checksum = CASE checksum WHEN {_CHECKSUM.format("")} THEN {_CHECKSUM.format(":")} ELSE checksum END {{}}
    WHERE id = :id AND conversation_id = :conversation_id"""
"""A damaged message stays damaged."""
_ID, _ROLE, _CONTENT, _TIMESTAMP = (rows.MESSAGE.index(name) for name in ("id", "role", "content", "timestamp"))


def insert(connection: sqlite3.Connection, conversation_id: str, message: ZkChatMessage) -> None:
    row = rows.from_message(message) | {"conversation_id": replace_surrogates(conversation_id)}
    note_usage.add(connection, rows.insert(connection, "message", row), message)


def update(connection: sqlite3.Connection, conversation_id: str, message: ZkChatMessage, *, with_status: bool = False) -> None:
    """Store the fields of a message that are not its words. Raises StoreError if the conversation has no such message."""
    row = rows.from_message(message) | {"conversation_id": replace_surrogates(conversation_id)}
    if connection.execute(_UPDATE.format(", status = :status" if with_status else ""), row).rowcount == 0:
        conversations.read(connection, conversation_id)
        raise StoreError(f"The message {message.id} is not in conversation {conversation_id}", "Nothing was changed.")
    note_usage.update(connection, message)


def has_all(connection: sqlite3.Connection, conversation_id: str, ids: Sequence[str]) -> bool:
    """Whether all of these messages are stored."""
    return len(_fetch(connection, conversation_id, ids, _READ_IDS)) == len(ids)


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


def _fetch(connection: sqlite3.Connection, conversation_id: str, ids: Sequence[str], query: str = _READ) -> list[tuple[Any, ...]]:
    select, values = query.format(", ".join("?" * len(ids))), (conversation_id, *map(replace_surrogates, ids))
    return read_leniently(connection, lambda: connection.execute(select, values).fetchall())
