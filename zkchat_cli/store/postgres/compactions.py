"""The table `compaction`. Compactions that were taken back stay, because past prompts contained
them; and so does the last preview of each conversation, which no prompt ever had.
"""

from collections.abc import Sequence
from typing import Any

from zkchat_cli.models.compaction import Compaction
from zkchat_cli.store import codec, rows
from zkchat_cli.store.postgres.conversations import ConversationRow
from zkchat_cli.store.postgres.postgres_connection import PostgresDatabase

_FIELDS = ("id", "created_at", "last_id", "undone")
# The values of `undone` besides 0: taken back, and a preview, which was never in force
_TAKEN_BACK = 1
_PREVIEW = 2
_SELECT = f"SELECT {', '.join(_FIELDS)}, packed FROM compaction"
_INSERT = """
    INSERT INTO compaction (conversation_seq, owner, id, created_at, last_id, undone, packed)
    VALUES (
        %(seq)s, %(owner)s, %(id)s, %(created_at)s, %(last_id)s, %(undone)s, %(packed)s
    )
"""
_SUMMARY_OF = f"""
    {_SELECT}
    WHERE conversation_seq = %s
        AND undone <> {_PREVIEW}
        AND seq <= (
            SELECT seq FROM compaction AS last
            WHERE last.id = %s AND last.conversation_seq = compaction.conversation_seq
        )
    ORDER BY seq DESC
"""


def insert(db: PostgresDatabase, row: ConversationRow, compaction: Compaction) -> None:
    """Store a summary that replaces the messages it covers in prompts, or what a preview of one
    showed, instead of the preview before.
    """
    values = rows.column_values(compaction, _FIELDS) | row._asdict()
    values["packed"] = codec.compress(rows.other_fields(compaction, _FIELDS))
    values["undone"] = _TAKEN_BACK if compaction.undone else 0
    if compaction.preview:
        query = "DELETE FROM compaction WHERE conversation_seq = %s AND undone = %s"
        db.execute(query, (row.seq, _PREVIEW))
        values["undone"] = _PREVIEW
    db.execute(_INSERT, values)


def read_preview(db: PostgresDatabase, conversation_seq: int) -> Compaction | None:
    """What the last preview of a compaction showed; None if there is none."""
    query = f"{_SELECT} WHERE conversation_seq = %s AND undone = %s"
    row = db.execute(query, (conversation_seq, _PREVIEW)).fetchone()
    return None if row is None else _to_compaction(row)


def read(
    db: PostgresDatabase, conversation_seq: int, *, undone: bool = False
) -> tuple[Compaction, ...]:
    """The compactions in force, oldest first; with `undone` also those that were taken back."""
    query = f"{_SELECT} WHERE conversation_seq = %s AND undone <= %s ORDER BY seq"
    return tuple(map(_to_compaction, db.execute(query, (conversation_seq, int(undone)))))


def undo(
    db: PostgresDatabase, conversation_seq: int, compaction_id: str | None
) -> Compaction | None:
    """Take back this compaction, or the last one in force of any branch, and return it; None if
    there is none.
    """
    query = f"""
        {_SELECT}
        WHERE conversation_seq = %s AND undone = 0 AND id = coalesce(%s, id)
        ORDER BY seq DESC LIMIT 1
    """
    row = db.execute(query, (conversation_seq, compaction_id)).fetchone()
    if row is None:
        return None
    compaction = _to_compaction(row)
    update = "UPDATE compaction SET undone = %s WHERE conversation_seq = %s AND id = %s"
    db.execute(update, (_TAKEN_BACK, conversation_seq, compaction.id))
    return compaction


def with_summary(
    db: PostgresDatabase, conversation_seq: int, compaction_id: str
) -> Compaction | None:
    """The compaction with the summary that a prompt had: this one or, if it only masks, the nearest
    one before it that has a summary.
    """
    for row in db.execute(_SUMMARY_OF, (conversation_seq, compaction_id)):
        compaction = _to_compaction(row)
        if compaction.summary:
            return compaction
    return None


def _to_compaction(row: Sequence[Any]) -> Compaction:
    *values, packed = row
    fields = codec.decompress(packed) | dict(zip(_FIELDS, values, strict=True))
    fields["undone"] = fields["undone"] == _TAKEN_BACK
    return Compaction.model_validate(fields)
