"""The table `share`: with whom a conversation is shared. Its owner alone decides that."""

from zkchat_cli.errors import StoreError, StoreUnwritable
from zkchat_cli.store.port import ConversationSharing, SharedWith
from zkchat_cli.store.postgres import conversations
from zkchat_cli.store.postgres.conversations import ConversationRow
from zkchat_cli.store.postgres.postgres_connection import PostgresConnection, PostgresDatabase
from zkchat_cli.store.vault_names import SAME_NAMES, VaultNames

_EVERYBODY = "*"
_SHARE = """
    INSERT INTO share (conversation_seq, with_user, may_write) VALUES (%s, %s, %s)
    ON CONFLICT (conversation_seq, with_user) DO UPDATE SET may_write = excluded.may_write
"""
_UNSHARE = """
    DELETE FROM share WHERE conversation_seq = %s AND (%s::text IS NULL OR with_user = %s)
"""
_SHARE_FACT = """
    UPDATE fact SET shared = %s
    WHERE owner = me() AND vault = %s AND key = %s AND ended_at IS NULL
    RETURNING seq
"""
_LIST = """
    SELECT nullif(with_user, '*'), may_write FROM share WHERE conversation_seq = %s
    ORDER BY with_user
"""


class PostgresSharing(ConversationSharing):
    """Sharing by rows that row-level security reads."""

    def __init__(self, connection: PostgresConnection, names: VaultNames = SAME_NAMES) -> None:
        self._connection = connection
        self._names = names

    def share(
        self, conversation_id: str, user: str | None, *, may_write: bool
    ) -> tuple[SharedWith, ...]:
        with self._connection.writing("share a conversation") as db:
            row = _own_row(db, conversation_id)
            name = _EVERYBODY if user is None else _full_name(db, user)
            db.execute(_SHARE, (row.seq, name, may_write))
            return _read(db, row)

    def unshare(self, conversation_id: str, user: str | None) -> tuple[SharedWith, ...]:
        with self._connection.writing("unshare a conversation") as db:
            row = _own_row(db, conversation_id)
            name = None if user is None else _full_name(db, user)
            db.execute(_UNSHARE, (row.seq, name, name))
            return _read(db, row)

    def share_fact(self, vault: str, key: str, *, shared: bool) -> bool:
        with self._connection.writing("share a fact") as db:
            values = (shared, self._names.stored(vault), key)
            return db.execute(_SHARE_FACT, values).fetchone() is not None

    def shared_with(self, conversation_id: str) -> tuple[SharedWith, ...]:
        with self._connection.reading("read with whom a conversation is shared") as db:
            return _read(db, conversations.find_row(db, conversation_id))


def _own_row(db: PostgresDatabase, conversation_id: str) -> ConversationRow:
    row = conversations.find_row(db, conversation_id)
    if row.owner != db.value("SELECT me()"):
        raise StoreUnwritable(
            f"The conversation {conversation_id} belongs to {row.owner}",
            f"Only {row.owner} can share it.",
        )
    return row


def _full_name(db: PostgresDatabase, user: str) -> str:
    """The name of a user, for the other users of one's own role without that role. Raises
    StoreError if the role does not exist.
    """
    own_role, slash, _ = str(db.value("SELECT me()")).partition("/")
    name = f"{own_role}/{user}" if slash and "/" not in user else user
    role = name.partition("/")[0]
    query = "SELECT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = %s)"
    if not db.value(query, (role,)):
        raise StoreError(
            f"there is no role {role!r} on the server", "Share it with a role, or with --all."
        )
    return name


def _read(db: PostgresDatabase, row: ConversationRow) -> tuple[SharedWith, ...]:
    return tuple(map(SharedWith._make, db.execute(_LIST, (row.seq,))))
