"""The table `message_vector`: the embedding vectors of messages, which recall compares with a question.

A row has the vectors of a message's passages one after the other, as 8-bit integers; none if the model does not know the message's
language. They can be computed again: no export has them, and a repaired store is without them.
"""

import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

from zkchat_cli.text.words import replace_surrogates


class MessageText(NamedTuple):
    """A stored question or answer. `seq` is larger for newer ones."""

    seq: int
    id: str
    content: str


_MISSING = """
    SELECT message.seq, message.id, message.content
    FROM message JOIN conversation ON conversation.id = message.conversation_id
    WHERE conversation.vault = :vault AND message.seq < :before AND message.role IN ('user', 'assistant') AND trim(message.content) <> ''
        AND NOT EXISTS (SELECT 1 FROM message_vector WHERE message_seq = message.seq AND embedder = :embedder)
    ORDER BY message.seq DESC LIMIT :limit
"""
_ADD = """
    INSERT OR REPLACE INTO message_vector (conversation_seq, message_seq, embedder, passages)
    SELECT conversation.seq, message.seq, :embedder, :passages
    FROM message JOIN conversation ON conversation.id = message.conversation_id WHERE message.id = :id
"""
_READ = """
    SELECT message_vector.seq, message.id, passages FROM message_vector JOIN message ON message.seq = message_seq
    WHERE conversation_seq = (SELECT seq FROM conversation WHERE id = :conversation) AND message_vector.seq > :after
        AND embedder = :embedder
    ORDER BY message_vector.seq
"""
_READ_NEWEST = """
    SELECT message.id, passages
    FROM message_vector JOIN conversation ON conversation.seq = conversation_seq JOIN message ON message.seq = message_seq
    WHERE conversation.vault = :vault AND (:only IS NULL OR conversation.id = :only) AND embedder = :embedder AND passages <> x''
    ORDER BY message_vector.message_seq DESC LIMIT :limit
"""


def find_missing(connection: sqlite3.Connection, vault: str, embedder: str, before: int, limit: int) -> list[MessageText]:
    """The newest questions and answers about `vault` without vectors of `embedder`, among the messages before `before`."""
    values = {"vault": replace_surrogates(vault), "embedder": embedder, "before": before, "limit": limit}
    return [MessageText(*row) for row in connection.execute(_MISSING, values)]


def add(connection: sqlite3.Connection, embedder: str, vectors: Mapping[str, bytes]) -> None:
    """Store the vectors of messages, by their ids, in place of another embedder's. A message that is not stored is passed over."""
    rows = [{"id": replace_surrogates(id_), "embedder": embedder, "passages": packed} for id_, packed in vectors.items()]
    connection.executemany(_ADD, rows)


def read(connection: sqlite3.Connection, conversation_id: str, embedder: str, after: int) -> list[tuple[int, str, bytes]]:
    """The vectors of a conversation that were stored after row `after`: row, message id and passages."""
    values = {"conversation": replace_surrogates(conversation_id), "embedder": embedder, "after": after}
    return connection.execute(_READ, values).fetchall()


def read_newest(connection: sqlite3.Connection, vault: str, embedder: str, only: str | None, limit: int) -> dict[str, bytes]:
    """The passages of the newest messages with vectors, by their ids: of the conversation `only`, or of all about `vault`."""
    values = {"vault": replace_surrogates(vault), "embedder": embedder, "only": only, "limit": limit}
    return dict(connection.execute(_READ_NEWEST, values).fetchall())
