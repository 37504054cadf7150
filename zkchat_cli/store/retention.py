"""How long conversations are kept (`store.keep_days`): those that nobody has gone on with for longer are deleted, for good."""

import threading
from contextlib import suppress
from datetime import datetime, timedelta

from zkchat_cli.config.schema import Config
from zkchat_cli.errors import StoreError
from zkchat_cli.store.chat_session_store import ChatSessionStore


class Retention:
    """What is to be deleted of a store, `now` (ISO 8601); never the conversation `but`, which is being gone on with."""

    def __init__(self, store: ChatSessionStore, settings: Config, now: str, but: str | None = None) -> None:
        self._store = store
        self._days = settings.store.keep_days
        self.ids: tuple[str, ...] = ()
        if self._days and store.unwritable is None:
            before = datetime.fromisoformat(now) - timedelta(days=self._days)
            self.ids = tuple(id_ for id_ in store.untouched_since(before.isoformat()) if id_ != but)

    @property
    def notice(self) -> tuple[str, str] | None:
        """What to tell of it, and the way out; None when nothing is to be deleted."""
        if not self.ids:
            return None
        many = len(self.ids) != 1
        what = f"{len(self.ids)} conversations that were" if many else "1 conversation that was"
        days = f"{self._days} day{'s' * (self._days != 1)}"
        return f"{what} not gone on with for {days} {'are' if many else 'is'} deleted", "zkchat config set store.keep_days 0 keeps all"

    def run(self) -> None:
        """Delete them. Raises StoreError."""
        if self.ids:
            self._store.delete(*self.ids)

    def start(self) -> threading.Thread:
        """Delete them meanwhile, through a connection of its own; what goes wrong is found again by the next start."""
        thread = threading.Thread(target=self._run_apart, name="delete old conversations")
        if self.ids:
            thread.start()
        return thread

    def _run_apart(self) -> None:
        with suppress(StoreError):
            apart = self._store.beside()
            try:
                apart.delete(*self.ids)
            finally:
                apart.close()
