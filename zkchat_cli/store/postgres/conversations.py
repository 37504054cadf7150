"""The table `conversation`. The functions that store messages keep their figures in it, and a
trigger its checksum.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from psycopg import Cursor

from zkchat_cli.errors import StoreError, StoreUnwritable
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
from zkchat_cli.store.postgres.postgres_connection import PostgresDatabase, clean_value

_SELECT = f"SELECT nullif(owner, me()), {', '.join(COLUMNS)} FROM conversation"
# Somebody may share a conversation that the user has imported, too: the user's own comes first
_OWN_FIRST = "ORDER BY owner = me() DESC, seq LIMIT 1"
_NEWEST_FIRST = "ORDER BY changed_at DESC, seq DESC"
"""By the server's clock (see `schema`): those of the clients may differ."""
_LOCK = f"""
    SELECT seq, owner, vault FROM conversation WHERE id = %s {_OWN_FIRST} FOR NO KEY UPDATE
"""
_INSERT = """
    INSERT INTO conversation (
        id, vault, title, created_at, updated_at, head_id, documents, changed_at
    ) VALUES (
        %(id)s, %(vault)s, %(title)s, %(created_at)s, %(updated_at)s, %(head_id)s,
        %(documents)s, least(zkchat_time(%(updated_at)s), clock_timestamp())
    )
"""


class ConversationRow(NamedTuple):
    """How the rows of a conversation are found: all of them have its number and its owner."""

    seq: int
    owner: str


def read(db: PostgresDatabase, conversation_id: str) -> ConversationOverview:
    """Raises StoreError for an unknown id; its hint lists the most recent conversations."""
    row = db.execute(f"{_SELECT} WHERE id = %s {_OWN_FIRST}", (conversation_id,)).fetchone()
    if row is None:
        raise unknown_conversation(conversation_id, _recent(db))
    return _to_overview(row)


def _to_overview(row: Sequence[Any]) -> ConversationOverview:
    """The overview of a row that `_SELECT` found."""
    owner, *columns = row
    return to_overview(columns, owner)


def find_row(db: PostgresDatabase, conversation_id: str) -> ConversationRow:
    """Where a conversation is. Raises StoreError for an unknown id."""
    query = f"SELECT seq, owner FROM conversation WHERE id = %s {_OWN_FIRST}"
    row = db.execute(query, (conversation_id,)).fetchone()
    if row is None:
        raise unknown_conversation(conversation_id, _recent(db))
    return ConversationRow._make(row)


class LockedConversation(NamedTuple):
    """Where a conversation is, and the vault it belongs to."""

    row: ConversationRow
    vault: str


def lock(db: PostgresDatabase, conversation_id: str) -> LockedConversation:
    """A conversation that, until the end of the transaction, only this client writes: others wait.
    Raises StoreError for an unknown id, and for a conversation that may only be read.
    """
    return read_lock(db, conversation_id, ask_for_lock(db, conversation_id))


def ask_for_lock(db: PostgresDatabase, conversation_id: str) -> Cursor[Any]:
    """The beginning of `lock`; `read_lock` is its end. What is asked in between is asked in the
    same round trip, and answered when the conversation is locked.
    """
    return db.execute(_LOCK, (conversation_id,))


def read_lock(db: PostgresDatabase, conversation_id: str, asked: Cursor[Any]) -> LockedConversation:
    """The end of `lock`."""
    found = asked.fetchone()
    if found is None:
        raise not_writable(db, conversation_id)
    seq, owner, vault = found
    return LockedConversation(ConversationRow(seq, owner), vault)


def not_writable(db: PostgresDatabase, conversation_id: str) -> StoreError:
    """Why a conversation could not be locked. Raises StoreError for an unknown id."""
    row = find_row(db, conversation_id)
    return StoreUnwritable(
        f"The conversation {conversation_id} of {row.owner} is shared with you to read",
        f"Ask {row.owner} to share it with --write, or begin a conversation of your own.",
    )


def exists(db: PostgresDatabase, conversation_id: str) -> bool:
    """Whether a conversation with exactly this id is stored that the user may see."""
    query = "SELECT 1 FROM conversation WHERE id = %s"
    return db.execute(query, (conversation_id,)).fetchone() is not None


def find(db: PostgresDatabase, prefix: str | None, vault: str | None) -> ConversationOverview:
    """The conversation with this id or unique prefix of it, in any vault; None: the most recently
    updated one of `vault`. Raises StoreError.
    """
    if prefix is None:
        return _most_recent(db, vault)
    query = f"""
        {_SELECT}
        WHERE %(prefix)s <> '' AND starts_with(id, %(prefix)s)
        ORDER BY owner = me() DESC, changed_at DESC, seq DESC
    """
    found: dict[str, ConversationOverview] = {}
    for row in db.execute(query, {"prefix": prefix}):
        conversation = _to_overview(row)
        found.setdefault(conversation.id, conversation)
    return found[choose(clean_value(prefix), [*found.values()], partial(_recent, db))]


def _most_recent(db: PostgresDatabase, vault: str | None) -> ConversationOverview:
    for conversation in newest_first(db, vault, limit=1):
        return conversation
    raise no_conversation_yet(vault, _recent(db))


def newest_first(
    db: PostgresDatabase, vault: str | None = None, limit: int | None = None
) -> list[ConversationOverview]:
    """The conversations of `vault` (None: of all vaults), the most recently updated first."""
    where = "" if vault is None else "WHERE vault = %(vault)s"
    query = f"{_SELECT} {where} {_NEWEST_FIRST} LIMIT %(limit)s"
    return [_to_overview(row) for row in db.execute(query, {"vault": vault, "limit": limit})]


def insert(db: PostgresDatabase, conversation: Conversation) -> None:
    """Store a new conversation of this user. Raises ConversationExists if the user sees one with
    its id.
    """
    if exists(db, conversation.id):
        raise taken_id(conversation.id)
    values = {
        name: clean_value(value)
        for name, value in rows.column_values(conversation, rows.CONVERSATION).items()
    }
    db.execute(_INSERT, values)


def update(db: PostgresDatabase, seq: int, assignments: str, *values: Any) -> None:
    """Change columns of a conversation, such as `"title = %s"`."""
    db.execute(f"UPDATE conversation SET {assignments} WHERE seq = %s", (*values, seq))


def _recent(db: PostgresDatabase) -> list[ConversationOverview]:
    return newest_first(db, limit=MOST_LISTED)
