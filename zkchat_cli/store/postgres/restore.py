"""Storing a conversation that was imported, copied or kept beside: what is new in it, as its ids
say.
"""

from zkchat_cli.errors import StoreError
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.store import rows
from zkchat_cli.store.postgres import compactions, conversations, messages, sent_prompts
from zkchat_cli.store.postgres.conversations import ConversationRow
from zkchat_cli.store.postgres.postgres_connection import PostgresDatabase, clean_value
from zkchat_cli.store.rows import AddedMessages


def restore(db: PostgresDatabase, archive: ConversationArchive) -> int:
    """Store a conversation, inside the caller's transaction; of one that is here already only what
    is new. Returns the number of new messages. Raises StoreError if it is here with other notes.
    """
    id_ = archive.conversation.id
    is_new = not conversations.exists(db, id_)
    if is_new:
        # The head is set when its message is stored
        empty = archive.conversation.model_copy(update={"head_id": None})
        conversations.insert(db, empty)
    row = conversations.lock(db, id_).row
    known = conversations.read(db, id_)
    _check_vault(archive, known)
    added, changed = _add_messages(db, row, archive)
    _add_compactions(db, row, archive)
    if archive.prompts is not None:
        sent_prompts.write_archive(db, row, id_, archive.prompts, None if is_new else changed)
    if added and _continues(archive, known):
        conversations.update(
            db,
            row.seq,
            "head_id = %s, updated_at = %s",
            archive.conversation.head_id,
            archive.conversation.updated_at,
        )
    return added


def _check_vault(archive: ConversationArchive, known: ConversationOverview) -> None:
    if known.vault != clean_value(archive.conversation.vault):
        raise StoreError(
            f"the conversation {known.id} was imported with other notes: {known.vault}",
            f"Import it with --vault {known.vault}, or delete it there first.",
        )


def _add_messages(
    db: PostgresDatabase, row: ConversationRow, archive: ConversationArchive
) -> AddedMessages:
    stored = messages.stored_states(db, row.seq)
    new = [message for message in archive.messages if message.id not in stored]
    ended = [
        message
        for message in archive.messages
        if message.id in stored and rows.has_ended_since(message, stored[message.id])
    ]
    for message in ended:
        messages.update(db, row, message, with_status=True)
    messages.insert(db, row, new)
    return AddedMessages(len(new), {message.id for message in (*new, *ended)})


def _add_compactions(
    db: PostgresDatabase, row: ConversationRow, archive: ConversationArchive
) -> None:
    stored = {each.id for each in compactions.read(db, row.seq, undone=True)}
    for compaction in archive.compactions:
        if compaction.id not in stored:
            compactions.insert(db, row, compaction)


def _continues(archive: ConversationArchive, known: ConversationOverview) -> bool:
    """Whether the archive has the message at which the stored conversation ends: it was not
    continued here.
    """
    if known.head_id is None:
        return True
    return any(message.id == known.head_id for message in archive.messages)
