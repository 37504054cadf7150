"""How often the conversations with a vault used its notes, counted in the table `mention`."""

from zkchat_cli.models.notes import NoteUsage
from zkchat_cli.store.postgres.postgres_connection import PostgresDatabase

# Notes that are listed as often cited
_MOST_CITED = 30
# Only so many of the newest messages count for the notes that are often cited
_RECENT_MESSAGES = 20_000

_COUNTS = """
    SELECT
        mention.relative_path,
        count(DISTINCT message.conversation_seq) AS conversations,
        count(DISTINCT message.seq) FILTER (WHERE message.role = 'assistant') AS answers,
        sum(mention.citations)::bigint AS citations,
        max(message.timestamp COLLATE "C") AS last_used
    FROM message
    JOIN mention ON mention.message_seq = message.seq AND mention.owner = message.owner
    JOIN conversation ON conversation.seq = message.conversation_seq
    WHERE conversation.vault = %(vault)s
"""
_OFTEN_CITED = f"""
    {_COUNTS}
    AND message.seq > coalesce((
        SELECT seq FROM message AS newer ORDER BY seq DESC OFFSET %(recent)s LIMIT 1
    ), 0)
    AND mention.how = 'cited'
    GROUP BY mention.relative_path
    HAVING count(DISTINCT message.conversation_seq) > 1
    ORDER BY conversations DESC, last_used DESC
    LIMIT %(most)s
"""
_MOST_USED = f"""
    {_COUNTS}
    AND mention.how <> 'memory'
    GROUP BY mention.relative_path
    ORDER BY answers DESC, citations DESC, conversations DESC, mention.relative_path
    LIMIT %(most)s
"""


def often_cited(db: PostgresDatabase, vault: str) -> tuple[NoteUsage, ...]:
    """The notes that more than one conversation with `vault` cited, most conversations first."""
    values = {"vault": vault, "recent": _RECENT_MESSAGES, "most": _MOST_CITED}
    return _read(db, _OFTEN_CITED, values)


def most_used(db: PostgresDatabase, vault: str, most: int) -> tuple[NoteUsage, ...]:
    """The notes that answers in `vault`'s conversations used, most answers first."""
    return _read(db, _MOST_USED, {"vault": vault, "most": most})


def _read(db: PostgresDatabase, query: str, values: dict[str, object]) -> tuple[NoteUsage, ...]:
    names = tuple(NoteUsage.model_fields)
    found = db.execute(query, values)
    return tuple(NoteUsage(**dict(zip(names, row, strict=True))) for row in found)
