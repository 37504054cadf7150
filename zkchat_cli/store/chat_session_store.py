"""ChatSessionStore: every conversation, in one SQLite file that several zkchats may use at once.

A conversation is an append-only log whose messages form a tree; its head says which branch is the current one, so undo, retry and edit
lose nothing, and two processes that answer in the same conversation make two branches instead of overwriting each other. A turn is
written twice, each time in one transaction: the question before the model is called, everything else when it is over.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from zkchat_cli.errors import StoreError, StoreUnwritable
from zkchat_cli.models import (
    Compaction,
    Conversation,
    ConversationArchive,
    ConversationSummary,
    Fact,
    FoundMessage,
    Mention,
    MostCitedNote,
    SentPrompt,
    TurnMetrics,
    ZkChatMessage,
)
from zkchat_cli.store import (
    compactions,
    conversation_archive,
    conversations,
    facts,
    message_search,
    note_usage,
    prompt_archive,
    rows,
    secure_delete,
    sent_prompts,
)
from zkchat_cli.store.database import by_and_by, connect_to_copy, transaction
from zkchat_cli.store.prompt_codec import storable
from zkchat_cli.store.sqlite_errors import translate_errors
from zkchat_cli.store.store_connection import StoreConnection

_MESSAGE = f"SELECT {', '.join((*rows.MESSAGE, *rows.ASIDE))} FROM message"

_CHANGED = "UPDATE message SET rest = :rest, packed = :packed"
_OF_A_CONVERSATION = "WHERE id = :id AND conversation_id = :conversation_id"

_BRANCH = f"""
    WITH RECURSIVE branch (seq, parent_id) AS (
        SELECT message.seq, message.parent_id FROM conversation JOIN message ON message.id = conversation.head_id
        WHERE conversation.id = ?
        UNION
        SELECT message.seq, message.parent_id FROM branch JOIN message ON message.id = branch.parent_id
    )
    SELECT {", ".join(f"message.{column}" for column in (*rows.MESSAGE, *rows.ASIDE))}
    FROM branch CROSS JOIN message ON message.seq = branch.seq ORDER BY branch.seq
"""
"""From root to head: a parent is always written before its children, so the order of writing is the order of the branch."""


CALIBRATED_BY = 10
"""Reports of a provider after which an older one hardly counts: a model's calibration is the mean of about so many."""


