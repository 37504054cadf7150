"""Full-text search over everything that was ever said: the table `spoken`, a row a message, whose words are those of `words.indexed`.

The words themselves are kept only where they are others than the content: in `spelling`.

Every branch is searched, and so are the results of tools: what a prompt leaves out or masks is found here again.
"""

import sqlite3

from zkchat_cli.models import Said
from zkchat_cli.store import rows
from zkchat_cli.words import content_terms, indexed

LONGEST = 200_000
"""Characters of a message that are indexed: a pasted book is found by how it begins."""
MOST_TERMS = 32
AT_ONCE = 1000

_SEARCH = f"""
    SELECT conversation.id, conversation.title, -bm25(spoken), {", ".join(f"message.{column}" for column in (*rows.MESSAGE, *rows.ASIDE))}
    FROM spoken CROSS JOIN message ON message.seq = spoken.rowid CROSS JOIN conversation ON conversation.id = message.conversation_id
    WHERE spoken MATCH :query AND (:vault IS NULL OR conversation.vault = :vault) AND (:only IS NULL OR conversation.id = :only)
        AND message.status <> 'pending'
    ORDER BY bm25(spoken), message.seq DESC LIMIT :limit
"""
"""A question that is still being answered is not what it asks for."""


def index(connection: sqlite3.Connection) -> bool:
    """Make messages searchable that wait for it, some at a time; whether there were any."""
    waiting = "SELECT message.seq, message.content FROM unspoken JOIN message ON message.seq = unspoken.message_seq LIMIT ?"
    found = [(seq, content, indexed(content[:LONGEST])) for seq, content in connection.execute(waiting, (AT_ONCE,))]
    other = [(seq, words) for seq, content, words in found if words != content]
    connection.executemany("INSERT INTO spelling (message_seq, words) VALUES (?, ?)", other)
    connection.executemany("INSERT INTO spoken (rowid, words) VALUES (?, ?)", [(seq, words) for seq, _, words in found])
    connection.executemany("DELETE FROM unspoken WHERE message_seq = ?", [(seq,) for seq, *_ in found])
    return bool(found)


def search(connection: sqlite3.Connection, vault: str | None, text: str, only: str | None, limit: int) -> tuple[Said, ...]:
    """The messages that have most of the words of `text`, best first; of the conversation `only`, or of all with `vault` (None: any)."""
    terms = list(dict.fromkeys(content_terms(text)))[:MOST_TERMS]
    if not terms:
        return ()
    query = " OR ".join(f'"{term}"' for term in terms)
    found = connection.execute(_SEARCH, {"query": query, "vault": vault, "only": only, "limit": limit})
    return tuple(Said(conversation_id=id_, title=title, score=score, message=rows.to_message(row)) for id_, title, score, *row in found)
