"""The table `mention`: which messages used a note."""

import sqlite3

from zkchat_cli.models import NoteUsage, ZkChatMessage
from zkchat_cli.text.words import replace_surrogates

_KINDS = {"direct": "named", "search": "found"}

MOST_NOTES = 30
RECENT_MESSAGES = 20_000
"""Only this many of the newest messages count for the notes that are often cited."""

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


def update(connection: sqlite3.Connection, message: ZkChatMessage) -> None:
    """Store the notes of a message again, in place of those stored before."""
    [seq] = connection.execute("SELECT seq FROM message WHERE id = ?", (replace_surrogates(message.id),)).fetchone()
    connection.execute("DELETE FROM mention WHERE message_seq = ?", (seq,))
    add(connection, seq, message)


def add(connection: sqlite3.Connection, seq: int, message: ZkChatMessage) -> None:
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
    rows = [(seq, replace_surrogates(path), kind, number, *counts) for (path, kind, number), counts in uses.items()]
    connection.executemany("INSERT OR IGNORE INTO mention VALUES (?, ?, ?, ?, ?, ?)", rows)


def often_cited(connection: sqlite3.Connection, vault: str) -> tuple[NoteUsage, ...]:
    """The notes that more than one conversation with `vault` cited, most conversations first."""
    return _read(connection, _OFTEN_CITED, {"vault": replace_surrogates(vault), "recent": RECENT_MESSAGES, "most": MOST_NOTES})


def most_used(connection: sqlite3.Connection, vault: str, most: int) -> tuple[NoteUsage, ...]:
    """The notes that answers in `vault`'s conversations used, most answers first."""
    return _read(connection, _MOST_USED, {"vault": replace_surrogates(vault), "most": most})


def _read(connection: sqlite3.Connection, query: str, values: dict[str, object]) -> tuple[NoteUsage, ...]:
    found = connection.execute(query, values)
    return tuple(NoteUsage(**dict(zip(NoteUsage.model_fields, row, strict=True))) for row in found)
