"""ChatSessionStore: every conversation, in one SQLite file that several zkchat processes may use at
once.

The messages of a conversation are an append-only log and form a tree. Its head is the end of the
current branch, so undo, retry and edit lose nothing, and two processes that answer in the same
conversation make two branches instead of overwriting each other. A turn is written in two
transactions: the question before the model is called, everything else at the end.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from zkchat_cli.errors import StoreError, StoreUnwritable
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation, ConversationOverview, FoundMessage
from zkchat_cli.models.messages import ZkChatMessage, branch_to
from zkchat_cli.models.prompts import Calibration, SentPrompt
from zkchat_cli.store.paused_gc import paused_gc
from zkchat_cli.store.port import SessionStore, StoreChanges
from zkchat_cli.store.rows import to_json_list
from zkchat_cli.store.sqlite import (
    compactions,
    conversations,
    facts,
    message_search,
    messages,
    secure_delete,
    sent_prompts,
)
from zkchat_cli.store.sqlite.database import connect, connect_to_copy, transaction
from zkchat_cli.store.sqlite.facts import SqliteFactStore
from zkchat_cli.store.sqlite.passage_vectors import SqlitePassageVectors
from zkchat_cli.store.sqlite.restore import restore
from zkchat_cli.store.sqlite.sent_prompts import SqlitePromptArchive
from zkchat_cli.store.sqlite.store_connection import StoreConnection
from zkchat_cli.text.word_lists import ENGLISH

_HEAD = "head_id = ?, updated_at = ?"


class ChatSessionStore(SessionStore):
    """The stored conversations. Every method raises StoreError with what failed, why and what to do
    next. Threads may share it.
    """

    sharing = None
    watch = None
    waiting_turns = 0
    away = None
    refusal = None

    def __init__(self, connection: StoreConnection) -> None:
        self.connection = connection
        self.facts = SqliteFactStore(connection)
        self.prompts = SqlitePromptArchive(connection)
        self.vectors = SqlitePassageVectors(connection)
        self.write_error = connection.write_error

    @classmethod
    def open(cls, file: Path | None) -> "ChatSessionStore":
        """The store at `file`, created if it is missing; None: a store in memory. A deletion that
        was killed is finished first.
        """
        store = cls(StoreConnection(connect(file), file))
        # If a file is in use, the next process tries again
        with suppress(StoreError):
            store._clean_up(timeout=0.0)
        return store

    @classmethod
    def open_to_read(cls, file: Path) -> "ChatSessionStore":
        """The store at `file`. If it cannot be written, the result is a copy of it in memory that
        can only be read; `write_error` says why.
        """
        try:
            return cls.open(file)
        except StoreUnwritable as e:
            try:
                return cls(StoreConnection(connect_to_copy(file), file, e))
            except StoreUnwritable:
                raise e from None

    def reopen(self) -> "ChatSessionStore":
        if self.connection.file is not None:
            return self.open_to_read(self.connection.file)
        copy = connect(None)
        with self.connection.reading("be copied") as db:
            db.backup(copy)
        return ChatSessionStore(StoreConnection(copy))

    def close(self) -> None:
        self.connection.close()

    @property
    def persistent(self) -> bool:
        return self.connection.file is not None and self.connection.write_error is None

    def changes(self) -> StoreChanges:
        return self.connection.changes()

    # conversations

    def start(self, conversation: Conversation) -> None:
        with self.connection.writing("store a new conversation") as db:
            conversations.insert(db, conversation)

    def conversation(self, conversation_id: str) -> ConversationOverview:
        with self.connection.reading("read a conversation") as db:
            return conversations.read(db, conversation_id)

    def find(self, prefix: str | None, vault: str | None) -> ConversationOverview:
        with self.connection.reading("find a conversation") as db:
            return conversations.find(db, prefix, vault)

    def conversations(
        self, vault: str | None = None, limit: int | None = None
    ) -> list[ConversationOverview]:
        with self.connection.reading("list conversations") as db:
            return conversations.newest_first(db, vault, limit)

    def update(
        self,
        conversation_id: str,
        *,
        title: str | None = None,
        documents: Sequence[str] | None = None,
    ) -> None:
        with self.connection.writing("change a conversation") as db:
            if title is not None:
                conversations.update(db, conversation_id, "title = ?", title)
            if documents is not None:
                listed = to_json_list(documents)
                conversations.update(db, conversation_id, "documents = ?", listed)

    def move_head(self, conversation_id: str, message_id: str | None) -> None:
        with self.connection.writing("move in a conversation") as db:
            conversations.update(db, conversation_id, "head_id = ?", message_id)

    def delete(self, *conversation_ids: str) -> None:
        """Delete conversations for good: neither the store's files nor the input history have a
        word of them afterwards. Facts stay.
        """
        for conversation_id in conversation_ids:
            self.conversation(conversation_id)
        ids = list(dict.fromkeys(conversation_ids))
        with self.connection.writing("delete a conversation") as db:
            secure_delete.delete(db, self.connection.file, ids)
        self._clean_up(secure_delete.LOG_TIMEOUT)

    def _clean_up(self, timeout: float) -> None:
        with self.connection.reading("be cleared of a deleted conversation") as db:
            secure_delete.clean_up(db, self.connection.file, timeout)

    # messages

    def add(self, conversation_id: str, message: ZkChatMessage) -> str | None:
        with self.connection.writing("store a message") as db:
            head = conversations.read(db, conversation_id).head_id
            # A parent that is still pending was given up by its process
            messages.give_up_pending(db, conversation_id, message.parent_id)
            messages.insert(db, conversation_id, message)
            conversations.update(db, conversation_id, _HEAD, message.id, message.timestamp)
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
        with self.connection.writing("store a turn") as db:
            messages.update(db, conversation_id, user, with_status=True)
            for message in answer:
                messages.insert(db, conversation_id, message)
            head = answer[-1].id if answer else user.id
            assignments = f"{_HEAD}, title = coalesce(title, ?)"
            conversations.update(db, conversation_id, assignments, head, updated_at, title)
            sent_prompts.write(db, conversation_id, sent)
            if facts_used:
                vault = conversations.read(db, conversation_id).vault
                facts.record_access(db, vault, facts_used, updated_at)
            sent_prompts.set_calibrations(db, calibrations)

    def mark(self, conversation_id: str, changed: Iterable[ZkChatMessage]) -> None:
        with self.connection.writing("update a message") as db:
            for message in changed:
                messages.update(db, conversation_id, message)

    def log(self, conversation_id: str) -> tuple[ZkChatMessage, ...]:
        with self.connection.reading("read a conversation") as db:
            return messages.read_log(db, conversations.read(db, conversation_id))

    def history(self, conversation_id: str, last: int | None = None) -> tuple[ZkChatMessage, ...]:
        with self.connection.reading("read a conversation") as db:
            # The head is read first: the log that is read later has it
            conversation = conversations.read(db, conversation_id)
            if last is not None:
                return messages.read_latest(db, conversation, last)
            return branch_to(messages.read_log(db, conversation), conversation.head_id)

    def search(
        self,
        vault: str | None,
        text: str,
        *,
        conversation_id: str | None = None,
        limit: int = 10,
        languages: tuple[str, ...] = (ENGLISH,),
        tool_results: bool = True,
    ) -> tuple[FoundMessage, ...]:
        """Messages stored since the last search are indexed first: usually in no time, but a
        million imported ones take 20 s.
        """
        with self.connection.reading("search messages") as db:
            return message_search.search(
                db,
                vault,
                text,
                conversation_id=conversation_id,
                limit=limit,
                languages=languages,
                tool_results=tool_results,
            )

    # archives

    def archive(self, conversation_id: str, *, prompts: bool = False) -> ConversationArchive:
        with (
            self.connection.reading("read a conversation") as db,
            transaction(db, "DEFERRED"),
            paused_gc(),
        ):
            conversation = conversations.read(db, conversation_id)
            log = messages.read_log(db, conversation)
            sent = sent_prompts.read_archive(db, conversation_id, log) if prompts else None
            return ConversationArchive(
                conversation=conversation,
                messages=log,
                compactions=compactions.read(db, conversation_id, undone=prompts),
                prompts=sent,
            )

    def restore(self, archives: Sequence[ConversationArchive]) -> list[int]:
        with self.connection.writing("store an imported conversation") as db, paused_gc():
            return [restore(db, archive) for archive in archives]

    # compactions

    def compact(self, conversation_id: str, compaction: Compaction) -> None:
        with self.connection.writing("store a summary") as db:
            compactions.insert(db, conversation_id, compaction)

    def undo_compaction(
        self, conversation_id: str, compaction_id: str | None = None
    ) -> Compaction | None:
        with self.connection.writing("take a summary back") as db:
            return compactions.undo(db, conversation_id, compaction_id)

    def compactions(self, conversation_id: str, *, undone: bool = False) -> tuple[Compaction, ...]:
        with self.connection.reading("read a conversation's summaries") as db:
            return compactions.read(db, conversation_id, undone=undone)

    def preview(self, conversation_id: str) -> Compaction | None:
        with self.connection.reading("read the preview of a summary") as db:
            return compactions.read_preview(db, conversation_id)
