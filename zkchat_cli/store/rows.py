"""The mapping between values and rows: the fields that are queried are columns, all others are JSON in `rest`.

Fields with their default value are left out of `rest`. Lone surrogates, which no UTF-8 file can hold, become U+FFFD.
"""

import gc
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from zkchat_cli.errors import StoreError
from zkchat_cli.models import Conversation, Value, ZkChatMessage
from zkchat_cli.store import codec
from zkchat_cli.text.words import replace_surrogates

CONVERSATION = ("id", "vault", "title", "created_at", "updated_at", "head_id")
_MESSAGE = ("id", "parent_id", "role", "content", "status", "timestamp")
MESSAGE = (*_MESSAGE, "rest", "packed")
"""The columns that `to_message` takes, in this order."""


def to_conversation(row: tuple[Any, ...]) -> Conversation:
    return Conversation.model_validate(dict(zip(CONVERSATION, row, strict=True)))


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
    row = {"rest": codec.encode(rest).decode(), "packed": codec.compress(packed) if packed else None}
    return columns(message, _MESSAGE) | row


def to_message(row: tuple[Any, ...]) -> ZkChatMessage:
    *values, rest, packed = row
    fields: dict[str, Any] = codec.decode(rest)
    fields.pop("goal", None)  # stored by versions that had agent runs
    fields["id"], fields["parent_id"], fields["role"], fields["content"], fields["status"], fields["timestamp"] = values
    if packed is not None:
        fields.update(codec.decompress(packed))
        for chunk in fields.get("chunks", ()):
            if isinstance(span := chunk["text"], list):
                chunk["text"] = codec.decode(fields["content"][span[0] : sum(span)])
    known = ZkChatMessage.model_fields
    return ZkChatMessage.model_validate({name: value for name, value in fields.items() if name in known})  # earlier versions had more


def to_messages(found: Iterable[tuple[Any, ...]]) -> tuple[ZkChatMessage, ...]:
    with paused_gc():
        return tuple(map(to_message, found))


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


def insert(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES (:{', :'.join(row)})", row)


def columns(value: Value, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: replace_surrogates(field) if isinstance(field := getattr(value, name), str) else field for name in names}


def other_fields(value: Value, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields besides the columns `names`, without defaults."""
    try:
        return value.model_dump(mode="json", exclude=set(names), exclude_defaults=True)
    except ValueError as e:  # pydantic stops at about 250 levels; a model can invent arguments of any depth
        raise StoreError(f"A value cannot be stored: {e}", "Nothing was changed; its tool calls are nested too deeply.") from e
