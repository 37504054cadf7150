"""How long conversations are kept (`store.keep_days`): those that were last updated longer ago are deleted for good."""

import threading
from contextlib import closing, suppress
from datetime import datetime, timedelta

from zkchat_cli.config.schema import Config
from zkchat_cli.errors import StoreError
from zkchat_cli.store.chat_session_store import ChatSessionStore


class Retention:
    """The conversations that are too old at the time `now` (ISO 8601), without `current`, which the user is continuing."""

    def __init__(self, store: ChatSessionStore, settings: Config, now: str, current: str | None = None) -> None:
        self._store = store
        self._days = settings.store.keep_days
        self.ids: tuple[str, ...] = ()
        if self._days and store.write_error is None:
            before = datetime.fromisoformat(now) - timedelta(days=self._days)
            self.ids = tuple(id_ for id_ in store.untouched_since(before.isoformat()) if id_ != current)

    @property
    def notice(self) -> tuple[str, str] | None:
        """What to tell the user, and how to avoid it; None if nothing is deleted."""
        if not self.ids:
            return None
        conversations = f"{len(self.ids)} conversations" if len(self.ids) != 1 else "1 conversation"
        days = f"{self._days} day{'s' * (self._days != 1)}"
        return f"Deleting {conversations} last used more than {days} ago", "zkchat config set store.keep_days 0 keeps all"

    def run(self) -> None:
        """Delete them. Raises StoreError."""
        if self.ids:
            self._store.delete(*self.ids)

    def start(self) -> threading.Thread:
        """Delete them in a thread, through another connection; after an error the next start tries again."""
        thread = threading.Thread(target=self._run_in_thread, name="delete old conversations")
        if self.ids:
            thread.start()
        return thread

    def _run_in_thread(self) -> None:
        with suppress(StoreError), closing(self._store.reopen()) as store:
            store.delete(*self.ids)
