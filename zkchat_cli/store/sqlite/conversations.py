"""The table `conversation`. Triggers keep the figures of its messages in it (see `schema`)."""

import sqlite3
from functools import partial

from zkchat_cli.models.conversations import Conversation, ConversationOverview
from zkchat_cli.store import rows
from zkchat_cli.store.conversation_rows import (
    COLUMNS,
    MOST_LISTED,
    choose,
    no_conversation_yet,
    taken_id,
    to_overview,
    unknown_conversation,
)
from zkchat_cli.store.sqlite.database import insert_row

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM conversation"
_NEWEST_FIRST = "ORDER BY julianday(updated_at) DESC, updated_at DESC, seq DESC"
"""By the instant, not by the text: an imported conversation may have another time zone."""


def read(connection: sqlite3.Connection, conversation_id: str) -> ConversationOverview:
    """Raises StoreError for an unknown id; its hint lists the most recent conversations."""
    row = connection.execute(f"{_SELECT} WHERE id = ?", (conversation_id,)).fetchone()
    if row is None:
        raise unknown_conversation(conversation_id, _recent(connection))
    return to_overview(row)


def exists(connection: sqlite3.Connection, conversation_id: str) -> bool:
    """Whether a conversation with exactly this id is stored."""
    query = "SELECT 1 FROM conversation WHERE id = ?"
    return connection.execute(query, (conversation_id,)).fetchone() is not None


def find(
    connection: sqlite3.Connection, prefix: str | None, vault: str | None
) -> ConversationOverview:
    """The conversation with this id or unique prefix of it, in any vault; None: the most recently
    updated one of `vault`. Raises StoreError.
    """
    if prefix is None:
        return _most_recent(connection, vault)
    query = f"""
        {_SELECT}
        WHERE :prefix <> '' AND substr(id, 1, length(:prefix)) = :prefix
        {_NEWEST_FIRST}
    """
    found = [to_overview(row) for row in connection.execute(query, {"prefix": prefix})]
    chosen = choose(prefix, found, partial(_recent, connection))
    return next(conversation for conversation in found if conversation.id == chosen)


def _most_recent(connection: sqlite3.Connection, vault: str | None) -> ConversationOverview:
    for conversation in newest_first(connection, vault, limit=1):
        return conversation
    raise no_conversation_yet(vault, _recent(connection))


def newest_first(
    connection: sqlite3.Connection, vault: str | None = None, limit: int | None = None
) -> list[ConversationOverview]:
    """The conversations of `vault` (None: of all vaults), the most recently updated first."""
    query = f"""
        {_SELECT}
        WHERE :vault IS NULL OR vault = :vault
        {_NEWEST_FIRST}
        LIMIT coalesce(:limit, -1)
    """
    found = connection.execute(query, {"vault": vault, "limit": limit})
    return [to_overview(row) for row in found]


def insert(connection: sqlite3.Connection, conversation: Conversation) -> None:
    """Store a new conversation. Raises ConversationExists if one has its id."""
    if exists(connection, conversation.id):
        raise taken_id(conversation.id)
    insert_row(connection, "conversation", rows.column_values(conversation, rows.CONVERSATION))
    _store_checksum(connection, conversation.id)


def update(
    connection: sqlite3.Connection, conversation_id: str, assignments: str, *values: str | None
) -> None:
    """Change columns of a conversation, such as `"title = ?"`. Raises StoreError as `read` does."""
    cursor = connection.execute(
        f"UPDATE conversation SET {assignments} WHERE id = ?", (*values, conversation_id)
    )
    if cursor.rowcount == 0:
        read(connection, conversation_id)
    _store_checksum(connection, conversation_id)


def _store_checksum(connection: sqlite3.Connection, conversation_id: str) -> None:
    """Store the checksum of a conversation after its title or question has changed."""
    connection.execute(
        """
        UPDATE conversation SET checksum = checksum(NULL, id, vault, title, question)
        WHERE id = ? AND checksum IS NULL
        """,
        (conversation_id,),
    )


def _recent(connection: sqlite3.Connection) -> list[ConversationOverview]:
    return newest_first(connection, limit=MOST_LISTED)
