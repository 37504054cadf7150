"""A whole conversation as one value: read from the store, and checked and stored."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeVar

from zkchat_cli.errors import StoreError
from zkchat_cli.models import Conversation, ConversationArchive, Value, ZkChatMessage
from zkchat_cli.store import compactions, conversations, messages, rows, sent_prompts
from zkchat_cli.text.words import replace_surrogates

V = TypeVar("V", bound=Value)


def read(connection: sqlite3.Connection, log: tuple[ZkChatMessage, ...], conversation_id: str, *, prompts: bool) -> ConversationArchive:
    conversation = conversations.read(connection, conversation_id)
    made = compactions.read(connection, conversation.id, undone=prompts)
    sent = sent_prompts.read_archive(connection, conversation.id, log) if prompts else None
    return ConversationArchive(conversation=conversation, messages=log, compactions=made, prompts=sent)


def insert_all(connection: sqlite3.Connection, given: Sequence[ConversationArchive], new_id: Callable[[], str]) -> list[Conversation]:
    """Store archives. If an id is taken, its archive is stored as a copy with new ids."""
    stored = []
    with rows.paused_gc():
        for archive in given:
            ids = [("conversation", archive.conversation.id), *(("message", message.id) for message in archive.messages)]
            ids += (("compaction", compaction.id) for compaction in archive.compactions)
            is_taken = any(connection.execute(f"SELECT 1 FROM {table} WHERE id = ?", (id_,)).fetchone() for table, id_ in ids)
            stored.append(_insert(connection, _with_new_ids(archive, new_id) if is_taken else archive))
    return stored


def merge(connection: sqlite3.Connection, archive: ConversationArchive) -> int:
    """Store those messages of a conversation that are not stored yet, as their ids say; gives their number.

    Its head moves with them, unless the conversation was continued here. Raises StoreError for a conversation with other notes.
    """
    id_, vault = archive.conversation.id, replace_surrogates(archive.conversation.vault)
    with rows.paused_gc():
        if connection.execute("SELECT 1 FROM conversation WHERE id = ?", (id_,)).fetchone() is None:
            _insert(connection, archive)
            return len(archive.messages)
        conversation = conversations.read(connection, id_)
        if conversation.vault != vault:
            hint = f"Import it with --vault {conversation.vault}, or delete it there first."
            raise StoreError(f"the conversation {id_} was imported with other notes: {conversation.vault}", hint)
        stored = {stored_id for (stored_id,) in connection.execute("SELECT id FROM message WHERE conversation_id = ?", (id_,))}
        new = [message for message in archive.messages if message.id not in stored]
        for message in new:
            messages.insert(connection, id_, message)
        if new and conversation.head_id in {message.id for message in archive.messages}:
            head, updated_at = archive.conversation.head_id, archive.conversation.updated_at
            conversations.update(connection, id_, "head_id = ?, updated_at = ?", head, updated_at)
        return len(new)


def _insert(connection: sqlite3.Connection, archive: ConversationArchive) -> Conversation:
    conversation = archive.conversation
    conversations.insert(connection, conversation.model_copy(update={"head_id": None}))
    for message in archive.messages:
        messages.insert(connection, conversation.id, message)
    for compaction in archive.compactions:
        compactions.insert(connection, conversation.id, compaction)
    if archive.prompts is not None:
        sent_prompts.write_archive(connection, conversation.id, archive.prompts)
    conversations.move_head(connection, conversation.id, conversation.head_id)
    return conversations.read(connection, conversation.id)


def _with_new_ids(archive: ConversationArchive, new_id: Callable[[], str]) -> ConversationArchive:
    """The same conversation with a new id for the conversation, each message and each compaction, wherever they are named."""
    ids = {message.id: new_id() for message in archive.messages} | {compaction.id: new_id() for compaction in archive.compactions}

    def renamed(value: V, *names: str, **more: str) -> V:
        """The value with the ids in these fields replaced; what is no id of the archive, such as the path of a note, stays."""
        old = {name: getattr(value, name) for name in names}
        new = {name: tuple(ids.get(i, i) for i in of) if isinstance(of, tuple) else ids.get(of, of) for name, of in old.items()}
        return value.model_copy(update=new | more)

    prompts = archive.prompts
    if prompts is not None:
        sent = tuple(renamed(message, "source_ids") for message in prompts.messages)
        prompts = prompts.model_copy(update={"messages": sent, "calls": tuple(renamed(call, "question_id") for call in prompts.calls)})
    return archive.model_copy(
        update={
            "conversation": renamed(archive.conversation, "head_id", id=new_id()),
            "messages": tuple(renamed(message, "id", "parent_id") for message in archive.messages),
            "compactions": tuple(renamed(c, "id", "last_id", "made_after", "masked", "quoted") for c in archive.compactions),
            "prompts": prompts,
        }
    )
