"""PostgresStore: the conversations of several machines and people, in a database of a server.

What a turn writes is as in SQLite (see `store/sqlite/chat_session_store.py`). Before a client
appends to a conversation it locks the conversation's row: so it learns which head was there before
its own, and of two clients that answer at once, the second is told.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation, ConversationOverview, FoundMessage
from zkchat_cli.models.messages import ZkChatMessage, branch_to
from zkchat_cli.models.prompts import Calibration, SentPrompt
from zkchat_cli.store.paused_gc import paused_gc
from zkchat_cli.store.port import SessionStore, StoreChanges
from zkchat_cli.store.postgres import (
    compactions,
    conversations,
    deletion,
    facts,
    message_search,
    messages,
    migrations,
    sent_prompts,
)
from zkchat_cli.store.postgres.conversation_watch import PostgresWatch
from zkchat_cli.store.postgres.facts import PostgresFactStore
from zkchat_cli.store.postgres.named_vaults import name_vault
from zkchat_cli.store.postgres.passage_vectors import PostgresPassageVectors
from zkchat_cli.store.postgres.postgres_connection import PostgresConnection, clean_value
from zkchat_cli.store.postgres.restore import restore
from zkchat_cli.store.postgres.sent_prompts import PostgresPromptArchive
from zkchat_cli.store.postgres.server_address import ServerAddress
from zkchat_cli.store.postgres.shares import PostgresSharing
from zkchat_cli.store.rows import to_json_list
from zkchat_cli.store.vault_names import SAME_NAMES, VaultNames
from zkchat_cli.text.word_lists import ENGLISH
from zkchat_cli.text.words import replace_surrogates


class PostgresStore(SessionStore):
    """The stored conversations that the user may see. Every method raises StoreError with what
    failed, why and what to do next. Threads may share it.
    """

    write_error = None
    waiting_turns = 0
    away = None
    refusal = None

    def __init__(
        self,
        connection: PostgresConnection,
        folder: Path | None = None,
        names: VaultNames = SAME_NAMES,
    ) -> None:
        """`folder` is the store's on this machine, with the input history; `names` says what the
        vault in use is called on the server.
        """
        self.connection = connection
        self.folder = folder
        self.names = names
        self.facts = PostgresFactStore(connection, names)
        self.prompts = PostgresPromptArchive(connection)
        self.vectors = PostgresPassageVectors(connection, names)
        self.watch = partial(PostgresWatch, connection)
        # The messages of the last turn that was stored here, by the number of its conversation:
        # the next turn's prompt quotes them
        self._last_texts: dict[int, dict[str, str]] = {}

    @classmethod
    def open(
        cls,
        address: ServerAddress,
        folder: Path | None = None,
        names: VaultNames = SAME_NAMES,
    ) -> "PostgresStore":
        """The store on this server. Raises StoreError, also if it has another layout."""
        connection = PostgresConnection(address)
        try:
            migrations.require_layout(connection)
            name_vault(connection, names)
        except BaseException:
            connection.close()
            raise
        return cls(connection, folder, names)

    def reopen(self) -> "PostgresStore":
        return PostgresStore(PostgresConnection(self.connection.address), self.folder, self.names)

    def close(self) -> None:
        self.connection.close()

    @property
    def sharing(self) -> PostgresSharing:
        return PostgresSharing(self.connection, self.names)

    @property
    def persistent(self) -> bool:
        return True

    def changes(self) -> StoreChanges:
        return self.connection.changes()

    # conversations

    def start(self, conversation: Conversation) -> None:
        with self.connection.writing("store a new conversation") as db:
            vault = self.names.stored(conversation.vault)
            conversations.insert(db, conversation.model_copy(update={"vault": vault}))

    def conversation(self, conversation_id: str) -> ConversationOverview:
        with self.connection.reading("read a conversation") as db:
            return self._here(conversations.read(db, conversation_id))

    def find(self, prefix: str | None, vault: str | None) -> ConversationOverview:
        with self.connection.reading("find a conversation") as db:
            return self._here(conversations.find(db, prefix, self._stored(vault)))

    def conversations(
        self, vault: str | None = None, limit: int | None = None
    ) -> list[ConversationOverview]:
        with self.connection.reading("list conversations") as db:
            found = conversations.newest_first(db, self._stored(vault), limit)
        return [self._here(each) for each in found]

    def _stored(self, vault: str | None) -> str | None:
        return None if vault is None else self.names.stored(vault)

    def _here(self, conversation: ConversationOverview) -> ConversationOverview:
        """The conversation with the folder that its vault has on this machine."""
        vault = self.names.local(conversation.vault)
        if vault == conversation.vault:
            return conversation
        return conversation.model_copy(update={"vault": vault})

    def update(
        self,
        conversation_id: str,
        *,
        title: str | None = None,
        documents: Sequence[str] | None = None,
    ) -> None:
        with self.connection.writing("change a conversation") as db:
            db.tell(conversation_id)
            row = conversations.lock(db, conversation_id).row
            if title is not None:
                conversations.update(db, row.seq, "title = %s", title)
            if documents is not None:
                listed = clean_value(to_json_list(documents))
                conversations.update(db, row.seq, "documents = %s", listed)

    def move_head(self, conversation_id: str, message_id: str | None) -> None:
        with self.connection.writing("move in a conversation") as db:
            db.tell(conversation_id)
            row = conversations.lock(db, conversation_id).row
            conversations.update(db, row.seq, "head_id = %s", message_id)

    def delete(self, *conversation_ids: str) -> None:
        """Delete conversations of the user, with their words in the index and in the input history
        of this machine. Facts stay. The server overwrites the rows when it cleans up (VACUUM).
        """
        with self.connection.writing("delete a conversation") as db:
            for id_ in conversation_ids:
                db.tell(id_)
            deletion.delete(db, self.folder, dict.fromkeys(conversation_ids), self.names)

    # messages

    def add(self, conversation_id: str, message: ZkChatMessage) -> str | None:
        with self.connection.writing("store a message") as db:
            # Nobody shows a question without its answer, which is told when it is there
            if message.status != "pending":
                db.tell(conversation_id)
            appended = messages.append(db, conversation_id, message)
        # The answer arrived together with that of the end of the transaction
        for (head,) in appended:
            return None if head is None else str(head)
        with self.connection.reading("store a message") as db:
            raise conversations.not_writable(db, conversation_id)

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
            db.tell(conversation_id)
            # Asked together, and read afterwards
            lock = conversations.ask_for_lock(db, conversation_id)
            pieces = sent_prompts.ask_for_pieces(db, conversation_id, sent)
            locked = conversations.read_lock(db, conversation_id, lock)
            row = locked.row
            messages.update(db, row, user, with_status=True)
            head = answer[-1].id if answer else user.id
            messages.insert(db, row, answer, head=head, updated_at=updated_at, title=title)
            facts.record_access(db, locked.vault, facts_used, updated_at)
            sent_prompts.set_calibrations(db, calibrations)
            texts = {each.id: replace_surrogates(each.content) for each in (user, *answer)}
            known = self._last_texts.get(row.seq, {})
            sent_prompts.write(db, row, sent, pieces, known | texts)
        self._last_texts = {row.seq: texts}

    def mark(self, conversation_id: str, changed: Iterable[ZkChatMessage]) -> None:
        with self.connection.writing("update a message") as db:
            db.tell(conversation_id)
            row = conversations.lock(db, conversation_id).row
            for message in changed:
                messages.update(db, row, message)

    def log(self, conversation_id: str) -> tuple[ZkChatMessage, ...]:
        with self.connection.reading("read a conversation") as db:
            return messages.read_log(db, conversations.find_row(db, conversation_id).seq)

    def history(self, conversation_id: str, last: int | None = None) -> tuple[ZkChatMessage, ...]:
        with self.connection.reading("read a conversation") as db:
            # The head is read first: the log that is read later has it
            conversation = conversations.read(db, conversation_id)
            row = conversations.find_row(db, conversation_id)
            if last is not None:
                return messages.read_latest(db, row.seq, conversation, last)
            return branch_to(messages.read_log(db, row.seq), conversation.head_id)

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
        with self.connection.reading("search messages") as db:
            return message_search.search(
                db,
                self._stored(vault),
                text,
                conversation_id=conversation_id,
                limit=limit,
                languages=languages,
                tool_results=tool_results,
            )

    # archives

    def archive(self, conversation_id: str, *, prompts: bool = False) -> ConversationArchive:
        with self.connection.snapshot("read a conversation") as db, paused_gc():
            conversation = conversations.read(db, conversation_id)
            row = conversations.find_row(db, conversation_id)
            log = messages.read_log(db, row.seq)
            sent = sent_prompts.read_archive(db, row.seq, log) if prompts else None
            return ConversationArchive(
                conversation=self._here(conversation),
                messages=log,
                compactions=compactions.read(db, row.seq, undone=prompts),
                prompts=sent,
            )

    def restore(self, archives: Sequence[ConversationArchive]) -> list[int]:
        with self.connection.writing("store an imported conversation") as db, paused_gc():
            for archive in archives:
                db.tell(archive.conversation.id)
            return [restore(db, self._named(archive)) for archive in archives]

    def _named(self, archive: ConversationArchive) -> ConversationArchive:
        conversation = archive.conversation
        vault = self.names.stored(conversation.vault)
        named = conversation.model_copy(update={"vault": vault})
        return archive.model_copy(update={"conversation": named})

    # compactions

    def compact(self, conversation_id: str, compaction: Compaction) -> None:
        with self.connection.writing("store a summary") as db:
            db.tell(conversation_id)
            compactions.insert(db, conversations.lock(db, conversation_id).row, compaction)

    def undo_compaction(
        self, conversation_id: str, compaction_id: str | None = None
    ) -> Compaction | None:
        with self.connection.writing("take a summary back") as db:
            db.tell(conversation_id)
            row = conversations.lock(db, conversation_id).row
            return compactions.undo(db, row.seq, compaction_id)

    def compactions(self, conversation_id: str, *, undone: bool = False) -> tuple[Compaction, ...]:
        with self.connection.reading("read a conversation's summaries") as db:
            row = conversations.find_row(db, conversation_id)
            return compactions.read(db, row.seq, undone=undone)

    def preview(self, conversation_id: str) -> Compaction | None:
        with self.connection.reading("read the preview of a summary") as db:
            return compactions.read_preview(db, conversations.find_row(db, conversation_id).seq)
