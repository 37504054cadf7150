"""How often the conversations with a vault used its notes, counted in the table `mention`."""

import sqlite3

from zkchat_cli.models.notes import NoteUsage

# Notes that are listed as often cited
_MOST_CITED = 30
# Only so many of the newest messages count for the notes that are often cited
_RECENT_MESSAGES = 20_000

_ANSWER = "iif(message.role = 'assistant', message.seq, NULL)"
_COUNTS = f"""
    SELECT
        mention.relative_path,
        count(DISTINCT message.conversation_id) AS conversations,
        count(DISTINCT {_ANSWER}) AS answers,
        sum(mention.citations) AS citations,
        max(message.timestamp) AS last_used
    FROM message
    JOIN mention ON mention.message_seq = message.seq
    JOIN conversation ON conversation.id = message.conversation_id
    WHERE conversation.vault = :vault
"""
_OFTEN_CITED = f"""
    {_COUNTS}
    AND message.seq > (SELECT max(seq) FROM message) - :recent
    AND mention.how = 'cited'
    GROUP BY mention.relative_path
    HAVING conversations > 1
    ORDER BY conversations DESC, last_used DESC
    LIMIT :most
"""
_MOST_USED = f"""
    {_COUNTS}
    AND mention.how <> 'memory'
    GROUP BY mention.relative_path
    ORDER BY answers DESC, citations DESC, conversations DESC, mention.relative_path
    LIMIT :most
"""


def often_cited(connection: sqlite3.Connection, vault: str) -> tuple[NoteUsage, ...]:
    """The notes that more than one conversation with `vault` cited, most conversations first."""
    values = {"vault": vault, "recent": _RECENT_MESSAGES, "most": _MOST_CITED}
    return _read(connection, _OFTEN_CITED, values)


def most_used(connection: sqlite3.Connection, vault: str, most: int) -> tuple[NoteUsage, ...]:
    """The notes that answers in `vault`'s conversations used, most answers first."""
    return _read(connection, _MOST_USED, {"vault": vault, "most": most})


def _read(
    connection: sqlite3.Connection, query: str, values: dict[str, object]
) -> tuple[NoteUsage, ...]:
    names = tuple(NoteUsage.model_fields)
    found = connection.execute(query, values)
    return tuple(NoteUsage(**dict(zip(names, row, strict=True))) for row in found)
