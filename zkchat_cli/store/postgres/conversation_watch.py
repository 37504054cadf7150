"""Watching a conversation for what other clients write, by the server's own word (NOTIFY)."""

from zkchat_cli.store.port import ConversationWatch
from zkchat_cli.store.postgres.postgres_connection import PostgresConnection, change_name


class PostgresWatch(ConversationWatch):
    """Listens with the store's connection: no other one is opened for it."""

    def __init__(self, connection: PostgresConnection, conversation_id: str) -> None:
        self._connection = connection
        self._name = change_name(conversation_id)
        self._has_changed = False
        connection.listen(self._note)

    def _note(self, changed: str | None) -> None:
        if changed in (None, self._name):
            self._has_changed = True

    def wait(self, seconds: float) -> bool:
        if not self._has_changed:
            self._connection.wait_for_others(seconds)
        has_changed = self._has_changed
        self._has_changed = False
        return has_changed

    def close(self) -> None:
        self._connection.stop_listening(self._note)
