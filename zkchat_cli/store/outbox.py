"""Turns that a server could not take: kept in a file on this machine, and delivered in order.

Each program that needs an outbox has a file of its own, which it locks; a file that nobody locks
was left by a program that ended, and the next one takes it over. A conversation in the outbox has
all its messages. The server stores those that it does not have, as their ids say, in one
transaction; only then they are deleted here. So a program that is killed between the two loses
nothing, and delivers nothing twice.
"""

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from zkchat_cli.errors import StoreError, StoreUnreachable
from zkchat_cli.fileio import FileLock, make_private_folder
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.store.outbox_journal import (
    OutboxJournal,
    PendingChange,
    read_journal,
    write_journal,
)
from zkchat_cli.store.port import SessionStore

_MOST_FILES = 100


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
        self._journal = OutboxJournal()
        # What was delivered last of each conversation. Who has known a conversation before knows
        # less
        self.delivered: dict[str, ConversationArchive] = {}
        # Why a conversation cannot be delivered although the server answers
        self.refusal: StoreError | None = None

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
            opened = self._open_first(sorted(names, key=lambda name: not name.exists()))
            if opened is None:
                raise StoreError(f"{self._folder} has too many files", "Close other chats.")
            return opened
        return self._store

    def _open_first(self, files: Iterable[Path]) -> SessionStore | None:
        """The store in the first of these files that no other program uses."""
        for file in files:
            lock = FileLock.take(file.with_suffix(".lock"))
            if lock is not None:
                self._lock = lock
                self._file = file
                self._store = self._open_file(file)
                self._journal = read_journal(self._journal_file)
                return self._store
        return None

    def has(self, conversation_id: str) -> bool:
        """Whether a conversation is kept here."""
        if not self.is_used:
            return False
        return any(each.id == conversation_id for each in self.store().conversations())

    def keep(self, archive: ConversationArchive) -> None:
        """Keep a conversation as the server has it; new messages are added to it here."""
        store = self.store()
        self._journal = self._journal.with_count(archive.conversation.id, len(archive.messages))
        write_journal(self._journal_file, self._journal)
        store.restore([archive])

    def note(self, change: PendingChange) -> None:
        """Keep a change of a conversation that is kept here, before it is made here."""
        self.store()
        self._journal = self._journal.with_change(change)
        write_journal(self._journal_file, self._journal)

    def drop(self, conversation_id: str) -> None:
        """Delete a conversation here, without delivering it."""
        self.store().delete(conversation_id)
        self._forget(conversation_id)
        if not self.store().conversations() and not self.store().facts.vaults():
            self.refusal = None
            self._remove()

    def _forget(self, conversation_id: str) -> None:
        self._journal = self._journal.without(conversation_id)
        write_journal(self._journal_file, self._journal)

    def count_turns(self) -> int:
        """The number of turns that the server does not have, or not to the end."""
        if not self.is_used:
            return 0
        turns = 0
        for conversation in self.store().conversations():
            log = self.store().log(conversation.id)
            new = log[self._journal.counts.get(conversation.id, 0) :]
            turns += sum(message.role == "user" for message in new)
            # The server has the question of the first of them
            turns += bool(new) and new[0].role != "user"
        return turns

    def deliver(self, server: SessionStore) -> None:
        """Store everything on the server, in the order in which it was begun here, and delete it
        here; also what other programs left that ended. Raises StoreUnreachable; what is not
        delivered then stays.
        """
        self.refusal = None
        while self.refusal is None:
            left = self._store or self._open_first(sorted(self._folder.glob("outbox-*.db")))
            if left is None:
                return
            self._deliver_file(left, server)

    def _deliver_file(self, store: SessionStore, server: SessionStore) -> None:
        for conversation in reversed(store.conversations()):
            try:
                self._deliver_conversation(conversation.id, server)
            except StoreUnreachable:
                raise
            except StoreError as e:
                self.refusal = StoreError(
                    f"the server refuses the conversation {conversation.id}: {e.message}",
                    f"{e.hint} `zkchat context export {conversation.id}` saves it as a file, "
                    f"`zkchat sessions delete {conversation.id}` gives it up.".lstrip(),
                )
        for vault in store.facts.vaults():
            for fact in reversed(store.facts.current(vault)):
                server.facts.remember(vault, fact.model_copy(update={"title": None}))
                store.facts.forget(vault, fact.key)
        if self.refusal is None:
            self._remove()

    def _deliver_conversation(self, conversation_id: str, server: SessionStore) -> None:
        store = self.store()
        archive = store.archive(conversation_id, prompts=True)
        server.restore([archive])
        for change in self._journal.changes_of(conversation_id):
            change.make(server)
        _move_head(archive, server)
        self.delivered[conversation_id] = archive
        store.delete(conversation_id)
        self._forget(conversation_id)

    def _remove(self) -> None:
        """Delete the empty file."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self._file.with_name(f"{self._file.name}{suffix}").unlink(missing_ok=True)
        self._journal_file.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file; what is in it stays."""
        if self._store is not None:
            self._store.close()
            self._store = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    @property
    def _journal_file(self) -> Path:
        return self._file.with_suffix(".json")


def _move_head(archive: ConversationArchive, server: SessionStore) -> None:
    """Make the server's conversation end where this one does, unless it was continued there."""
    wanted = archive.conversation.head_id
    head = server.conversation(archive.conversation.id).head_id
    if head != wanted and any(message.id == head for message in archive.messages):
        server.move_head(archive.conversation.id, wanted)