class ChatSessionStore(StoreConnection):
    """Conversations, stored. Every method raises StoreError (what, why, what next) and nothing else of the store's own."""

    def __init__(self, connection: sqlite3.Connection, file: Path | None = None, unwritable: StoreUnwritable | None = None) -> None:
        super().__init__(connection, file, unwritable)
        self._facts_written = 0
        self._newest_prompt: sent_prompts.Newest | None = None

    # Conversations

    def start(self, conversation: Conversation) -> None:
        with self._writing("take a new conversation"):
            self._insert_conversation(conversation)

    def conversation(self, conversation_id: str) -> Conversation:
        with self._reading("read a conversation"):
            return conversations.read(self._db, conversation_id)

    def find(self, prefix: str | None, vault: str | None) -> Conversation:
        """The conversation with this id or the only one whose id begins so, of any vault; None: `vault`'s most recently updated."""
        with self._reading("find a conversation"):
            return conversations.find(self._db, prefix, vault)

    def conversations(self, vault: str | None = None, limit: int | None = None) -> list[Conversation]:
        """Those of `vault` (None: of all), the most recently updated first."""
        with self._reading("list conversations"):
            return conversations.newest_first(self._db, vault, limit)

    def untouched_since(self, before: str) -> tuple[str, ...]:
        """The ids of the conversations that were last updated before a time (ISO 8601 with zone)."""
        with self._reading("list conversations"):
            return conversations.untouched_since(self._db, before)

    def delete(self, *conversation_ids: str) -> None:
        """Delete conversations for good: no file of the store, no backup beside it holds a word of them afterwards, nor do the lines that
        were typed in chats. What was remembered stays, but no longer says where. Raises StoreError when there is none of that id, or when
        words of it are left somewhere."""
        with secure_delete.apart(self._db), self._writing("delete a conversation"):
            for conversation_id in conversation_ids:
                self._known(conversation_id)
            secure_delete.begin(self._db, [storable(conversation_id) for conversation_id in conversation_ids])
        with translate_errors(self._file, "be cleared of a deleted conversation"):
            secure_delete.finish(self._db, self._file)

    def overviews(self, vault: str | None = None, limit: int | None = None) -> list[ConversationSummary]:
        """`conversations`, with what a list shows of each besides."""
        with self._reading("list conversations"):
            return conversations.overviews(self._db, vault, limit)

    def overview(self, conversation_id: str) -> ConversationSummary:
        """The same of one conversation. Raises StoreError when there is none of that id."""
        with self._reading("read a conversation"):
            return conversations.overview(self._db, conversation_id)

    def mentions(self, vault: str, relative_path: str) -> tuple[Mention, ...]:
        """The answers in `vault`'s conversations, of every branch, that used the note, the newest first."""
        with self._reading("look for a note"):
            return note_usage.read(self._db, storable(vault), storable(relative_path))

    def rename(self, conversation_id: str, title: str) -> None:
        with self._writing("rename a conversation"):
            self._change(conversation_id, "title = ?", storable(title))

    # Memory

    def remember(self, vault: str, fact: Fact) -> Fact | None:
        """Let a fact about `vault` hold from now on; returns the one of the same key that it replaces, which stays as history."""
        self._facts_written += 1
        with self._writing("remember"):
            return facts.remember(self._db, storable(vault), fact)

    def facts(self, vault: str) -> tuple[Fact, ...]:
        """The facts that hold, the newest first."""
        with self._reading("read what was remembered"):
            return facts.read(self._db, storable(vault))

    def facts_version(self) -> tuple[int, int]:
        """Another value whenever the facts may be others: this store has written some, or another process anything."""
        with self._reading("see whether it has changed"):
            return self._facts_written, int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def fact_history(self, vault: str, key: str) -> tuple[Fact, ...]:
        """Every fact that ever had the key, the newest first."""
        with self._reading("read what was remembered"):
            return facts.history(self._db, storable(vault), key)

    def forget(self, vault: str, key: str) -> Fact | None:
        """Delete a fact with its history, and return it; None when there is none of that key."""
        self._facts_written += 1
        with self._writing("forget"):
            return facts.forget(self._db, storable(vault), key)

    def often_cited(self, vault: str) -> tuple[MostCitedNote, ...]:
        """The notes that the answers of more than one conversation cited, most conversations first."""
        with self._reading("look for notes that are often cited"):
            return note_usage.often_cited(self._db, storable(vault))

    def indexing(self) -> Iterator[tuple[int, int]]:
        """Make searchable what was said since the last search, some at a time: how much of how many messages is done. It takes no time,
        but once a minute a million: after an older zkchat's store was taken over. What cannot be written down is left to `search`."""
        with suppress(StoreUnwritable):
            yield from self._indexing()

    def _indexing(self) -> Iterator[tuple[int, int]]:
        with translate_errors(self._file, "search what was said"):
            total, done = message_search.waiting(self._db), 0
            for made in by_and_by(self._db, message_search.index):
                done += made
                yield min(done, total), total

    def search(self, vault: str | None, text: str, *, conversation_id: str | None = None, limit: int = 10) -> tuple[FoundMessage, ...]:
        """The messages that bear most on `text`, best first: of one conversation, or of all with `vault` (None: of all). What waits for it
        is made searchable first, on a full disk in a copy in memory."""
        try:
            list(self._indexing())
        except StoreUnwritable as e:
            if self._file is None:
                raise
            with closing(ChatSessionStore(connect_to_copy(self._file), self._file, e)) as copy:
                return copy.search(vault, text, conversation_id=conversation_id, limit=limit)
        with translate_errors(self._file, "search what was said"):
            return message_search.search(self._db, _text(vault), text, _text(conversation_id), limit)

    # Models

    def calibration(self, model: str) -> float:
        """How many tokens this model makes of each that zkchat counts, by what its provider reported (see CALIBRATED_BY); 1.0 if it
        never did."""
        with self._reading("read how a model counts"):
            row = self._db.execute("SELECT factor FROM calibration WHERE model = ?", (storable(model),)).fetchone()
            return 1.0 if row is None else float(row[0])

    # Turns

    def add(self, conversation_id: str, message: ZkChatMessage) -> None:
        """Append one message and make it the head. A question above it that nobody has answered is unfinished from now on: the process that
        should have was killed, or is slower than its user."""
        with self._writing("take a message"):
            self._known(conversation_id)
            left = "UPDATE message SET status = 'unfinished' WHERE id = ? AND conversation_id = ? AND status = 'pending'"
            self._db.execute(left, (_text(message.parent_id), _text(conversation_id)))
            self._insert_message(conversation_id, message)
            self._change(conversation_id, "head_id = ?, updated_at = ?", storable(message.id), storable(message.timestamp))

    def commit(
        self,
        conversation_id: str,
        user: ZkChatMessage,
        answer: Sequence[ZkChatMessage],
        *,
        updated_at: str,
        title: str | None = None,
        sent: Sequence[SentPrompt] = (),
        learned: TurnMetrics | None = None,
    ) -> None:
        """End a turn: the stored question's new status and figures, the new messages, and the last of them as head.

        `title` is taken only where the conversation has none. `sent` are the prompts of the turn's model calls.
        All in one transaction: what a transaction costs is waiting for the disk.
        """
        with self._writing("take a turn"):
            self._known(conversation_id)
            question = rows.from_message(user) | {"conversation_id": conversation_id}
            if self._db.execute(f"{_CHANGED}, status = :status {_OF_A_CONVERSATION}", question).rowcount == 0:
                raise StoreError(f"The question {user.id} is not in conversation {conversation_id}", "Add it before its turn is committed.")
            said = {message.id: (self._insert_message(conversation_id, message), storable(message.content)) for message in answer}
            head = answer[-1].id if answer else user.id
            self._change(conversation_id, "head_id = ?, updated_at = ?, title = coalesce(title, ?)", *map(_text, (head, updated_at, title)))
            newest = sent_prompts.write(self._db, storable(conversation_id), sent, self._newest_prompt, said)
            if learned is not None:
                self._learn(conversation_id, learned, updated_at)
        self._newest_prompt = newest  # not before all of it is stored

    def _learn(self, conversation_id: str, learned: TurnMetrics, at: str) -> None:
        if learned.facts:
            self._facts_written += 1
            facts.access(self._db, self.conversation(conversation_id).vault, learned.facts, at)
        self._db.executemany(
            "INSERT INTO calibration VALUES (:model, :factor, 1) ON CONFLICT (model) DO UPDATE SET"
            " factor = (factor * min(calls, :most) + :factor) / (min(calls, :most) + 1), calls = calls + 1",
            [{"model": storable(model), "factor": factor, "most": CALIBRATED_BY - 1} for model, factor in learned.factors],
        )

    def prompts(self, message_id: str) -> tuple[SentPrompt, ...]:
        """What the model calls of the turn were sent that a message belongs to, in their order; none where none was kept (another program's
        conversation, a turn from before prompts were). Of the log's messages that were left out, `prompt.dropped` says nothing."""
        with self._reading("read a prompt"):
            return sent_prompts.read(self._db, storable(message_id))

    def mark(self, conversation_id: str, messages: Sequence[ZkChatMessage]) -> None:
        """Take in what was changed in stored messages but not said: a pin, a priority. All of them or none."""
        with self._writing("mark a message"):
            self._known(conversation_id)
            for message in messages:
                row = rows.from_message(message) | {"conversation_id": conversation_id}
                if self._db.execute(f"{_CHANGED} {_OF_A_CONVERSATION}", row).rowcount == 0:
                    raise StoreError(f"The message {message.id} is not in conversation {conversation_id}", "Nothing was changed.")

    def move_head(self, conversation_id: str, message_id: str | None) -> None:
        """Make another message the end of the current branch; None: the conversation's empty beginning."""
        with self._writing("move in a conversation"):
            self._change(conversation_id, "head_id = ?", _text(message_id))

    def history(self, conversation_id: str) -> tuple[ZkChatMessage, ...]:
        """The current branch, from its root to the head."""
        self.conversation(conversation_id)
        with self._reading("read a conversation"):
            return rows.to_messages(self._db.execute(_BRANCH, (conversation_id,)))

    def log(self, conversation_id: str) -> tuple[ZkChatMessage, ...]:
        """Every message of every branch, in the order of writing."""
        self.conversation(conversation_id)
        with self._reading("read a conversation"):
            return rows.to_messages(self._db.execute(f"{_MESSAGE} WHERE conversation_id = ? ORDER BY seq", (conversation_id,)))

    # Summaries

    def compact(self, conversation_id: str, compaction: Compaction) -> None:
        """Note that from now on this summary stands for the messages it covers; they stay."""
        with self._writing("take a summary"):
            self._known(conversation_id)
            compactions.insert(self._db, storable(conversation_id), compaction)

    def undo_compaction(self, conversation_id: str, compaction_id: str | None = None) -> Compaction | None:
        """Take back that summary, or the last one of any branch that still holds, and return it; None when there is none."""
        with self._writing("take a summary back"):
            self._known(conversation_id)
            return compactions.undo(self._db, storable(conversation_id), compaction_id)

    def compactions(self, conversation_id: str) -> tuple[Compaction, ...]:
        """The summaries that hold, oldest first."""
        self.conversation(conversation_id)
        with self._reading("read a conversation's summaries"):
            return compactions.read(self._db, storable(conversation_id))

    # Out and in again

    def archive(self, conversation_id: str, *, prompts: bool = False) -> ConversationArchive:
        """The conversation as one value, as it was at one moment: what was said, and the summaries that hold. With `prompts` it is all that
        is stored of it: what the model was sent, too, and the summaries that were taken back."""
        with translate_errors(self._file, "read a conversation"), transaction(self._db, "DEFERRED"), rows.uncollected():
            conversation = self.conversation(conversation_id)
            made = compactions.read(self._db, conversation_id, undone=prompts)
            return ConversationArchive(
                conversation=conversation,
                messages=self.log(conversation_id),
                compactions=made,
                prompts=prompt_archive.read(self._db, conversation_id, made) if prompts else None,
            )

    def restore(self, archive: ConversationArchive, new_id: Callable[[], str]) -> Conversation:
        """Store an archive, all of it or nothing; when one of its ids is taken already, as a copy in which all ids are new."""
        return self.restore_all([archive], new_id)[0]

    def restore_all(self, given: Sequence[ConversationArchive], new_id: Callable[[], str]) -> list[Conversation]:
        """`restore` for several archives in one transaction: all of them or none."""
        for archive in given:
            if problem := conversation_archive.flaw(archive):
                raise StoreError(f"The imported conversation does not fit together: {problem}", "Nothing was stored; export it again.")
        with self._writing("take an imported conversation"), rows.uncollected():
            return [self._take(conversation_archive.with_fresh_ids(a, new_id) if conversations.is_known(self._db, a) else a) for a in given]

    def _take(self, archive: ConversationArchive) -> Conversation:
        conversation = archive.conversation
        self._insert_conversation(conversation.model_copy(update={"head_id": None}))
        for message in archive.messages:
            self._insert_message(conversation.id, message)
        for compaction in archive.compactions:
            compactions.insert(self._db, storable(conversation.id), compaction)
        prompt_archive.write(self._db, archive)
        self._change(conversation.id, "head_id = ?", _text(conversation.head_id))
        return self.conversation(conversation.id)

    # Inside a transaction

    def _known(self, conversation_id: str) -> None:
        self.conversation(conversation_id)

    def _change(self, conversation_id: str, assignments: str, *values: str | None) -> None:
        changed = self._db.execute(f"UPDATE conversation SET {assignments} WHERE id = ?", (*values, _text(conversation_id)))
        if changed.rowcount == 0:
            self._known(conversation_id)

    def _insert_conversation(self, conversation: Conversation) -> None:
        self._insert("conversation", rows.from_conversation(conversation))

    def _insert_message(self, conversation_id: str, message: ZkChatMessage) -> int:
        return self._insert("message", rows.from_message(message) | {"conversation_id": conversation_id})

    def _insert(self, table: str, row: dict[str, Any]) -> int:
        """The number of the new row."""
        return self._db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES (:{', :'.join(row)})", row).lastrowid or 0


def _text(text: str | None) -> str | None:
    return None if text is None else storable(text)
