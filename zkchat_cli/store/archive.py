"""A whole conversation as one value: read from the store, and checked and stored."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from zkchat_cli.errors import StoreError
from zkchat_cli.models import Conversation, ConversationArchive, Value, ZkChatMessage
from zkchat_cli.store import compactions, conversations, rows, sent_prompts, stored_messages
from zkchat_cli.text.words import replace_surrogates

V = TypeVar("V", bound=Value)


def read(connection: sqlite3.Connection, log: tuple[ZkChatMessage, ...], conversation_id: str, *, prompts: bool) -> ConversationArchive:
    conversation = conversations.read(connection, conversation_id)
    made = compactions.read(connection, conversation.id, undone=prompts)
    sent = sent_prompts.read_archive(connection, conversation.id, log) if prompts else None
    return ConversationArchive(conversation=conversation, messages=log, compactions=made, prompts=sent)


def insert_all(connection: sqlite3.Connection, given: Sequence[ConversationArchive], new_id: Callable[[], str]) -> list[Conversation]:
    """Store archives. If an id is taken, its archive is stored as a copy with new ids."""
    with rows.paused_gc():
        return [_insert(connection, _with_new_ids(each, new_id) if _has_id_of(connection, each) else each) for each in given]


def merge(connection: sqlite3.Connection, archive: ConversationArchive) -> int:
    """Store those messages of a conversation that are not stored yet, as their ids say; gives their number.

    Its head moves with them, unless the conversation was continued here. Raises StoreError for a conversation with other notes.
    """
    id_ = replace_surrogates(archive.conversation.id)
    with rows.paused_gc():
        if connection.execute("SELECT 1 FROM conversation WHERE id = ?", (id_,)).fetchone() is None:
            _insert(connection, archive)
            return len(archive.messages)
        conversation = conversations.read(connection, id_)
        if conversation.vault != replace_surrogates(archive.conversation.vault):
            hint = f"Import it with --vault {conversation.vault}, or delete it there first."
            raise StoreError(f"the conversation {id_} was imported with other notes: {conversation.vault}", hint)
        stored = {stored_id for (stored_id,) in connection.execute("SELECT id FROM message WHERE conversation_id = ?", (id_,))}
        new = [message for message in archive.messages if message.id not in stored]
        for message in new:
            stored_messages.insert(connection, id_, message)
        if new and conversation.head_id in {message.id for message in archive.messages}:
            head, updated_at = archive.conversation.head_id, archive.conversation.updated_at
            conversations.update(connection, id_, "head_id = ?, updated_at = ?", head, updated_at)
        return len(new)


def _insert(connection: sqlite3.Connection, archive: ConversationArchive) -> Conversation:
    conversation = archive.conversation
    conversations.insert(connection, conversation.model_copy(update={"head_id": None}))
    for message in archive.messages:
        stored_messages.insert(connection, conversation.id, message)
    for compaction in archive.compactions:
        compactions.insert(connection, conversation.id, compaction)
    if archive.prompts is not None:
        sent_prompts.write_archive(connection, conversation.id, archive.prompts)
    conversations.move_head(connection, conversation.id, conversation.head_id)
    return conversations.read(connection, conversation.id)


def _has_id_of(connection: sqlite3.Connection, archive: ConversationArchive) -> bool:
    """Whether one of the archive's ids is in the store already."""
    ids = [("conversation", archive.conversation.id), *(("message", message.id) for message in archive.messages)]
    ids += (("compaction", compaction.id) for compaction in archive.compactions)
    query = "SELECT 1 FROM {} WHERE id = ?"
    return any(connection.execute(query.format(table), (replace_surrogates(id_),)).fetchone() for table, id_ in ids)


def _with_new_ids(archive: ConversationArchive, new_id: Callable[[], str]) -> ConversationArchive:
    """The same conversation with a new id for the conversation, each message and each compaction, wherever they are named."""
    ids = {message.id: new_id() for message in archive.messages} | {compaction.id: new_id() for compaction in archive.compactions}

    def renamed(value: V, *names: str) -> V:
        """The value with the ids in these fields replaced; what is no id of the archive, such as the path of a note, stays."""
        return value.model_copy(update={name: _replace_ids(getattr(value, name), ids) for name in names})

    prompts = archive.prompts and archive.prompts.model_copy(
        update={
            "messages": tuple(renamed(message, "source_ids") for message in archive.prompts.messages),
            "calls": tuple(renamed(call, "question_id") for call in archive.prompts.calls),
        }
    )
    return archive.model_copy(
        update={
            "conversation": renamed(archive.conversation, "head_id").model_copy(update={"id": new_id()}),
            "messages": tuple(renamed(message, "id", "parent_id") for message in archive.messages),
            "compactions": tuple(renamed(c, "id", "last_id", "made_after", "masked", "quoted") for c in archive.compactions),
            "prompts": prompts,
        }
    )


def _replace_ids(value: str | tuple[str, ...] | None, ids: Mapping[str, str]) -> str | tuple[str, ...] | None:
    if isinstance(value, tuple):
        return tuple(ids.get(id_, id_) for id_ in value)
    return value and ids.get(value, value)
