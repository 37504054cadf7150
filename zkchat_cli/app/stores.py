"""Opens the store of conversations. Only this module chooses an implementation of its ports: the
one in an SQLite file.
"""

from pathlib import Path

from zkchat_cli.store.port import SessionStore
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore


def open_store(file: Path | None) -> SessionStore:
    """The store at `file`, created if it is missing; None: a store in memory. Raises StoreError."""
    return ChatSessionStore.open(file)


def open_store_to_read(file: Path) -> SessionStore:
    """The store at `file`. If it cannot be written, the result can only be read; its `write_error`
    says why. Raises StoreError.
    """
    return ChatSessionStore.open_to_read(file)
