"""The table `message`, with the notes that each message uses (`mention`)."""

import sqlite3

from zkchat_cli.errors import StoreError
from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.models.messages import ZkChatMessage, branch_to, is_chat
from zkchat_cli.store import rows
from zkchat_cli.store.note_uses import note_uses
from zkchat_cli.store.sqlite import conversations
from zkchat_cli.store.sqlite.database import insert_row

_CHECKSUM = "checksum({0}packed, id, parent_id, role, content, timestamp, {0}rest)"
# A damaged message stays damaged
_UPDATE = f"""
    UPDATE message SET
        rest = :rest,
        packed = :packed,
        status = coalesce(:new_status, status),
        checksum = CASE checksum
            WHEN {_CHECKSUM.format("")} THEN {_CHECKSUM.format(":")}
            ELSE checksum
        END
    WHERE id = :id AND conversation_id = :conversation_id
    RETURNING seq
"""
_LOG = "WHERE conversation_id = ? ORDER BY seq"


def insert(
    connection: sqlite3.Connection,
    conversation_id: str,
    message: ZkChatMessage,
    *,
    seq: int | None = None,
) -> None:
    """Append a message to the log of a conversation. `seq` is its row; None: the next one."""
    row = rows.from_message(message) | {"seq": seq, "conversation_id": conversation_id}
    _add_mentions(connection, insert_row(connection, "message", row), message)


def update(
    connection: sqlite3.Connection,
    conversation_id: str,
    message: ZkChatMessage,
    *,
    with_status: bool = False,
) -> None:
    """Store the fields of a message that are not its words. Raises StoreError if the conversation
    has no such message.
    """
    row = rows.from_message(message) | {
        "conversation_id": conversation_id,
        "new_status": message.status if with_status else None,
    }
    updated = connection.execute(_UPDATE, row).fetchall()
    if not updated:
        conversations.read(connection, conversation_id)
        raise StoreError(
            f"The message {message.id} is not in conversation {conversation_id}",
            "Nothing was changed.",
        )
    [(seq,)] = updated
    connection.execute("DELETE FROM mention WHERE message_seq = ?", (seq,))
    _add_mentions(connection, seq, message)


def give_up_pending(
    connection: sqlite3.Connection, conversation_id: str, message_id: str | None
) -> None:
    """Mark a question as unfinished if it still waits for its answer."""
    connection.execute(
        """
        UPDATE message SET status = 'unfinished'
        WHERE id = ? AND conversation_id = ? AND status = 'pending'
        """,
        (message_id, conversation_id),
    )


def read_log(
    connection: sqlite3.Connection, conversation: ConversationOverview
) -> tuple[ZkChatMessage, ...]:
    """Every message of every branch, in the order of writing."""
    found = connection.execute(f"{rows.SELECT_MESSAGE} {_LOG}", (conversation.id,))
    log = rows.to_messages(found)
    if _is_whole(log, conversation):
        return log
    # A damaged page of an SQLite index hides messages; reading the whole table finds them
    found = connection.execute(f"{rows.SELECT_MESSAGE} NOT INDEXED {_LOG}", (conversation.id,))
    return rows.to_messages(found)


def _is_whole(log: tuple[ZkChatMessage, ...], conversation: ConversationOverview) -> bool:
    if any(message.status == "damaged" for message in log):
        return False
    head_id = conversation.head_id
    if head_id is not None and all(message.id != head_id for message in reversed(log)):
        return False
    return sum(map(is_chat, log)) >= conversation.messages


def read_latest(
    connection: sqlite3.Connection, conversation: ConversationOverview, count: int
) -> tuple[ZkChatMessage, ...]:
    """The last `count` messages of the current branch, which are usually the last of all; only
    where they are not, all of them are read.
    """
    query = f"{rows.SELECT_MESSAGE} WHERE conversation_id = ? ORDER BY seq DESC LIMIT ?"
    found: list[ZkChatMessage] = []
    wanted = conversation.head_id
    for row in connection.execute(query, (conversation.id, count)):
        message = rows.to_message(row)
        if message.id == wanted:
            found.append(message)
            wanted = message.parent_id
    if wanted is None or len(found) == count:
        return tuple(reversed(found))
    return branch_to(read_log(connection, conversation), conversation.head_id)[-count:]


def _add_mentions(connection: sqlite3.Connection, seq: int, message: ZkChatMessage) -> None:
    """Store the notes that a question or answer with this number references and cites."""
    connection.executemany(
        "INSERT OR IGNORE INTO mention VALUES (?, ?, ?, ?, ?, ?)",
        [(seq, *use) for use in note_uses(message)],
    )
