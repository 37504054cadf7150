"""Giving a vault's conversations and facts a name, which were stored under the path of its folder
before it had one.
"""

from zkchat_cli.store.codec import checksum
from zkchat_cli.store.postgres import facts
from zkchat_cli.store.postgres.postgres_connection import PostgresConnection, PostgresDatabase
from zkchat_cli.store.vault_names import VaultNames

_OWN = "owner = me() AND vault = %s"
_CONVERSATIONS = f"SELECT seq, id, title, question FROM conversation WHERE {_OWN}"
_RENAME = "UPDATE conversation SET vault = %s WHERE seq = %s"
_SET_CHECKSUM = "UPDATE conversation SET checksum = %s WHERE seq = %s"
_END_DOUBLES = f"""
    UPDATE fact SET ended_at = created_at
    WHERE {_OWN} AND ended_at IS NULL AND key IN (
        SELECT key FROM fact WHERE owner = me() AND vault = %s AND ended_at IS NULL
    )
"""
_FACTS = f"SELECT seq, key, content, source, created_at FROM fact WHERE {_OWN}"
_RENAME_FACT = "UPDATE fact SET vault = %s, checksum = %s WHERE seq = %s"


def name_vault(connection: PostgresConnection, names: VaultNames) -> None:
    """Rename what the user has stored under the folder's path."""
    if not names.name:
        return
    with connection.reading("look for a vault") as db:
        query = f"""
            SELECT EXISTS (SELECT 1 FROM conversation WHERE {_OWN})
                OR EXISTS (SELECT 1 FROM fact WHERE {_OWN})
        """
        if not db.value(query, (names.folder, names.folder)):
            return
    with connection.writing("name a vault") as db:
        _rename(db, names)


def _rename(db: PostgresDatabase, names: VaultNames) -> None:
    for seq, *texts in db.execute(_CONVERSATIONS, (names.folder,)).fetchall():
        id_, title, question = texts
        db.execute(_RENAME, (names.name, seq))
        db.execute(_SET_CHECKSUM, (checksum(None, id_, names.name, title, question), seq))
    db.execute(_END_DOUBLES, (names.folder, names.name))
    for seq, key, content, source, created_at in db.execute(_FACTS, (names.folder,)).fetchall():
        row = {
            "vault": names.name,
            "key": key,
            "content": content,
            "source": source,
            "created_at": created_at,
        }
        db.execute(_RENAME_FACT, (names.name, facts.row_checksum(row), seq))
