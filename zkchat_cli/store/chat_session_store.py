"""ChatSessionStore: every conversation, in one SQLite file that several zkchat processes may use at
once.

The messages of a conversation are an append-only log and form a tree. Its head is the end of the
current branch, so undo, retry and edit lose nothing, and two processes that answer in the same
conversation make two branches instead of overwriting each other. A turn is written in two
transactions: the question before the model is called, everything else at the end.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from zkchat_cli.errors import StoreError, StoreUnwritable
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.messages import ZkChatMessage, branch_to
from zkchat_cli.models.prompts import Calibration, SentPrompt
from zkchat_cli.store import conversations, facts, rows, secure_delete, sent_prompts
from zkchat_cli.store.database import (
    connect,
    connect_to_copy,
    describe_store,
    transaction,
    translate_errors,
)
from zkchat_cli.text.words import replace_surrogates

P = ParamSpec("P")
T = TypeVar("T")


def _method(
    action: str, function: Callable[Concatenate[sqlite3.Connection, P], T], *, writes: bool = False
) -> Callable[Concatenate["ChatSessionStore", P], T]:
    """A method that calls `function` with the store's connection, in one transaction if it
    `writes`. An error says what `action` failed.
    """

    @wraps(function)
    def method(self: "ChatSessionStore", /, *args: P.args, **kwargs: P.kwargs) -> T:
        with (self._writing if writes else self.reading)(action):
            return function(self._db, *args, **kwargs)

    return method


@rows.paused_gc()
def _restore(connection: sqlite3.Connection, archives: Sequence[ConversationArchive]) -> list[int]:
    """Store conversations; of one that is here already only what is new, as its ids say. Gives the
    number of new messages of each.
    """
    return [_restore_one(connection, archive) for archive in archives]


def _restore_one(connection: sqlite3.Connection, archive: ConversationArchive) -> int:
    conversation = archive.conversation
    id_ = archive.conversation.id
    is_known = (
        connection.execute("SELECT 1 FROM conversation WHERE id = ?", (id_,)).fetchone() is not None
    )
    if not is_known:
        conversations.insert(connection, conversation.model_copy(update={"head_id": None}))
    known = conversations.read(connection, id_)
    if known.vault != replace_surrogates(conversation.vault):
        hint = f"Import it with --vault {known.vault}, or delete it there first."
        raise StoreError(
            f"the conversation {id_} was imported with other notes: {known.vault}", hint
        )
    stored = {
        stored_id
        for (stored_id,) in connection.execute(
            "SELECT id FROM message WHERE conversation_id = ?", (id_,)
        )
    }
    new = [message for message in archive.messages if message.id not in stored]
    for message in new:
        conversations.insert_message(connection, id_, message)
    made = {
        compaction.id for compaction in conversations.read_compactions(connection, id_, undone=True)
    }
    for compaction in archive.compactions:
        if compaction.id not in made:
            conversations.insert_compaction(connection, id_, compaction)
    if archive.prompts is not None and not is_known:
        sent_prompts.write_archive(connection, id_, archive.prompts)
    # the head moves with new messages, unless the conversation was continued here
    if new and known.head_id in (None, *(message.id for message in archive.messages)):
        conversations.update(
            connection,
            id_,
            "head_id = ?, updated_at = ?",
            conversation.head_id,
            conversation.updated_at,
        )
    return len(new)


class ChatSessionStore:
    """The stored conversations. Every method raises StoreError with what failed, why and what to do
    next.

    Threads may share it, one at a time: a thread that calls SQLite while a statement of another one
    calls `checksum` would wait for it and hold Python's global lock, which `checksum` needs.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        file: Path | None = None,
        write_error: StoreUnwritable | None = None,
    ) -> None:
        """`file`: None for a store in memory."""
        self._db = db
        self._file = file
        # Why the store cannot be written, if so; `db` is then a copy in memory
        self.write_error = write_error
        self._lock = threading.RLock()

    @classmethod
    def open(cls, file: Path | None) -> "ChatSessionStore":
        """The store at `file`, created if it is missing; None: a store in memory. A deletion that
        was killed is finished first.
        """
        store = cls(connect(file), file)
        # If a file is in use, the next process tries again
        with suppress(StoreError):
            store._clean_up(timeout=0.0)
        return store

    @classmethod
    def open_to_read(cls, file: Path) -> "ChatSessionStore":
        """The same; of a store that cannot be written a copy in memory, which cannot either."""
        try:
            return cls.open(file)
        except StoreUnwritable as e:
            try:
                return cls(connect_to_copy(file), file, e)
            except StoreUnwritable:
                raise e from None

    def reopen(self) -> "ChatSessionStore":
        """The same store through another connection, for another thread; of a store in memory a
        copy of its current content.
        """
        if self._file is not None:
            return self.open_to_read(self._file)
        with self.reading("be copied"):
            copy = connect(None)
            self._db.backup(copy)
            return ChatSessionStore(copy)

    def close(self) -> None:
        with self.reading("be closed"):
            self._db.close()

    @contextmanager
    def reading(self, action: str) -> Iterator[None]:
        with self._lock, translate_errors(self._file, action):
            yield

    @contextmanager
    def _writing(self, action: str) -> Iterator[None]:
        """One transaction. Raises StoreUnwritable for a store that can only be read."""
        if self.write_error is not None:
            why = self.write_error.message.partition(": ")[2]
            raise StoreUnwritable(
                f"{describe_store(self._file)} cannot {action}: {why}", self.write_error.hint
            )
        with self.reading(action), transaction(self._db):
            yield

    @property
    def persistent(self) -> bool:
        """Whether what is stored outlasts the program."""
        return self._file is not None and self.write_error is None

    def delete(self, *conversation_ids: str) -> None:
        """Delete conversations for good: neither the store's files nor the input history have a
        word of them afterwards. Facts stay.
        """
        for conversation_id in conversation_ids:
            self.conversation(conversation_id)
        with self._writing("delete a conversation"):
            secure_delete.delete(self._db, self._file, list(dict.fromkeys(conversation_ids)))
        self._clean_up(secure_delete.LOG_TIMEOUT)

    def _clean_up(self, timeout: float) -> None:
        with self.reading("be cleared of a deleted conversation"):
            secure_delete.clean_up(self._db, self._file, timeout)

    def changes_of_others(self) -> int:
        """Changes whenever another connection has written."""
        with self.reading("be checked for changes"):
            return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def changes(self) -> tuple[int, int]:
        """Changes whenever anything has been written, by this or another connection."""
        return self._db.total_changes, self.changes_of_others()

    def add(self, conversation_id: str, message: ZkChatMessage) -> str | None:
        """Append one message and make it the head; returns the head before. A parent that is still
        pending was given up by its process.
        """
        with self._writing("store a message"):
            head = conversations.read(self._db, conversation_id).head_id
            unfinished = (
                "UPDATE message SET status = 'unfinished' WHERE id = ? AND conversation_id = ? "
                "AND status = 'pending'"
            )
            self._db.execute(unfinished, (message.parent_id, conversation_id))
            conversations.insert_message(self._db, conversation_id, message)
            conversations.update(
                self._db,
                conversation_id,
                "head_id = ?, updated_at = ?",
                message.id,
                message.timestamp,
            )
        return head

    def commit(
        self,
        conversation_id: str,
        user: ZkChatMessage,
        answer: Sequence[ZkChatMessage],
        *,
        updated_at: str,
        title: str | None = None,
        sent: Sequence[SentPrompt] = (),
        calibrations: Mapping[str, Calibration] = {},
        facts_used: Sequence[str] = (),
    ) -> None:
        """End a turn in one transaction: the question's status and figures, the new messages, and a
        title if there is none.
        """
        with self._writing("store a turn"):
            conversations.update_message(self._db, conversation_id, user, with_status=True)
            for message in answer:
                conversations.insert_message(self._db, conversation_id, message)
            head = answer[-1].id if answer else user.id
            changes = "head_id = ?, updated_at = ?, title = coalesce(title, ?)"
            conversations.update(self._db, conversation_id, changes, head, updated_at, title)
            sent_prompts.write(self._db, conversation_id, sent)
            if facts_used:
                facts.record_access(
                    self._db,
                    conversations.read(self._db, conversation_id).vault,
                    facts_used,
                    updated_at,
                )
            insert = (
                "INSERT OR REPLACE INTO calibration (model, factor, calls, tools) VALUES (?, "
                "?, ?, ?)"
            )
            self._db.executemany(
                insert,
                [(model, how.text, how.calls, how.tools) for model, how in calibrations.items()],
            )

    def calibration(self, model: str) -> Calibration:
        """How this model counts, as far as its server's reports have shown."""
        with self.reading("read a model's calibration"):
            row = self._db.execute(
                "SELECT factor, calls, tools FROM calibration WHERE model = ?", (model,)
            ).fetchone()
            return (
                Calibration()
                if row is None
                else Calibration(text=row[0], calls=row[1], tools=row[2])
            )

    def mark(self, conversation_id: str, changed: Iterable[ZkChatMessage]) -> None:
        """Update fields of stored messages that are not their words, such as a pin. All of them or
        none.
        """
        with self._writing("update a message"):
            for message in changed:
                conversations.update_message(self._db, conversation_id, message)

    def history(self, conversation_id: str) -> tuple[ZkChatMessage, ...]:
        """The current branch, from its root to the head."""
        # First: the log that is read later has it
        head_id = self.conversation(conversation_id).head_id
        return branch_to(self.log(conversation_id), head_id)

    def latest(self, conversation_id: str, count: int) -> tuple[ZkChatMessage, ...]:
        """The last messages of the current branch, which are usually the last of all; only where
        they are not, all of them are read.
        """
        found: list[ZkChatMessage] = []
        wanted = self.conversation(conversation_id).head_id
        query = f"{rows.SELECT_MESSAGE} WHERE conversation_id = ? ORDER BY seq DESC LIMIT ?"
        with self.reading("read a conversation"):
            for row in self._db.execute(query, (conversation_id, count)):
                if (message := rows.to_message(row)).id == wanted:
                    found.append(message)
                    wanted = message.parent_id
        return (
            tuple(reversed(found))
            if wanted is None or len(found) == count
            else self.history(conversation_id)[-count:]
        )

    def log(self, conversation_id: str) -> tuple[ZkChatMessage, ...]:
        """Every message of every branch, in the order of writing."""
        with self.reading("read a conversation"):
            known = conversations.read(self._db, conversation_id)
            condition = "WHERE conversation_id = ? ORDER BY seq"
            log = rows.to_messages(
                self._db.execute(f"{rows.SELECT_MESSAGE} {condition}", (known.id,))
            )
            is_whole = sum(map(rows.is_chat, log)) >= known.messages and all(
                message.status != "damaged" for message in log
            )
            if is_whole and known.head_id in (None, *(message.id for message in log)):
                return log
            # a damaged page of an SQLite index hides messages; reading the whole table finds them
            return rows.to_messages(
                self._db.execute(f"{rows.SELECT_MESSAGE} NOT INDEXED {condition}", (known.id,))
            )

    def archive(self, conversation_id: str, *, prompts: bool = False) -> ConversationArchive:
        """The messages and the compactions in force, of one moment. With `prompts` also those taken
        back, and what the model was sent.
        """
        with (
            self.reading("read a conversation"),
            transaction(self._db, "DEFERRED"),
            rows.paused_gc(),
        ):
            log = self.log(conversation_id)
            conversation = self.conversation(conversation_id)
            made = conversations.read_compactions(self._db, conversation.id, undone=prompts)
            sent = sent_prompts.read_archive(self._db, conversation.id, log) if prompts else None
            return ConversationArchive(
                conversation=conversation, messages=log, compactions=made, prompts=sent
            )

    start = _method("store a new conversation", conversations.insert, writes=True)
    rename = _method("rename a conversation", conversations.rename, writes=True)
    move_head = _method("move in a conversation", conversations.move_head, writes=True)
    conversation = _method("read a conversation", conversations.read)
    find = _method("find a conversation", conversations.find)
    most_used_notes = _method("count the uses of notes", conversations.most_used_notes)
    often_cited = _method("look for notes that are often cited", conversations.often_cited_notes)
    fact_vectors = _method("read the vectors of facts", facts.vectors)
    add_fact_vectors = _method("store the vectors of facts", facts.add_vectors, writes=True)
    facts_without_vectors = _method("look for facts without vectors", facts.without_vectors)
    remember = _method("remember", facts.remember, writes=True)
    forget = _method("forget", facts.forget, writes=True)
    search = _method("search messages", conversations.search)
    vectors = _method("read the vectors of messages", conversations.vectors)
    without_vectors = _method("look for messages without vectors", conversations.without_vectors)
    add_vectors = _method("store the vectors of messages", conversations.add_vectors, writes=True)
    prompts = _method("read a prompt", sent_prompts.read)
    preview = _method("read the preview of a summary", conversations.read_preview)
    compact = _method("store a summary", conversations.insert_compaction, writes=True)
    undo_compaction = _method("take a summary back", conversations.undo_compaction, writes=True)
    compactions = _method("read a conversation's summaries", conversations.read_compactions)
    restore = _method("store an imported conversation", _restore, writes=True)
    messages = _method("read messages", conversations.read_messages)
    # the last two have the names of modules that the lines above use
    facts = _method("read what was remembered", facts.read)
    conversations = _method("list conversations", conversations.newest_first)
