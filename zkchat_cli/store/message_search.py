"""Full-text search over all messages: the table `message_index`, whose words are those of `words.to_index_text`.

Every branch is searched, and so are the results of tools: search finds what a prompt leaves out or masks.
"""

import sqlite3
from collections.abc import Mapping

from zkchat_cli.models import FoundMessage
from zkchat_cli.store import rows
from zkchat_cli.store.database import transaction
from zkchat_cli.text.words import content_terms, to_index_text

MOST_INDEXED = 200_000
"""Characters of a message that are indexed: a pasted book is found by its beginning."""
MOST_TERMS = 32
BATCH = 500
"""Messages that are indexed in one transaction: about 30 ms, during which nobody else can write."""

MOST_RANKED = 10_000
"""Messages that FTS5 ranks for one search: it walks through a million in 30 ms, but needs a second to rank them. So the rare words of a
query choose the messages; its common words count only where it has no rare ones."""

_RANKED = "SELECT rowid, -bm25(message_index) FROM message_index WHERE message_index MATCH ? ORDER BY bm25(message_index), rowid DESC"
_FOUND = f"""
    SELECT conversation.id, conversation.title, {", ".join(f"message.{column}" for column in rows.MESSAGE)}
    FROM message CROSS JOIN conversation ON conversation.id = message.conversation_id
    WHERE message.seq = :seq AND (:vault IS NULL OR conversation.vault = :vault) AND (:only IS NULL OR conversation.id = :only)
        AND message.status <> 'pending'
"""
"""Without the question that is being answered now."""


def index_messages(connection: sqlite3.Connection) -> None:
    """Index the messages stored since the last search; between its transactions other processes can write."""
    while True:
        with transaction(connection):
            if not _index_batch(connection):
                return


def _index_batch(connection: sqlite3.Connection) -> int:
    query = "SELECT message.seq, message.content FROM unindexed JOIN message ON message.seq = unindexed.message_seq LIMIT ?"
    found = [(seq, content, to_index_text(content[:MOST_INDEXED])) for seq, content in connection.execute(query, (BATCH,))]
    different = [(seq, words) for seq, content, words in found if words != content]
    connection.executemany("INSERT INTO index_words (message_seq, words) VALUES (?, ?)", different)
    connection.executemany("INSERT INTO message_index (rowid, words) VALUES (?, ?)", [(seq, words) for seq, _, words in found])
    connection.executemany("DELETE FROM unindexed WHERE message_seq = ?", [(seq,) for seq, *_ in found])
    return len(found)


def search(connection: sqlite3.Connection, vault: str | None, text: str, only: str | None, limit: int) -> tuple[FoundMessage, ...]:
    """The messages most relevant to `text`, best first; of the conversation `only`, or of all in `vault` (None: in any vault)."""
    terms = list(dict.fromkeys(content_terms(text)))[:MOST_TERMS]
    frequencies = {term: count for term in terms if (count := _frequency(connection, term))}
    if not frequencies or limit <= 0:
        return ()
    rare = _rare_terms(frequencies)
    query = " OR ".join(map(_quoted, rare)) if rare else " AND ".join(map(_quoted, frequencies))
    found: list[FoundMessage] = []
    for seq, score in connection.execute(_RANKED, (query,)):
        row = connection.execute(_FOUND, {"seq": seq, "vault": vault, "only": only}).fetchone()
        if row is not None:
            id_, title, *columns = row
            message = rows.to_message(tuple(columns))
            if message.status != "damaged":
                found.append(FoundMessage(conversation_id=id_, title=title, score=score, message=message))
        if len(found) == limit:
            break
    return tuple(found)


def _frequency(connection: sqlite3.Connection, term: str) -> int:
    """How many messages have a term; counting stops where it is a common one."""
    query = "SELECT count(*) FROM (SELECT 1 FROM message_index WHERE message_index MATCH ? LIMIT ?)"
    count: int = connection.execute(query, (_quoted(term), MOST_RANKED)).fetchone()[0]
    return count


def _rare_terms(frequencies: Mapping[str, int]) -> list[str]:
    """The rarest terms, as many as have together at most MOST_RANKED messages."""
    rare, total = [], 0
    for term in sorted(frequencies, key=lambda term: frequencies[term]):
        total += frequencies[term]
        if total > MOST_RANKED or frequencies[term] >= MOST_RANKED:
            break
        rare.append(term)
    return rare


def _quoted(term: str) -> str:
    return f'"{term}"'
