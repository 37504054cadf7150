"""The table `compaction`. Compactions that were taken back stay, because past prompts contained
them; and so does the last preview of each conversation, which no prompt ever had.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any

from zkchat_cli.models.compaction import Compaction
from zkchat_cli.store import codec, rows
from zkchat_cli.store.sqlite.database import insert_row

_FIELDS = ("id", "created_at", "last_id", "undone")
# The values of `undone` besides 0: taken back, and a preview, which was never in force
_TAKEN_BACK = 1
_PREVIEW = 2
_SELECT = f"SELECT {', '.join(_FIELDS)}, packed FROM compaction"
_SUMMARY_OF = f"""
    {_SELECT}
    WHERE conversation_id = ?
        AND undone <> {_PREVIEW}
        AND seq <= (
            SELECT seq FROM compaction AS last
            WHERE last.id = ? AND last.conversation_id = compaction.conversation_id
        )
    ORDER BY seq DESC
"""


def insert(connection: sqlite3.Connection, conversation_id: str, compaction: Compaction) -> None:
    """Store a summary that replaces the messages it covers in prompts, or what a preview of one
    showed, instead of the preview before.
    """
    row = rows.column_values(compaction, _FIELDS)
    row["conversation_id"] = conversation_id
    row["packed"] = codec.compress(rows.other_fields(compaction, _FIELDS))
    if compaction.preview:
        connection.execute(
            "DELETE FROM compaction WHERE conversation_id = ? AND undone = ?",
            (conversation_id, _PREVIEW),
        )
        row["undone"] = _PREVIEW
    insert_row(connection, "compaction", row)


def read_preview(connection: sqlite3.Connection, conversation_id: str) -> Compaction | None:
    """What the last preview of a compaction showed; None if there is none."""
    row = connection.execute(
        f"{_SELECT} WHERE conversation_id = ? AND undone = ?", (conversation_id, _PREVIEW)
    ).fetchone()
    return None if row is None else _to_compaction(row)


def read(
    connection: sqlite3.Connection, conversation_id: str, *, undone: bool = False
) -> tuple[Compaction, ...]:
    """The compactions in force, oldest first; with `undone` also those that were taken back."""
    query = f"{_SELECT} WHERE conversation_id = ? AND undone <= ? ORDER BY seq"
    return tuple(map(_to_compaction, connection.execute(query, (conversation_id, undone))))


def undo(
    connection: sqlite3.Connection, conversation_id: str, compaction_id: str | None
) -> Compaction | None:
    """Take back this compaction, or the last one in force of any branch, and return it; None if
    there is none.
    """
    query = f"""
        {_SELECT}
        WHERE conversation_id = ? AND NOT undone AND id = coalesce(?, id)
        ORDER BY seq DESC LIMIT 1
    """
    row = connection.execute(query, (conversation_id, compaction_id)).fetchone()
    if row is None:
        return None
    compaction = _to_compaction(row)
    update = "UPDATE compaction SET undone = ? WHERE id = ?"
    connection.execute(update, (_TAKEN_BACK, compaction.id))
    return compaction


def with_summary(
    connection: sqlite3.Connection, conversation_id: str, compaction_id: str
) -> Compaction | None:
    """The compaction with the summary that a prompt had: this one or, if it only masks, the nearest
    one before it that has a summary.
    """
    for row in connection.execute(_SUMMARY_OF, (conversation_id, compaction_id)):
        compaction = _to_compaction(row)
        if compaction.summary:
            return compaction
    return None


def _to_compaction(row: Sequence[Any]) -> Compaction:
    *values, packed = row
    fields = codec.decompress(packed) | dict(zip(_FIELDS, values, strict=True))
    fields["undone"] = fields["undone"] == _TAKEN_BACK
    return Compaction.model_validate(fields)
