"""The search of messages by words, in any of their forms in `message_index`: of every branch, and
of results of tools, too.
"""

import sqlite3
from collections.abc import Sequence

from zkchat_cli.models.conversations import FoundMessage
from zkchat_cli.store import rows
from zkchat_cli.store.sqlite.database import transaction
from zkchat_cli.store.word_query import (
    MOST_FORMS,
    MOST_RANKED,
    forms_to_find,
    same_beginning,
    words_to_find,
)
from zkchat_cli.text.word_lists import ENGLISH
from zkchat_cli.text.words import rarest_first, to_index_text

# Characters of a message that are indexed: a pasted book is found by its beginning
MOST_INDEXED = 200_000
# Messages that are indexed in one transaction: about 30 ms, during which nobody else can write
BATCH = 500

_UNINDEXED = """
    SELECT message.seq, message.content
    FROM unindexed JOIN message ON message.seq = unindexed.message_seq
    LIMIT ?
"""
_COUNT = """
    SELECT count(*) FROM (SELECT 1 FROM message_index WHERE message_index MATCH ? LIMIT ?)
"""
_RANKED = """
    SELECT rowid, -bm25(message_index) FROM message_index
    WHERE message_index MATCH ?
    ORDER BY bm25(message_index), rowid DESC
"""
_MESSAGE_COLUMNS = ", ".join(f"message.{column}" for column in rows.MESSAGE)
_FOUND = f"""
    SELECT conversation.id, conversation.title, {_MESSAGE_COLUMNS}
    FROM message CROSS JOIN conversation ON conversation.id = message.conversation_id
    WHERE message.seq = :message
        AND (:vault IS NULL OR conversation.vault = :vault)
        AND (:only IS NULL OR conversation.id = :only)
        AND (:tool_results OR message.role <> 'tool')
"""
_CREATE_VOCABULARY = """
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.message_vocabulary
    USING fts5vocab(main, message_index, row)
"""
_SAME_BEGINNING = """
    SELECT term FROM temp.message_vocabulary
    WHERE term >= :prefix AND term < :prefix || char(0x10ffff)
    LIMIT :most
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
    """The messages most relevant to `text`, best first: see `ConversationLog.search`."""
    _index_messages(connection)
    query = _make_query(connection, text, languages)
    if query is None or limit <= 0:
        return ()
    scope = {"vault": vault, "only": conversation_id, "tool_results": tool_results}
    found: list[FoundMessage] = []
    for seq, score in connection.execute(_RANKED, (query,)):
        row = connection.execute(_FOUND, {"message": seq, **scope}).fetchone()
        if row is None:
            continue
        id_, title, *columns = row
        message = rows.to_message(columns)
        if message.status == "damaged":
            continue
        found.append(FoundMessage(conversation_id=id_, title=title, score=score, message=message))
        if len(found) == limit:
            break
    return tuple(found)


def _index_messages(connection: sqlite3.Connection) -> None:
    """Index the messages stored since the last search; between its transactions other processes can
    write.
    """
    while True:
        with transaction(connection):
            waiting = connection.execute(_UNINDEXED, (BATCH,)).fetchall()
            if not waiting:
                return
            _index_batch(connection, waiting)


def _index_batch(connection: sqlite3.Connection, waiting: Sequence[tuple[int, str]]) -> None:
    indexed: list[tuple[int, str]] = []
    different: list[tuple[int, str]] = []
    for seq, text in waiting:
        words = to_index_text(text[:MOST_INDEXED])
        indexed.append((seq, words))
        if words != text:
            different.append((seq, words))
    connection.executemany("INSERT INTO index_words (message_seq, words) VALUES (?, ?)", different)
    connection.executemany("INSERT INTO message_index (rowid, words) VALUES (?, ?)", indexed)
    connection.executemany(
        "DELETE FROM unindexed WHERE message_seq = ?", [(seq,) for seq, _ in waiting]
    )


def _make_query(
    connection: sqlite3.Connection, text: str, languages: tuple[str, ...]
) -> str | None:
    """The words of a text as a query for FTS5; None if no message has one of them."""
    connection.execute(_CREATE_VOCABULARY)
    frequencies: dict[str, int] = {}
    for term in words_to_find(text):
        word = _any_form_query(connection, term, languages)
        # Counting stops at a common word
        [count] = connection.execute(_COUNT, (word, MOST_RANKED + 1)).fetchone()
        if count:
            frequencies[word] = count
    if not frequencies:
        return None
    rare = rarest_first(frequencies, frequencies, MOST_RANKED)
    return " OR ".join(rare) if rare else " AND ".join(frequencies)


def _any_form_query(connection: sqlite3.Connection, term: str, languages: tuple[str, ...]) -> str:
    """A query for a word in any of its forms in the index."""
    prefix = same_beginning(term, languages)
    if prefix is None:
        return f'"{term}"'
    found = connection.execute(_SAME_BEGINNING, {"prefix": prefix, "most": MOST_FORMS})
    forms = forms_to_find(term, (other for (other,) in found), languages)
    return "(" + " OR ".join(f'"{form}"' for form in forms) + ")"
