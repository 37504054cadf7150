"""Turns that a server could not take: kept in a file on this machine, and delivered in order.

Each program that needs an outbox has a file of its own, which it locks; a file that nobody locks
was left by a program that ended, and the next one takes it over. A conversation in the outbox has
all its messages. The server stores those that it does not have, as their ids say, in one
transaction; only then they are deleted here. So a program that is killed between the two loses
nothing, and delivers nothing twice.
"""

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from zkchat_cli.errors import StoreError, StoreUnreachable
from zkchat_cli.fileio import FileLock, atomic_write, make_private_folder, read_file
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.store.port import SessionStore

_MOST_FILES = 100
_MOST_BYTES = 1_000_000


class Outbox:
    """The conversations with turns that are not on the server yet."""

    def __init__(self, folder: Path, open_file: Callable[[Path], SessionStore]) -> None:
        self._folder = folder
        self._open_file = open_file
        # Threads of this program share it
        self.lock = threading.RLock()
        self._store: SessionStore | None = None
        self._lock: FileLock | None = None
        self._file = folder / "unused"
        # How many messages of each conversation the server had
        self._known: dict[str, int] = {}
        # What was delivered last of each conversation. Who has known a conversation before knows
        # less
        self.delivered: dict[str, ConversationArchive] = {}
        # Why a conversation cannot be delivered although the server answers
        self.problem: StoreError | None = None

    @property
    def is_used(self) -> bool:
        """Whether something is kept, by this program or by one that ended."""
        return self._store is not None or any(self._folder.glob("outbox-*.db"))

    def store(self) -> SessionStore:
        """The store in the outbox's file."""
        if self._store is None:
            make_private_folder(self._folder)
            # Those that were left come first
            names = [self._folder / f"outbox-{number}.db" for number in range(1, _MOST_FILES)]
            for file in sorted(names, key=lambda name: not name.exists()):
                lock = FileLock.take(file.with_suffix(".lock"))
                if lock is not None:
                    self._lock = lock
                    self._file = file
                    self._store = self._open_file(file)
                    self._known = self._read_known()
                    return self._store
            raise StoreError(f"{self._folder} has too many files", "Close other chats.")
        return self._store

    def has(self, conversation_id: str) -> bool:
        """Whether a conversation is kept here."""
        if not self.is_used:
            return False
        return any(each.id == conversation_id for each in self.store().conversations())

    def keep(self, archive: ConversationArchive) -> None:
        """Keep a conversation as the server has it; new messages are added to it here."""
        store = self.store()
        self._known[archive.conversation.id] = len(archive.messages)
        atomic_write(self._known_file, json.dumps(self._known), private=True)
        store.restore([archive])

    def count_turns(self) -> int:
        """The number of turns that the server does not have, or not to the end."""
        if not self.is_used:
            return 0
        turns = 0
        for conversation in self.store().conversations():
            log = self.store().log(conversation.id)
            new = log[self._known.get(conversation.id, 0) :]
            turns += sum(message.role == "user" for message in new)
            # The server has the question of the first of them
            turns += bool(new) and new[0].role != "user"
        return turns

    def deliver(self, server: SessionStore) -> None:
        """Store everything on the server, in the order in which it was begun here, and delete it
        here. Raises StoreUnreachable; what is not delivered then stays.
        """
        if not self.is_used:
            return
        store = self.store()
        self.problem = None
        for conversation in reversed(store.conversations()):
            try:
                self._deliver_conversation(conversation.id, server)
            except StoreUnreachable:
                raise
            except StoreError as e:
                self.problem = e
        for vault in store.facts.vaults():
            for fact in reversed(store.facts.current(vault)):
                server.facts.remember(vault, fact.model_copy(update={"title": None}))
                store.facts.forget(vault, fact.key)
        if self.problem is None:
            self._remove()

    def _deliver_conversation(self, conversation_id: str, server: SessionStore) -> None:
        store = self.store()
        archive = store.archive(conversation_id, prompts=True)
        server.restore([archive])
        self.delivered[conversation_id] = archive
        store.delete(conversation_id)

    def _remove(self) -> None:
        """Delete the empty file."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self._file.with_name(f"{self._file.name}{suffix}").unlink(missing_ok=True)
        self._known_file.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file; what is in it stays."""
        if self._store is not None:
            self._store.close()
            self._store = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    @property
    def _known_file(self) -> Path:
        return self._file.with_suffix(".json")

    def _read_known(self) -> dict[str, int]:
        with suppress(OSError, ValueError, AttributeError, TypeError):
            stored = json.loads(read_file(self._known_file, _MOST_BYTES))
            return {str(id_): int(count) for id_, count in stored.items()}
        return {}
