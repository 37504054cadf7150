"""Watching a conversation on a server that may be away."""

from collections.abc import Callable

from zkchat_cli.store.port import ConversationWatch, SessionStore


class OutboxWatch(ConversationWatch):
    """Watches on the server that `reach` returns; it raises StoreError while that is away."""

    def __init__(self, reach: Callable[[], SessionStore], conversation_id: str) -> None:
        self._reach = reach
        self._conversation_id = conversation_id
        self._server: SessionStore | None = None
        self._watch: ConversationWatch | None = None

    def wait(self, seconds: float) -> bool:
        server = self._reach()
        if server is self._server and self._watch is not None:
            return self._watch.wait(seconds)
        self.close()
        self._server = server
        if server.watch is not None:
            self._watch = server.watch(self._conversation_id)
        return True

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()
        self._watch = None
