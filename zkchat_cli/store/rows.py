"""The mapping between values and rows: the fields that are queried are columns, all others are JSON in `rest`.

Fields with their default value are left out of `rest`. Lone surrogates, which no UTF-8 file can hold, become U+FFFD.

A message that is not what was stored (a bad disk, a bad cable, another program) is read as one that says so, with the status "damaged".
"""

import gc
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, get_args

from zkchat_cli.errors import StoreError
from zkchat_cli.models import Role, Value, ZkChatMessage
from zkchat_cli.store import codec
from zkchat_cli.text.words import replace_surrogates

CONVERSATION = ("id", "vault", "title", "created_at", "updated_at", "head_id")
_MESSAGE = ("id", "parent_id", "role", "content", "status", "timestamp")
MESSAGE = (*_MESSAGE, "rest", "packed", "checksum")
"""The columns that `to_message` takes, in this order."""
DAMAGED_TITLE = "(damaged on disk)"
DAMAGED_MESSAGE = "(this message is damaged on disk)"
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What reading a damaged row may raise: any column may hold anything."""


def decode_leniently(text: bytes) -> str:
    """The `text_factory` of a store's connections, since SQLite's own refuses damaged text; 0.1 µs for each text."""
    return text.decode("utf-8", "replace")


def checksum(blob: bytes | None, *texts: str | None) -> int:
    """CRC-32 of stored fields, also of damaged ones of any type. It finds damage, not forgery."""
    return zlib.crc32("\0".join([str(text or "") for text in texts]).encode(), zlib.crc32(blob) if isinstance(blob, bytes) else 0)


def from_message(message: ZkChatMessage) -> dict[str, Any]:
    """Chunks and references are compressed into `packed`: they are long, and no query needs them.

    A tool's result contains the text of its chunks as JSON, so a chunk's text is stored as (start, length) in the message's content.
    """
    rest = other_fields(message, _MESSAGE)
    packed: dict[str, Any] = {name: rest.pop(name) for name in ("chunks", "references") if name in rest}
    for chunk in packed.get("chunks", ()):
        encoded = codec.encode(chunk["text"]).decode()
        start = message.content.find(encoded)
        if start >= 0:
            chunk["text"] = [start, len(encoded)]
    row = column_values(message, _MESSAGE)
    row |= {"rest": codec.encode(rest).decode(), "packed": codec.compress(packed) if packed else None}
    return row | {"checksum": _message_checksum([row[name] for name in MESSAGE[:-1]])}


def _message_checksum(row: Sequence[Any]) -> int:
    """Of all columns but the status, which changes: damage to one of its few words makes it none of them."""
    id_, parent_id, role, content, _, timestamp, rest, packed = row
    return checksum(packed, id_, parent_id, role, content, timestamp, rest)


def to_message(row: tuple[Any, ...]) -> ZkChatMessage:
    try:
        return _intact_message(row)
    except UNREADABLE:
        id_, parent_id, role, _, _, timestamp, *_ = row
        return damaged_message(id_, parent_id, role, timestamp)


def is_intact(row: Sequence[Any]) -> bool:
    """Whether the columns `MESSAGE` are as they were stored."""
    return bool(_message_checksum(row[:-1]) == row[-1])


def is_chat(message: ZkChatMessage) -> bool:
    """Whether it is a question or an answer: what the schema counts as the messages of a conversation."""
    return message.role == "user" or (message.role == "assistant" and bool(message.content) and not message.tool_calls)


def damaged_message(id_: Any, parent_id: Any = None, role: Any = "assistant", timestamp: Any = "") -> ZkChatMessage:
    """What is shown for a message that is damaged, or not in the store any more."""
    return ZkChatMessage(
        id=str(id_),
        parent_id=parent_id if isinstance(parent_id, str) else None,
        role=role if role in get_args(Role) else "assistant",
        content=DAMAGED_MESSAGE,
        timestamp=str(timestamp),
        status="damaged",
    )


def _intact_message(row: tuple[Any, ...]) -> ZkChatMessage:
    """Raises one of `UNREADABLE` for a row that is not as it was stored."""
    *values, rest, packed, stored = row
    if _message_checksum(row[:-1]) != stored:
        raise ValueError("the checksum does not match")
    fields: dict[str, Any] = codec.decode(rest)
    fields["id"], fields["parent_id"], fields["role"], fields["content"], fields["status"], fields["timestamp"] = values
    if packed is not None:
        fields.update(codec.decompress(packed))
        for chunk in fields.get("chunks", ()):
            if isinstance(span := chunk["text"], list):
                encoded = fields["content"][span[0] : sum(span)]
                chunk["text"] = codec.decode(encoded) if "\\" in encoded else encoded[1:-1]
    return ZkChatMessage.model_validate(fields)


def to_messages(found: Iterable[tuple[Any, ...]]) -> tuple[ZkChatMessage, ...]:
    """The log of a conversation, a parent before its children: one that cannot be found is there as a damaged message."""
    log: list[ZkChatMessage] = []
    ids: set[str | None] = {None}
    with paused_gc():
        for message in map(to_message, found):
            above = log[-1].id if log else None
            if message.id in ids:
                continue
            if message.status == "damaged" and (message.parent_id is None or message.parent_id not in ids):
                message = message.model_copy(update={"parent_id": above})
            elif message.parent_id not in ids:
                if log and log[-1].status == "damaged":  # its id is damaged, too
                    log[-1] = log[-1].model_copy(update={"id": message.parent_id})
                else:
                    log.append(damaged_message(message.parent_id, above, "assistant", message.timestamp))
            log.append(message)
            ids |= {message.id, message.parent_id}
    return tuple(log)


@contextmanager
def paused_gc() -> Iterator[None]:
    """Pause garbage collection while thousands of values are made: none of them is garbage, and collecting takes two thirds of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def insert(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> int:
    """Returns the row's number."""
    return connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES (:{', :'.join(row)})", row).lastrowid or 0


def column_text(text: str | None) -> str | None:
    return text and replace_surrogates(text)


def column_values(value: Value, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: replace_surrogates(field) if isinstance(field := getattr(value, name), str) else field for name in names}


def other_fields(value: Value, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields that are not in the columns `names`, without defaults."""
    try:
        return value.model_dump(mode="json", exclude=set(names), exclude_defaults=True)
    except ValueError as e:  # pydantic stops at about 250 levels; a model can invent arguments of any depth
        raise StoreError(f"A value cannot be stored: {e}", "Nothing was changed; its tool calls are nested too deeply.") from e
