"""The table `conversation`. Triggers keep the figures of its messages in it (see schema)."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from zkchat_cli.errors import StoreError
from zkchat_cli.models import Conversation, ConversationOverview
from zkchat_cli.store import rows
from zkchat_cli.text.truncate import truncate

_COLUMNS = (*rows.CONVERSATION, "messages", "tokens", "question", "checksum")
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM conversation"
_NEWEST_FIRST = "ORDER BY julianday(updated_at) DESC, updated_at DESC, seq DESC"
"""By the instant, not by the text: an imported conversation may have another time zone."""


def read(connection: sqlite3.Connection, conversation_id: str) -> ConversationOverview:
    """Raises StoreError for an unknown id; its hint lists the most recent conversations."""
    row = connection.execute(f"{_SELECT} WHERE id = ?", (conversation_id,)).fetchone()
    if row is None:
        raise StoreError(f"there is no conversation {conversation_id}", _recent_hint(connection))
    return _to_overview(row)


def find(connection: sqlite3.Connection, prefix: str | None, vault: str | None) -> ConversationOverview:
    """The conversation with this id or unique prefix of it, in any vault; None: the most recently updated one of `vault`."""
    if prefix is None:
        newest = newest_first(connection, vault, 1)
        if not newest:
            where = f" with {vault}" if vault else ""
            how = f'Start one: zkchat ask "…", or name one by its id. {_recent_hint(connection)}'
            raise StoreError(f"there is no conversation{where} yet", how.strip())
        return newest[0]
    query = f"{_SELECT} WHERE :prefix <> '' AND substr(id, 1, length(:prefix)) = :prefix {_NEWEST_FIRST}"
    found = [_to_overview(row) for row in connection.execute(query, {"prefix": prefix})]
    exact = [conversation for conversation in found if conversation.id == prefix]
    if len(found) == 1 or exact:
        return (exact or found)[0]
    if not found:
        raise StoreError(f"no conversation has an id that begins with {prefix!r}", _recent_hint(connection))
    raise StoreError(f"{prefix!r} is the beginning of {len(found)} conversations: {_format_list(found)}", "Give more of the id.")


def newest_first(connection: sqlite3.Connection, vault: str | None = None, limit: int | None = None) -> list[ConversationOverview]:
    """Those of `vault` (None: of all vaults), the most recently updated first."""
    query = f"{_SELECT} WHERE :vault IS NULL OR vault = :vault {_NEWEST_FIRST} LIMIT :limit"
    found = connection.execute(query, {"vault": vault, "limit": -1 if limit is None else limit})
    return [_to_overview(row) for row in found]


def insert(connection: sqlite3.Connection, conversation: Conversation) -> None:
    """Store a new conversation."""
    rows.insert(connection, "conversation", rows.column_values(conversation, rows.CONVERSATION))
    _store_checksum(connection, conversation.id)


def rename(connection: sqlite3.Connection, conversation_id: str, title: str) -> None:
    update(connection, conversation_id, "title = ?", title)


def move_head(connection: sqlite3.Connection, conversation_id: str, message_id: str | None) -> None:
    """Make another message the end of the current branch; None: the conversation's empty beginning."""
    update(connection, conversation_id, "head_id = ?", message_id)


def update(connection: sqlite3.Connection, conversation_id: str, assignments: str, *values: str | None) -> None:
    """Change columns of a conversation. Raises StoreError as `read` does."""
    if connection.execute(f"UPDATE conversation SET {assignments} WHERE id = ?", (*values, conversation_id)).rowcount == 0:
        read(connection, conversation_id)
    _store_checksum(connection, conversation_id)


def _store_checksum(connection: sqlite3.Connection, conversation_id: str) -> None:
    """Store the checksum of a conversation after its title or question has changed."""
    update = "UPDATE conversation SET checksum = checksum(NULL, id, vault, title, question) WHERE id = ? AND checksum IS NULL"
    connection.execute(update, (conversation_id,))


def is_intact(row: Mapping[str, Any]) -> bool:
    """Whether title and question of a conversation are as they were stored."""
    return row["checksum"] in (None, rows.checksum(None, row["id"], row["vault"], row["title"], row["question"]))


def _to_overview(row: Sequence[Any]) -> ConversationOverview:
    """A damaged title is replaced by one that says so."""
    values = dict(zip(_COLUMNS, row, strict=True))
    if not is_intact(values):
        values |= {"title": rows.DAMAGED_TITLE, "question": None}
    lines = str(values["question"] or "").strip().splitlines()
    values["first_line"] = lines[0].strip() if lines else None
    return ConversationOverview.model_validate({name: values[name] for name in ConversationOverview.model_fields})


def _recent_hint(connection: sqlite3.Connection) -> str:
    recent = newest_first(connection, limit=5)
    return f"The most recent ones: {_format_list(recent)}" if recent else "The store is empty."


def _format_list(conversations: Sequence[Conversation]) -> str:
    names = [f"{c.id} ({truncate(c.title or 'untitled', 60)}, {c.updated_at[:10]})" for c in conversations[:5]]
    return ", ".join(names) + (f" and {len(conversations) - 5} more" if len(conversations) > 5 else "")
