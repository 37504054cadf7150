"""The table `message`, with the notes that each message uses (`mention`) and the words by which it
is found (`message_index`). The server's functions write it (`schema_turns.py`).
"""

from collections.abc import Sequence
from typing import Any

from psycopg import Cursor

from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.models.messages import ZkChatMessage, branch_to, is_chat
from zkchat_cli.store import codec, rows
from zkchat_cli.store.note_uses import note_uses
from zkchat_cli.store.postgres.conversations import ConversationRow
from zkchat_cli.store.postgres.message_index import indexed_words
from zkchat_cli.store.postgres.postgres_connection import PostgresDatabase, clean_value

_MOST_TOKENS = 1_000_000_000
"""A message's token count. In an imported message it can be any number, and the sum of all must fit
into 64 bits.
"""
_SELECT_MESSAGE = f"SELECT {', '.join(rows.MESSAGE)} FROM message"
_ADD = "SELECT add_messages(%s, %s, %s::json, %s, %s, %s)"
_APPEND = "SELECT head FROM append_message(%s, %s::json, %s, %s, %s)"
_UPDATE = "SELECT update_message(%s, %s::json, %s)"


def insert(
    db: PostgresDatabase,
    row: ConversationRow,
    added: Sequence[ZkChatMessage],
    *,
    head: str | None = None,
    updated_at: str | None = None,
    title: str | None = None,
) -> None:
    """Append messages to the log of a conversation that is locked, in this order. With a `head` it
    ends there now; `title` is that of a conversation that has none.
    """
    if added or updated_at is not None:
        db.execute(_ADD, (*row, _to_json([*map(_added, added)]), head, updated_at, title))


def append(db: PostgresDatabase, conversation_id: str, message: ZkChatMessage) -> Cursor[Any]:
    """Append a message to a conversation, which ends there now, and lock it. The answer is the head
    that was there before; no row for a conversation that the user cannot write.
    """
    added = _to_json([_added(message)])
    values = (conversation_id, added, message.id, message.parent_id, message.timestamp)
    return db.execute(_APPEND, values)


def update(
    db: PostgresDatabase,
    conversation: ConversationRow,
    message: ZkChatMessage,
    *,
    with_status: bool = False,
) -> None:
    """Store the fields of a message that are not its words. The transaction fails if the
    conversation, which is locked, has no such message.
    """
    db.execute(_UPDATE, (conversation.seq, _to_json(_from_message(message)), with_status))


def read_log(db: PostgresDatabase, conversation_seq: int) -> tuple[ZkChatMessage, ...]:
    """Every message of every branch, in the order of writing."""
    query = f"{_SELECT_MESSAGE} WHERE conversation_seq = %s ORDER BY seq"
    found = db.execute(query, (conversation_seq,))
    return _with_written_texts(found.fetchall())


def read_latest(
    db: PostgresDatabase, conversation_seq: int, conversation: ConversationOverview, count: int
) -> tuple[ZkChatMessage, ...]:
    """The last `count` messages of the current branch, which are usually the last of all; only
    where they are not, all of them are read.
    """
    query = f"{_SELECT_MESSAGE} WHERE conversation_seq = %s ORDER BY seq DESC LIMIT %s"
    found: list[ZkChatMessage] = []
    wanted = conversation.head_id
    for columns in db.execute(query, (conversation_seq, count)):
        message = to_message(columns)
        if message.id == wanted:
            found.append(message)
            wanted = message.parent_id
    if wanted is None or len(found) == count:
        return tuple(reversed(found))
    return branch_to(read_log(db, conversation_seq), conversation.head_id)[-count:]


def to_message(columns: Sequence[Any]) -> ZkChatMessage:
    """The message in the columns `rows.MESSAGE`, with what PostgreSQL's text cannot contain."""
    row = rows.MessageRow._make(columns)
    return _with_written_text(rows.to_message(row), row)


def _with_written_texts(found: Sequence[Sequence[Any]]) -> tuple[ZkChatMessage, ...]:
    written = {row.id: row for row in map(rows.MessageRow._make, found) if "\ufffd" in row.content}
    log = rows.to_messages(found)
    if not written:
        return log
    return tuple(
        _with_written_text(message, written[message.id]) if message.id in written else message
        for message in log
    )


def _with_written_text(message: ZkChatMessage, row: rows.MessageRow) -> ZkChatMessage:
    """The message with its NUL characters, which `_from_message` has written into `rest`."""
    if "\ufffd" not in message.content or '"content":' not in row.rest:
        return message
    content = codec.decode(row.rest).get("content")
    return message.model_copy(update={"content": content}) if content else message


def _added(message: ZkChatMessage) -> dict[str, Any]:
    """A new message with the words by which it is found."""
    words = indexed_words(message.content)
    return _from_message(message) | {"words": words.vector, "length": words.length}


def _from_message(message: ZkChatMessage) -> dict[str, Any]:
    """The columns of a message, the notes it uses, and what its conversation's figures are made
    of.
    """
    values = rows.from_message(message)
    if "\0" in values["content"]:
        written = codec.decode(values["rest"]) | {"content": values["content"]}
        values["rest"] = codec.encode(written).decode()
    for name in rows.MESSAGE:
        values[name] = clean_value(values[name])
    row = rows.MessageRow._make(values[name] for name in rows.MESSAGE)
    values["checksum"] = row.make_checksum()
    if row.packed is not None:
        values["packed"] = f"\\x{row.packed.hex()}"
    values["is_chat"] = is_chat(message)
    values["tokens"] = max(0, min(_MOST_TOKENS, message.token_count or 0))
    uses = [
        {name: clean_value(value) for name, value in use._asdict().items()}
        for use in note_uses(message)
    ]
    values["uses"] = uses or None
    return values


def _to_json(document: object) -> str:
    return codec.encode(document).decode()


def stored_states(db: PostgresDatabase, conversation_seq: int) -> dict[str, str]:
    """The states of a conversation's messages by their ids."""
    query = "SELECT id, status FROM message WHERE conversation_seq = %s"
    return dict(db.execute(query, (conversation_seq,)).fetchall())
