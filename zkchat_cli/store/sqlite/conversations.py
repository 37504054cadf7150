"""The table `conversation`. Triggers keep the figures of its messages in it (see `schema`)."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from zkchat_cli.errors import StoreError
from zkchat_cli.models.conversations import Conversation, ConversationOverview
from zkchat_cli.store.sqlite import rows
from zkchat_cli.store.sqlite.codec import checksum
from zkchat_cli.text.truncate import truncate

_COLUMNS = (*rows.CONVERSATION, "messages", "tokens", "question", "checksum")
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM conversation"
_NEWEST_FIRST = "ORDER BY julianday(updated_at) DESC, updated_at DESC, seq DESC"
"""By the instant, not by the text: an imported conversation may have another time zone."""
# Conversations that a hint lists, and the characters of their titles
_MOST_LISTED = 5
_TITLE_IN_HINT = 60


def read(connection: sqlite3.Connection, conversation_id: str) -> ConversationOverview:
    """Raises StoreError for an unknown id; its hint lists the most recent conversations."""
    row = connection.execute(f"{_SELECT} WHERE id = ?", (conversation_id,)).fetchone()
    if row is None:
        raise StoreError(f"there is no conversation {conversation_id}", _recent_hint(connection))
    return _to_overview(row)


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
    found = [_to_overview(row) for row in connection.execute(query, {"prefix": prefix})]
    exact = [conversation for conversation in found if conversation.id == prefix]
    if exact:
        return exact[0]
    if not found:
        raise StoreError(
            f"no conversation has an id that begins with {prefix!r}", _recent_hint(connection)
        )
    if len(found) > 1:
        raise StoreError(
            f"{prefix!r} is the beginning of {len(found)} conversations: {_format_list(found)}",
            "Give more of the id.",
        )
    return found[0]


def _most_recent(connection: sqlite3.Connection, vault: str | None) -> ConversationOverview:
    for conversation in newest_first(connection, vault, limit=1):
        return conversation
    where = f" with {vault}" if vault else ""
    hint = f'Start one: zkchat ask "…", or name one by its id. {_recent_hint(connection)}'
    raise StoreError(f"there is no conversation{where} yet", hint)


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
    return [_to_overview(row) for row in found]


def insert(connection: sqlite3.Connection, conversation: Conversation) -> None:
    """Store a new conversation."""
    rows.insert(connection, "conversation", rows.column_values(conversation, rows.CONVERSATION))
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


def is_intact(row: Mapping[str, Any]) -> bool:
    """Whether title and question of a conversation are as they were stored."""
    now = checksum(None, row["id"], row["vault"], row["title"], row["question"])
    return row["checksum"] in (None, now)


def _to_overview(row: Sequence[Any]) -> ConversationOverview:
    """A damaged title is replaced by one that says so."""
    values = dict(zip(_COLUMNS, row, strict=True))
    if not is_intact(values):
        values["title"] = rows.DAMAGED_TITLE
        values["question"] = None
    lines = str(values["question"] or "").strip().splitlines()
    values["first_line"] = lines[0].strip() if lines else None
    return ConversationOverview.model_validate(
        {name: values[name] for name in ConversationOverview.model_fields}
    )


def _recent_hint(connection: sqlite3.Connection) -> str:
    recent = newest_first(connection, limit=_MOST_LISTED)
    return f"The most recent ones: {_format_list(recent)}" if recent else "The store is empty."


def _format_list(conversations: Sequence[Conversation]) -> str:
    listed = ", ".join(_describe(each) for each in conversations[:_MOST_LISTED])
    others = len(conversations) - _MOST_LISTED
    return f"{listed} and {others} more" if others > 0 else listed


def _describe(conversation: Conversation) -> str:
    title = truncate(conversation.title or "untitled", _TITLE_IN_HINT)
    date = conversation.updated_at[:10]
    return f"{conversation.id} ({title}, {date})"
