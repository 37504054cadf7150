"""The tables `message_vector` and `fact_vector`: the vectors of a message's or a fact's passages,
as 8-bit integers; none if the model does not know its language. No export has them: they are made
again.
"""

from collections.abc import Mapping

from zkchat_cli.store.port import MessageWithoutVectors, PassageVectors, StoredMessageVectors
from zkchat_cli.store.postgres.postgres_connection import PostgresConnection
from zkchat_cli.store.vault_names import SAME_NAMES, VaultNames

# No row has a larger number
_AFTER_ALL_ROWS = 2**63 - 1
_MAY_WRITE = """
    (conversation.owner = me() OR conversation.seq IN (
        SELECT conversation_seq FROM share WHERE may_write
    ))
"""
_MESSAGES_WITHOUT = f"""
    SELECT message.seq, message.id, message.content
    FROM message JOIN conversation ON conversation.seq = message.conversation_seq
    WHERE conversation.vault = %(vault)s
        AND {_MAY_WRITE}
        AND message.seq < %(before)s
        AND message.role IN ('user', 'assistant')
        AND trim(message.content) <> ''
        AND NOT EXISTS (
            SELECT 1 FROM message_vector
            WHERE message_seq = message.seq AND embedder = %(embedder)s
        )
    ORDER BY message.seq DESC
    LIMIT %(limit)s
"""
_DELETE_OLD = """
    DELETE FROM message_vector USING message
    WHERE message.seq = message_seq AND message.id = ANY (%s)
"""
_ADD_MESSAGE = f"""
    INSERT INTO message_vector (conversation_seq, owner, message_seq, embedder, passages)
    SELECT conversation.seq, conversation.owner, message.seq, %(embedder)s, %(passages)s
    FROM message JOIN conversation ON conversation.seq = message.conversation_seq
    WHERE message.id = %(id)s AND {_MAY_WRITE}
    ON CONFLICT DO NOTHING
"""
_OF_MESSAGES = """
    SELECT message_vector.seq, message.id, passages
    FROM message_vector JOIN message ON message.seq = message_seq
    WHERE message_vector.conversation_seq = (
            SELECT seq FROM conversation WHERE id = %(conversation)s
            ORDER BY owner = me() DESC, seq LIMIT 1
        )
        AND message_vector.seq > %(after)s
        AND embedder = %(embedder)s
    ORDER BY message_vector.seq
"""
_FACTS_WITHOUT = """
    SELECT seq, content FROM fact
    WHERE vault = %s
        AND ended_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM fact_vector WHERE fact_seq = seq AND embedder = %s)
    ORDER BY seq DESC
    LIMIT %s
"""
_ADD_FACT = """
    INSERT INTO fact_vector (fact_seq, embedder, passages)
    SELECT seq, %(embedder)s, %(passages)s FROM fact WHERE seq = %(seq)s AND ended_at IS NULL
    ON CONFLICT (fact_seq, owner) DO UPDATE
    SET embedder = excluded.embedder, passages = excluded.passages
"""
_OF_FACTS = """
    SELECT DISTINCT ON (key) key, passages
    FROM fact_vector JOIN fact ON seq = fact_seq
    WHERE vault = %s AND ended_at IS NULL AND embedder = %s
    ORDER BY key, fact.owner = me() DESC, seq DESC
"""


class PostgresPassageVectors(PassageVectors):
    """The vectors on the server."""

    def __init__(self, connection: PostgresConnection, names: VaultNames = SAME_NAMES) -> None:
        self._connection = connection
        self._names = names

    def of_messages(
        self, conversation_id: str, embedder: str, after: int
    ) -> list[StoredMessageVectors]:
        values = {"conversation": conversation_id, "embedder": embedder, "after": after}
        with self._connection.reading("read the vectors of messages") as db:
            return list(map(StoredMessageVectors._make, db.execute(_OF_MESSAGES, values)))

    def messages_without(
        self, vault: str, embedder: str, before: int | None, limit: int
    ) -> list[MessageWithoutVectors]:
        values = {
            "vault": self._names.stored(vault),
            "embedder": embedder,
            "before": _AFTER_ALL_ROWS if before is None else before,
            "limit": limit,
        }
        with self._connection.reading("look for messages without vectors") as db:
            return list(map(MessageWithoutVectors._make, db.execute(_MESSAGES_WITHOUT, values)))

    def add_for_messages(self, embedder: str, vectors: Mapping[str, bytes]) -> None:
        values = [
            {"id": id_, "embedder": embedder, "passages": passages}
            for id_, passages in vectors.items()
        ]
        with self._connection.writing("store the vectors of messages") as db:
            # A new row: who has read the vectors so far reads what has a larger number
            db.execute(_DELETE_OLD, ([*vectors],))
            db.executemany(_ADD_MESSAGE, values)

    def of_facts(self, vault: str, embedder: str) -> dict[str, bytes]:
        with self._connection.reading("read the vectors of facts") as db:
            return dict(db.execute(_OF_FACTS, (self._names.stored(vault), embedder)).fetchall())

    def facts_without(self, vault: str, embedder: str, limit: int) -> dict[int, str]:
        with self._connection.reading("look for facts without vectors") as db:
            return dict(
                db.execute(_FACTS_WITHOUT, (self._names.stored(vault), embedder, limit)).fetchall()
            )

    def add_for_facts(self, embedder: str, vectors: Mapping[int, bytes]) -> None:
        values = [
            {"seq": seq, "embedder": embedder, "passages": passages}
            for seq, passages in vectors.items()
        ]
        with self._connection.writing("store the vectors of facts") as db:
            db.executemany(_ADD_FACT, values)
