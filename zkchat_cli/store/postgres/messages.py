"""The table `message`, with the notes that each message uses (`mention`) and the words by which it
is found (`message_index`).
"""

from collections.abc import Sequence
from typing import Any

from psycopg import Cursor

from zkchat_cli.errors import StoreError
from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.models.messages import ZkChatMessage, branch_to, is_chat
from zkchat_cli.store import codec, rows
from zkchat_cli.store.note_uses import note_uses
from zkchat_cli.store.postgres import message_index
from zkchat_cli.store.postgres.conversations import SEQ_OF_ID, ConversationRow
from zkchat_cli.store.postgres.postgres_connection import PostgresDatabase, clean_value

_MOST_TOKENS = 1_000_000_000
"""A message's token count. In an imported message it can be any number, and the sum of all must fit
into 64 bits.
"""
_SELECT_MESSAGE = f"SELECT {', '.join(rows.MESSAGE)} FROM message"
_TYPES = {"packed": "bytea", "checksum": "bigint", "tokens": "bigint", "is_chat": "boolean"}
_COLUMNS = (*rows.MESSAGE, "is_chat", "tokens")
_ARRAYS = ", ".join(f"%({name})s::{_TYPES.get(name, 'text')}[]" for name in _COLUMNS)
_INSERT = f"""
    INSERT INTO message (conversation_seq, owner, {", ".join(_COLUMNS)})
    SELECT %(seq)s, %(owner)s, {", ".join(_COLUMNS)}
    FROM unnest({_ARRAYS}) WITH ORDINALITY AS added ({", ".join(_COLUMNS)}, place)
    ORDER BY place
"""
_UPDATE = """
    UPDATE message SET
        rest = %(rest)s,
        packed = %(packed)s,
        status = coalesce(%(new_status)s, status),
        checksum = %(checksum)s,
        tokens = %(tokens)s
    WHERE seq = %(seq)s
"""
_ADD_MENTIONS = """
    INSERT INTO mention
    SELECT seq, conversation_seq, owner, %s, %s, %s, %s, %s FROM message
    WHERE id = %s AND owner = %s
    ON CONFLICT DO NOTHING
"""


def insert(db: PostgresDatabase, row: ConversationRow, added: Sequence[ZkChatMessage]) -> None:
    """Append messages to the log of a conversation, in this order."""
    if not added:
        return
    columns: dict[str, Any] = {name: [] for name in _COLUMNS}
    for message in added:
        values = _from_message(message)
        for name in _COLUMNS:
            columns[name].append(clean_value(values[name]))
    db.execute(_INSERT, columns | row._asdict())
    _add_mentions(db, row, added)
    message_index.add(db, row, {message.id: message.content for message in added})


def ask_for(db: PostgresDatabase, conversation_id: str, message_id: str) -> Cursor[Any]:
    """The row of a message, for `update`; nobody else changes it until the transaction ends."""
    query = f"""
        SELECT seq, {", ".join(rows.MESSAGE)} FROM message
        WHERE id = %s AND conversation_seq = {SEQ_OF_ID} FOR NO KEY UPDATE
    """
    return db.execute(query, (message_id, conversation_id))


def update(
    db: PostgresDatabase,
    conversation: ConversationRow,
    conversation_id: str,
    message: ZkChatMessage,
    asked: Cursor[Any],
    *,
    with_status: bool = False,
) -> None:
    """Store the fields of a message that are not its words; its row was asked for by `ask_for`.
    Raises StoreError if the conversation has no such message.
    """
    found = asked.fetchone()
    if found is None:
        raise StoreError(
            f"The message {message.id} is not in conversation {conversation_id}",
            "Nothing was changed.",
        )
    seq, *columns = found
    stored = rows.MessageRow._make(columns)
    values = _from_message(message)
    changed = stored._replace(rest=values["rest"], packed=values["packed"])
    # A damaged message stays damaged
    checksum = changed.make_checksum() if stored.is_intact() else stored.checksum
    values |= {
        "seq": seq,
        "new_status": message.status if with_status else None,
        "checksum": checksum,
    }
    db.execute(_UPDATE, values)
    db.execute("DELETE FROM mention WHERE message_seq = %s", (seq,))
    _add_mentions(db, conversation, [message])


def give_up_pending(db: PostgresDatabase, conversation_seq: int, message_id: str | None) -> None:
    """Mark a question as unfinished if it still waits for its answer."""
    if message_id is not None:
        db.execute(
            """
            UPDATE message SET status = 'unfinished'
            WHERE id = %s AND conversation_seq = %s AND status = 'pending'
            """,
            (message_id, conversation_seq),
        )


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


def _from_message(message: ZkChatMessage) -> dict[str, Any]:
    """The columns of a message and what its conversation's figures are made of."""
    values = rows.from_message(message)
    values["is_chat"] = is_chat(message)
    values["tokens"] = max(0, min(_MOST_TOKENS, message.token_count or 0))
    if "\0" in values["content"]:
        written = codec.decode(values["rest"]) | {"content": values["content"]}
        values["rest"] = codec.encode(written).decode()
    for name in rows.MESSAGE:
        values[name] = clean_value(values[name])
    row = rows.MessageRow._make(values[name] for name in rows.MESSAGE)
    return values | {"checksum": row.make_checksum()}


def _add_mentions(
    db: PostgresDatabase, row: ConversationRow, stored: Sequence[ZkChatMessage]
) -> None:
    """Store the notes that these questions and answers reference and cite."""
    for message in stored:
        uses = note_uses(message)
        db.executemany(_ADD_MENTIONS, [(*use, message.id, row.owner) for use in uses])


def stored_states(db: PostgresDatabase, conversation_seq: int) -> dict[str, str]:
    """The states of a conversation's messages by their ids."""
    query = "SELECT id, status FROM message WHERE conversation_seq = %s"
    return dict(db.execute(query, (conversation_seq,)).fetchall())
