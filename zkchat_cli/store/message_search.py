"""Finding messages: by words in the table `message_index`, which has those of `words.to_index_text`, and by meaning in `message_vector`.

Every branch is searched, and so are the results of tools: search finds what a prompt leaves out or masks. The index has words as they were
written, so a word of a query is looked for in all its forms in the index.

A row of `message_vector` has the vectors of a message's passages one after the other, as 8-bit integers; none if the model does not know
the message's language. They can be computed again: no export has them, and a repaired store is without them.
"""

import sqlite3
from collections.abc import Mapping

from zkchat_cli.models import FoundMessage
from zkchat_cli.store import rows
from zkchat_cli.store.database import transaction
from zkchat_cli.text.words import ENGLISH, content_terms, rarest_first, stem, to_index_text

MOST_INDEXED = 200_000
"""Characters of a message that are indexed: a pasted book is found by its beginning."""
MOST_TERMS = 32
BATCH = 500
"""Messages that are indexed in one transaction: about 30 ms, during which nobody else can write."""

SHORTEST_STEM = 3
"""Letters. Shorter words are looked for as they are."""
MOST_FORMS = 1_000
"""Words of the index that are compared with a word of a query."""

MOST_RANKED = 10_000
"""Messages that FTS5 ranks for one search: it walks through a million in 30 ms, but needs a second to rank them. So the rare words of a
query choose the messages; its common words count only where it has no rare ones."""

_UNINDEXED = "SELECT message.seq, message.content FROM unindexed JOIN message ON message.seq = unindexed.message_seq LIMIT ?"
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM message_index WHERE message_index MATCH ? LIMIT ?)"
_RANKED = "SELECT rowid, -bm25(message_index) FROM message_index WHERE message_index MATCH ? ORDER BY bm25(message_index), rowid DESC"
_FOUND = f"""
    SELECT conversation.id, conversation.title, {", ".join(f"message.{column}" for column in rows.MESSAGE)}
    FROM message CROSS JOIN conversation ON conversation.id = message.conversation_id
    WHERE message.seq = :message AND (:vault IS NULL OR conversation.vault = :vault) AND (:only IS NULL OR conversation.id = :only)
        AND (:tool_results OR message.role <> 'tool')
"""
_VOCABULARY = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.message_vocabulary USING fts5vocab(main, message_index, row)"
_SAME_BEGINNING = "SELECT term FROM temp.message_vocabulary WHERE term >= :prefix AND term < :prefix || char(0x10ffff) LIMIT :most"

_WITHOUT_VECTORS = """
    SELECT message.seq, message.id, message.content
    FROM message JOIN conversation ON conversation.id = message.conversation_id
    WHERE conversation.vault = :vault AND message.seq < :before AND message.role IN ('user', 'assistant') AND trim(message.content) <> ''
        AND NOT EXISTS (SELECT 1 FROM message_vector WHERE message_seq = message.seq AND embedder = :embedder)
    ORDER BY message.seq DESC LIMIT :limit
"""
_ADD_VECTORS = """
    INSERT OR REPLACE INTO message_vector (conversation_seq, message_seq, embedder, passages)
    SELECT conversation.seq, message.seq, :embedder, :passages
    FROM message JOIN conversation ON conversation.id = message.conversation_id WHERE message.id = :id
"""
_VECTORS = """
    SELECT message_vector.seq, message.id, passages FROM message_vector JOIN message ON message.seq = message_seq
    WHERE conversation_seq = (SELECT seq FROM conversation WHERE id = :conversation) AND message_vector.seq > :after
        AND embedder = :embedder
    ORDER BY message_vector.seq
"""


