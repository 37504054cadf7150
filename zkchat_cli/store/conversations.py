"""Conversations by their labels: the table `conversation`, which keeps beside each the figures of its messages (see migrations)."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from zkchat_cli.errors import StoreError
from zkchat_cli.models import Conversation, ConversationArchive, ConversationSummary
from zkchat_cli.store import rows
from zkchat_cli.store.prompt_codec import storable

_LABEL = ", ".join(rows.CONVERSATION)
_CONVERSATION = f"SELECT {_LABEL} FROM conversation"

_OVERVIEW = f"SELECT {_LABEL}, messages, tokens, question FROM conversation"

_NEWEST_FIRST = "ORDER BY julianday(updated_at) DESC, updated_at DESC, seq DESC"
"""By the instant, not by its spelling: an imported conversation may bring another zone."""


def read(connection: sqlite3.Connection, conversation_id: str) -> Conversation:
    """Raises StoreError, with the most recent ones, when there is none of that id."""
    row = connection.execute(f"{_CONVERSATION} WHERE id = ?", (storable(conversation_id),)).fetchone()
    if row is None:
        raise StoreError(f"there is no conversation {conversation_id}", _recent(connection))
    return rows.to_conversation(row)


def find(connection: sqlite3.Connection, prefix: str | None, vault: str | None) -> Conversation:
    """The conversation with this id or the only one whose id begins so, of any vault; None: `vault`'s most recently updated."""
    if prefix is None:
        newest = newest_first(connection, vault, 1)
        if not newest:
            where = f" with {vault}" if vault else ""
            how = f'Start one: zkchat ask "…", or name one by its id. {_recent(connection)}'
            raise StoreError(f"there is no conversation{where} yet", how.strip())
        return newest[0]
    query = f"{_CONVERSATION} WHERE :prefix <> '' AND substr(id, 1, length(:prefix)) = :prefix {_NEWEST_FIRST}"
    found = _conversations(connection.execute(query, {"prefix": storable(prefix)}))
    whole = [conversation for conversation in found if conversation.id == prefix]
    if len(found) == 1 or whole:
        return (whole or found)[0]
    if not found:
        raise StoreError(f"there is no conversation whose id begins with {prefix!r}", _recent(connection))
    raise StoreError(f"{prefix!r} is the beginning of {len(found)} conversations: {_named(found)}", "Give more of the id.")


def newest_first(connection: sqlite3.Connection, vault: str | None = None, limit: int | None = None) -> list[Conversation]:
    query = f"{_CONVERSATION} WHERE :vault IS NULL OR vault = :vault {_NEWEST_FIRST} LIMIT :limit"
    return _conversations(connection.execute(query, _which(vault, limit)))


def untouched_since(connection: sqlite3.Connection, before: str) -> tuple[str, ...]:
    """The ids of those that were last updated before a time (ISO 8601 with zone)."""
    query = "SELECT id FROM conversation WHERE julianday(updated_at) < julianday(?)"
    return tuple(id_ for (id_,) in connection.execute(query, (before,)))


def is_known(connection: sqlite3.Connection, archive: ConversationArchive) -> bool:
    """Whether the store has one of its ids already, or has not forgotten it yet: its deletion goes on."""
    wanted = {
        "conversation": [archive.conversation.id],
        "message": [message.id for message in archive.messages],
        "compaction": [compaction.id for compaction in archive.compactions],
    }
    forgetting = "SELECT 1 FROM erased WHERE conversation_id = ?"
    return connection.execute(forgetting, (storable(archive.conversation.id),)).fetchone() is not None or any(
        connection.execute(f"SELECT 1 FROM {table} WHERE id = ?", (storable(one),)).fetchone()
        for table, ids in wanted.items()
        for one in ids
    )


def overviews(connection: sqlite3.Connection, vault: str | None, limit: int | None) -> list[ConversationSummary]:
    """`newest_first`, each with its figures."""
    query = f"{_OVERVIEW} WHERE :vault IS NULL OR vault = :vault {_NEWEST_FIRST} LIMIT :limit"
    return [_overview(row) for row in connection.execute(query, _which(vault, limit))]


def overview(connection: sqlite3.Connection, conversation_id: str) -> ConversationSummary:
    """One with its figures. Raises StoreError as `read` does."""
    known = read(connection, conversation_id)
    return _overview(connection.execute(f"{_OVERVIEW} WHERE id = ?", (storable(known.id),)).fetchone())


def _overview(row: Sequence[Any]) -> ConversationSummary:
    *label, messages, tokens, question = row
    first = next(iter(str(question or "").strip().splitlines()), "").strip()
    values = dict(zip(rows.CONVERSATION, label, strict=True))  # validated once: a list may have thousands
    return ConversationSummary.model_validate({**values, "messages": messages, "tokens": tokens, "first_line": first or None})


def _which(vault: str | None, limit: int | None) -> dict[str, str | int | None]:
    return {"vault": vault and storable(vault), "limit": -1 if limit is None else limit}


def _conversations(found: Iterable[tuple[str, ...]]) -> list[Conversation]:
    return [rows.to_conversation(row) for row in found]


def _recent(connection: sqlite3.Connection) -> str:
    recent = newest_first(connection, limit=5)
    return f"The most recent ones: {_named(recent)}" if recent else "The store holds none yet."


def _named(conversations: Sequence[Conversation]) -> str:
    shown = [f"{c.id} ({c.title or 'untitled'}, {c.updated_at[:10]})" for c in conversations[:5]]
    return ", ".join(shown) + (f" and {len(conversations) - 5} more" if len(conversations) > 5 else "")
