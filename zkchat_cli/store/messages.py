"""Messages of a conversation by their ids, and the table `mention`: which messages used a note."""

import sqlite3
from collections.abc import Sequence

from zkchat_cli.errors import StoreError
from zkchat_cli.models import NoteUsage, ZkChatMessage
from zkchat_cli.store import conversations, rows
from zkchat_cli.text.words import replace_surrogates

MOST_NOTES = 30
RECENT_MESSAGES = 20_000
"""Only this many of the newest messages count for the notes that are often cited."""

_READ = f"SELECT {', '.join(rows.MESSAGE)} FROM message WHERE +conversation_id = ? AND id IN ({{}})"
"""With the + SQLite looks for the ids, and not through the whole conversation."""
_CHECKSUM = "checksum({0}packed, id, parent_id, role, content, timestamp, {0}rest)"
_UPDATE = f"""
    UPDATE message SET rest = :rest, packed = :packed,
        checksum = CASE checksum WHEN {_CHECKSUM.format("")} THEN {_CHECKSUM.format(":")} ELSE checksum END {{}}
    WHERE id = :id AND conversation_id = :conversation_id"""
"""A damaged message stays damaged."""
_KINDS = {"direct": "named", "search": "found"}
_NOTES = """
    SELECT mention.relative_path, count(DISTINCT message.conversation_id),
        count(DISTINCT iif(message.role = 'assistant', message.seq, NULL)), sum(mention.citations), max(message.timestamp)
    FROM message JOIN mention ON mention.message_seq = message.seq JOIN conversation ON conversation.id = message.conversation_id
    WHERE conversation.vault = :vault AND {} GROUP BY mention.relative_path {} LIMIT :most
"""
_OFTEN_CITED = _NOTES.format(
    "message.seq > (SELECT max(seq) FROM message) - :recent AND mention.how = 'cited'",
    "HAVING count(DISTINCT message.conversation_id) > 1 ORDER BY 2 DESC, 5 DESC",
)
_MOST_USED = _NOTES.format("mention.how <> 'memory'", "ORDER BY 3 DESC, 4 DESC, 2 DESC, 1")


def insert(connection: sqlite3.Connection, conversation_id: str, message: ZkChatMessage, *, seq: int | None = None) -> None:
    row = rows.from_message(message) | {"seq": seq, "conversation_id": conversation_id}
    _add_mentions(connection, rows.insert(connection, "message", row), message)


def update(connection: sqlite3.Connection, conversation_id: str, message: ZkChatMessage, *, with_status: bool = False) -> None:
    """Store the fields of a message that are not its words. Raises StoreError if the conversation has no such message."""
    row = rows.from_message(message) | {"conversation_id": conversation_id}
    if connection.execute(_UPDATE.format(", status = :status" if with_status else ""), row).rowcount == 0:
        conversations.read(connection, conversation_id)
        raise StoreError(f"The message {message.id} is not in conversation {conversation_id}", "Nothing was changed.")
    [seq] = connection.execute("SELECT seq FROM message WHERE id = ?", (message.id,)).fetchone()
    connection.execute("DELETE FROM mention WHERE message_seq = ?", (seq,))
    _add_mentions(connection, seq, message)


def read(connection: sqlite3.Connection, conversation_id: str, ids: Sequence[str]) -> tuple[ZkChatMessage, ...]:
    """These messages, in this order; one that is damaged or gone says so."""
    found = connection.execute(_READ.format(", ".join("?" * len(ids))), (conversation_id, *ids))
    by_id = {row[0]: row for row in found}
    return tuple(rows.to_message(by_id[id_]) if id_ in by_id else rows.damaged_message(id_) for id_ in map(replace_surrogates, ids))


def _add_mentions(connection: sqlite3.Connection, seq: int, message: ZkChatMessage) -> None:
    """Store the notes that a question or answer with this number references and cites."""
    if message.role not in ("user", "assistant"):
        return
    uses: dict[tuple[str, str, int], list[int]] = {}
    for reference in message.references:
        if reference.relative_path is not None:
            kind = _KINDS.get(reference.reference_type, reference.reference_type)
            uses.setdefault((reference.relative_path, kind, reference.number or 0), [0, 0])
    for citation in message.citations:
        if citation.relative_path is not None:
            counts = uses.setdefault((citation.relative_path, "cited", citation.number or 0), [0, 0])
            counts[0] += 1
            counts[1] += citation.valid
    connection.executemany("INSERT OR IGNORE INTO mention VALUES (?, ?, ?, ?, ?, ?)", [(seq, *use, *uses[use]) for use in uses])


def often_cited_notes(connection: sqlite3.Connection, vault: str) -> tuple[NoteUsage, ...]:
    """The notes that more than one conversation with `vault` cited, most conversations first."""
    return _read_usage(connection, _OFTEN_CITED, {"vault": vault, "recent": RECENT_MESSAGES, "most": MOST_NOTES})


def most_used_notes(connection: sqlite3.Connection, vault: str, most: int) -> tuple[NoteUsage, ...]:
    """The notes that answers in `vault`'s conversations used, most answers first."""
    return _read_usage(connection, _MOST_USED, {"vault": vault, "most": most})


def _read_usage(connection: sqlite3.Connection, query: str, values: dict[str, object]) -> tuple[NoteUsage, ...]:
    return tuple(NoteUsage(**dict(zip(NoteUsage.model_fields, row, strict=True))) for row in connection.execute(query, values))