def search(
    connection: sqlite3.Connection,
    vault: str | None,
    text: str,
    *,
    conversation_id: str | None = None,
    limit: int = 10,
    languages: tuple[str, ...] = (ENGLISH,),
    tool_results: bool = True,
) -> tuple[FoundMessage, ...]:
    """The messages most relevant to `text`, best first: of one conversation, or of all in `vault` (None: in any vault).

    Words are found in any form that they have in `languages`. Without `tool_results` only questions and answers are: what tools returned is
    in the notes. Messages stored since the last search are indexed first: usually in no time, but a million imported ones take 20 s.
    """
    _index_messages(connection)
    connection.execute(_VOCABULARY)
    queries = dict.fromkeys(_any_form_query(connection, term, languages) for term in dict.fromkeys(content_terms(text)[:MOST_TERMS]))
    counts = {query: connection.execute(_COUNT, (query, MOST_RANKED + 1)).fetchone()[0] for query in queries}  # stops at a common word
    frequencies = {query: count for query, count in counts.items() if count}
    if not frequencies or limit <= 0:
        return ()
    rare = rarest_first(frequencies, frequencies, MOST_RANKED)
    query = " OR ".join(rare) if rare else " AND ".join(frequencies)
    found: list[FoundMessage] = []
    scope = {"vault": vault, "only": conversation_id, "tool_results": tool_results}
    for seq, score in connection.execute(_RANKED, (query,)):
        row = connection.execute(_FOUND, {"message": seq, **scope}).fetchone()
        if row is not None and (message := rows.to_message(row[2:])).status != "damaged":
            found.append(FoundMessage(conversation_id=row[0], title=row[1], score=score, message=message))
        if len(found) == limit:
            break
    return tuple(found)


def _index_messages(connection: sqlite3.Connection) -> None:
    """Index the messages stored since the last search; between its transactions other processes can write."""
    found = None
    while found is None or found:
        with transaction(connection):
            found = [(seq, text, to_index_text(text[:MOST_INDEXED])) for seq, text in connection.execute(_UNINDEXED, (BATCH,))]
            different = [(seq, words) for seq, text, words in found if words != text]
            connection.executemany("INSERT INTO index_words (message_seq, words) VALUES (?, ?)", different)
            connection.executemany("INSERT INTO message_index (rowid, words) VALUES (?, ?)", [(seq, words) for seq, _, words in found])
            connection.executemany("DELETE FROM unindexed WHERE message_seq = ?", [(seq,) for seq, *_ in found])


def _any_form_query(connection: sqlite3.Connection, term: str, languages: tuple[str, ...]) -> str:
    """A query for a word in any of its forms in the index."""
    own = stem(term, languages)
    prefix = own[:-1] if own.endswith("i") and len(own) > SHORTEST_STEM else own  # "studi" is the stem of "study"
    if len(prefix) < SHORTEST_STEM or not term.startswith(prefix) or not term.isalpha():
        return f'"{term}"'
    found = connection.execute(_SAME_BEGINNING, {"prefix": prefix, "most": MOST_FORMS})
    forms = sorted({term, *(other for (other,) in found if stem(other, languages) == own)})
    return "(" + " OR ".join(f'"{form}"' for form in forms) + ")"


def without_vectors(connection: sqlite3.Connection, vault: str, embedder: str, before: int, limit: int) -> list[tuple[int, str, str]]:
    """The newest questions and answers about `vault` without vectors of `embedder`, before row `before`: row, message id and content."""
    return connection.execute(_WITHOUT_VECTORS, {"vault": vault, "embedder": embedder, "before": before, "limit": limit}).fetchall()


def add_vectors(connection: sqlite3.Connection, embedder: str, vectors: Mapping[str, bytes]) -> None:
    """Store the vectors of messages, by their ids, in place of another embedder's. A message that is not stored is passed over."""
    connection.executemany(_ADD_VECTORS, [{"id": id_, "embedder": embedder, "passages": packed} for id_, packed in vectors.items()])


def vectors(connection: sqlite3.Connection, conversation_id: str, embedder: str, after: int) -> list[tuple[int, str, bytes]]:
    """The vectors of a conversation that were stored after row `after`: row, message id and passages."""
    return connection.execute(_VECTORS, {"conversation": conversation_id, "embedder": embedder, "after": after}).fetchall()
