"""The table `compaction`: summaries and what they mask. Undone ones stay, because past prompts contained them; and so does the last preview
of each conversation, which no prompt ever had."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from zkchat_cli.models import Compaction
from zkchat_cli.store import conversations, rows

_FIELDS = ("id", "created_at", "last_id", "undone")
COLUMNS = (*_FIELDS, "packed")
"""The columns that `to_compaction` takes, in this order."""
PREVIEW = 2
"""The value of `undone` that marks a preview."""
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM compaction"


def insert(connection: sqlite3.Connection, conversation_id: str, compaction: Compaction) -> None:
    """Store a summary that replaces the messages it covers in prompts; the messages stay."""
    conversation_id = conversations.read(connection, conversation_id).id
    packed = rows.compress(rows.other_fields(compaction, _FIELDS))
    state = {"undone": PREVIEW} if compaction.preview else {}
    fields = rows.column_values(compaction, _FIELDS) | {"conversation_id": conversation_id, "packed": packed} | state
    rows.insert(connection, "compaction", fields)


def keep_preview(connection: sqlite3.Connection, conversation_id: str, preview: Compaction) -> None:
    """Store what the last preview of a compaction showed, so that the compaction itself need not ask a model again."""
    connection.execute("DELETE FROM compaction WHERE conversation_id = ? AND undone = ?", (conversation_id, PREVIEW))
    insert(connection, conversation_id, preview)


def preview(connection: sqlite3.Connection, conversation_id: str) -> Compaction | None:
    row = connection.execute(f"{_SELECT} WHERE conversation_id = ? AND undone = ?", (conversation_id, PREVIEW)).fetchone()
    return None if row is None else to_compaction(row)


def read(connection: sqlite3.Connection, conversation_id: str, *, undone: bool = False) -> tuple[Compaction, ...]:
    """The compactions in force, oldest first; with `undone` also those that were taken back."""
    conversation_id = conversations.read(connection, conversation_id).id
    query = f"{_SELECT} WHERE conversation_id = ? AND undone <= ? ORDER BY seq"
    return tuple(map(to_compaction, connection.execute(query, (conversation_id, undone))))


def undo(connection: sqlite3.Connection, conversation_id: str, compaction_id: str | None = None) -> Compaction | None:
    """Take back this compaction, or the last one in force of any branch, and return it; None if there is none."""
    conversation_id = conversations.read(connection, conversation_id).id
    query = f"{_SELECT} WHERE conversation_id = ? AND NOT undone AND id = coalesce(?, id) ORDER BY seq DESC LIMIT 1"
    row = connection.execute(query, (conversation_id, compaction_id)).fetchone()
    if row is None:
        return None
    connection.execute("UPDATE compaction SET undone = 1 WHERE id = ?", (row[0],))
    return to_compaction(row)


def with_summary(connection: sqlite3.Connection, conversation: int, compaction_id: str) -> Compaction | None:
    """The compaction with the summary that a prompt had: this one or, if it only masks, the nearest one before it that has a summary.

    `conversation` is the number of the conversation that both belong to.
    """
    [owner] = connection.execute("SELECT id FROM conversation WHERE seq = ?", (conversation,)).fetchone()
    query = f"""{_SELECT} WHERE conversation_id = :owner
        AND undone <> {PREVIEW} AND seq <= (SELECT seq FROM compaction WHERE id = :id AND conversation_id = :owner) ORDER BY seq DESC"""
    found = map(to_compaction, connection.execute(query, {"owner": owner, "id": compaction_id}))
    return next((compaction for compaction in found if compaction.summary), None)


def to_compaction(row: Sequence[Any]) -> Compaction:
    *values, packed = row
    fields = dict(zip(_FIELDS, values, strict=True))
    return Compaction.model_validate(rows.decompress(packed) | fields | {"undone": bool(fields["undone"])})
