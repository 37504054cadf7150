"""Storing a conversation that was imported: what is new in it, as its ids say."""

import sqlite3

from zkchat_cli.errors import StoreError
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.store import rows
from zkchat_cli.store.rows import AddedMessages
from zkchat_cli.store.sqlite import compactions, conversations, messages, sent_prompts
from zkchat_cli.text.words import replace_surrogates

_STATES = "SELECT id, status FROM message WHERE conversation_id = ?"


def restore(connection: sqlite3.Connection, archive: ConversationArchive) -> int:
    """Store a conversation, inside the caller's transaction; of one that is here already only what
    is new. Returns the number of new messages. Raises StoreError if it is here with other notes.
    """
    id_ = archive.conversation.id
    is_new = not conversations.exists(connection, id_)
    if is_new:
        # The head is set when its message is stored
        empty = archive.conversation.model_copy(update={"head_id": None})
        conversations.insert(connection, empty)
    known = conversations.read(connection, id_)
    _check_vault(archive, known)
    stored = dict(connection.execute(_STATES, (id_,)).fetchall())
    added, changed = _add_messages(connection, archive, stored)
    _add_compactions(connection, archive)
    if archive.prompts is not None:
        sent_prompts.write_archive(connection, id_, archive.prompts, None if is_new else changed)
    if added and _continues(archive, known):
        conversations.update(
            connection,
            id_,
            "head_id = ?, updated_at = ?",
            archive.conversation.head_id,
            archive.conversation.updated_at,
        )
    return added


def _check_vault(archive: ConversationArchive, known: ConversationOverview) -> None:
    if known.vault != replace_surrogates(archive.conversation.vault):
        raise StoreError(
            f"the conversation {known.id} was imported with other notes: {known.vault}",
            f"Import it with --vault {known.vault}, or delete it there first.",
        )


def _add_messages(
    connection: sqlite3.Connection, archive: ConversationArchive, stored: dict[str, str]
) -> AddedMessages:
    """`stored` has the states of the stored messages by their ids."""
    id_ = archive.conversation.id
    new = [message for message in archive.messages if message.id not in stored]
    ended = [
        message
        for message in archive.messages
        if message.id in stored and rows.has_ended_since(message, stored[message.id])
    ]
    for message in ended:
        messages.update(connection, id_, message, with_status=True)
    for message in new:
        messages.insert(connection, id_, message)
    return AddedMessages(len(new), {message.id for message in (*new, *ended)})


def _add_compactions(connection: sqlite3.Connection, archive: ConversationArchive) -> None:
    id_ = archive.conversation.id
    stored = {each.id for each in compactions.read(connection, id_, undone=True)}
    for compaction in archive.compactions:
        if compaction.id not in stored:
            compactions.insert(connection, id_, compaction)


def _continues(archive: ConversationArchive, known: ConversationOverview) -> bool:
    """Whether the archive has the message at which the stored conversation ends: it was not
    continued here.
    """
    if known.head_id is None:
        return True
    return any(message.id == known.head_id for message in archive.messages)
