"""Watching a conversation for what other clients write, by the server's own word (NOTIFY)."""

from zkchat_cli.errors import StoreError, StoreUnreachable
from zkchat_cli.store.port import ConversationWatch
from zkchat_cli.store.postgres.postgres_connection import PostgresConnection, change_name
from zkchat_cli.store.postgres.rehearsal import rehearse


class PostgresWatch(ConversationWatch):
    """Listens with the store's connection: no other one is opened for it. While it waits for the
    first time, which is while somebody types, it prepares the connection for their turn.
    """

    def __init__(self, connection: PostgresConnection, conversation_id: str) -> None:
        self._connection = connection
        self._name = change_name(conversation_id)
        self._has_changed = False
        connection.listen(self._note)

    def _note(self, changed: str | None) -> None:
        if changed in (None, self._name):
            self._has_changed = True

    def wait(self, seconds: float) -> bool:
        self._prepare()
        if not self._has_changed:
            self._connection.wait_for_others(seconds)
        has_changed = self._has_changed
        self._has_changed = False
        return has_changed

    def _prepare(self) -> None:
        if self._connection.is_rehearsed:
            return
        self._connection.is_rehearsed = True
        try:
            rehearse(self._connection)
        except StoreError as e:
            # Why else a turn cannot be stored is told when there is one
            if isinstance(e, StoreUnreachable):
                raise

    def close(self) -> None:
        self._connection.stop_listening(self._note)
