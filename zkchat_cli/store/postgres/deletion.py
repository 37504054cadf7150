"""Deleting conversations with every word of them that the store and this machine have."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from zkchat_cli.errors import StoreUnwritable
from zkchat_cli.store import input_history
from zkchat_cli.store.postgres import conversations
from zkchat_cli.store.postgres.postgres_connection import PostgresDatabase
from zkchat_cli.store.vault_names import VaultNames

_TYPED = """
    SELECT vault, content FROM message
    JOIN conversation ON conversation.seq = message.conversation_seq
    WHERE conversation.seq = ANY (%(seqs)s) AND role = 'user'
    UNION ALL
    SELECT vault, title FROM conversation WHERE seq = ANY (%(seqs)s) AND title IS NOT NULL
"""
_RELEASE_FACTS = """
    UPDATE fact SET conversation_id = NULL, message_id = NULL
    WHERE owner = me() AND conversation_id = ANY (%s)
"""


def delete(
    db: PostgresDatabase, folder: Path | None, ids: Iterable[str], names: VaultNames
) -> None:
    """Delete the user's conversations, inside the caller's transaction. Raises StoreError."""
    found = {id_: conversations.lock(db, id_).row for id_ in ids}
    user = db.value("SELECT me()")
    for id_, row in found.items():
        if row.owner != user:
            raise StoreUnwritable(
                f"The conversation {id_} belongs to {row.owner}; it was not deleted",
                f"Only {row.owner} can delete it.",
            )
    seqs = [row.seq for row in found.values()]
    if folder is not None:
        texts: defaultdict[Path, set[str]] = defaultdict(set)
        for vault, text in db.execute(_TYPED, {"seqs": seqs}):
            texts[input_history.history_file(folder, names.local(vault))].add(text.strip())
        input_history.delete_typed(texts)
    db.execute("SELECT forget_words(%s)", (seqs,))
    db.execute(_RELEASE_FACTS, ([*found],))
    db.execute("DELETE FROM conversation WHERE seq = ANY (%s)", (seqs,))
