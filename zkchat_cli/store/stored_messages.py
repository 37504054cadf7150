"""Messages of a conversation by their ids: stored, updated and read. The store itself reads whole conversations."""

import sqlite3
from collections.abc import Sequence

from zkchat_cli.errors import StoreError
from zkchat_cli.models import ZkChatMessage
from zkchat_cli.store import conversations, note_usage, rows
from zkchat_cli.text.words import replace_surrogates

_READ = f"SELECT {', '.join(rows.MESSAGE)} FROM message WHERE +conversation_id = ? AND id IN ({{}})"
"""With the + SQLite looks for the ids, and not through the whole conversation."""
_CHECKSUM = "checksum({0}packed, id, parent_id, role, content, timestamp, {0}rest)"
_UPDATE = f"""
    UPDATE message SET rest = :rest, packed = :packed,
        checksum = CASE checksum WHEN {_CHECKSUM.format("")} THEN {_CHECKSUM.format(":")} ELSE checksum END {{}}
    WHERE id = :id AND conversation_id = :conversation_id"""
"""A damaged message stays damaged."""
_ID = rows.MESSAGE.index("id")


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


def read(connection: sqlite3.Connection, conversation_id: str, ids: Sequence[str]) -> tuple[ZkChatMessage, ...]:
    """These messages, in this order; one that is damaged or gone says so."""
    select, values = _READ.format(", ".join("?" * len(ids))), (conversation_id, *map(replace_surrogates, ids))
    found = {row[_ID]: row for row in connection.execute(select, values)}
    return tuple(rows.to_message(found[id_]) if id_ in found else rows.damaged_message(id_) for id_ in map(replace_surrogates, ids))
