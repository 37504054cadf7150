"""The mapping between values and rows: the fields that are queried are columns, all others are JSON
in `rest`, or compressed in `packed`.

Fields with their default value are left out of the JSON. Lone surrogates, which no UTF-8 file can
hold, become U+FFFD.

A message that is not what was stored (a bad disk, a bad cable, another program) is read as one that
says so, with the status "damaged".
"""

import gc
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, get_args

from pydantic_core import from_json, to_json

from zkchat_cli.errors import StoreError
from zkchat_cli.models.base import Value
from zkchat_cli.models.messages import Role, ZkChatMessage
from zkchat_cli.text.words import replace_surrogates

CONVERSATION = ("id", "vault", "title", "created_at", "updated_at", "head_id")
_MESSAGE = ("id", "parent_id", "role", "content", "status", "timestamp")
# The columns that `to_message` takes, in this order
MESSAGE = (*_MESSAGE, "rest", "packed", "checksum")
SELECT_MESSAGE = f"SELECT {', '.join(MESSAGE)} FROM message"
DAMAGED_TITLE = "(damaged on disk)"
DAMAGED_MESSAGE = "(this message is damaged on disk)"
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What reading a damaged row may raise: any column may hold anything."""
MIN_COMPRESSED = 300  # bytes of JSON


class StoreDatabase(sqlite3.Connection):
    """A connection whose parameters need not be valid Unicode: ids, paths and queries may have lone
    surrogates.
    """

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        return super().execute(sql, _to_utf8(parameters))

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        return super().executemany(sql, map(_to_utf8, parameters))


def _to_utf8(parameters: Any) -> Any:
    if isinstance(parameters, dict):
        return {
            name: replace_surrogates(value) if isinstance(value, str) else value
            for name, value in parameters.items()
        }
    return [replace_surrogates(value) if isinstance(value, str) else value for value in parameters]


def encode(document: object) -> bytes:
    """Compact JSON. pydantic's writer takes a fifth of the time of json's, but refuses lone
    surrogates.
    """
    try:
        return to_json(document)
    except ValueError:
        return replace_surrogates(
            json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        ).encode()


def decode(document: str | bytes) -> Any:
    """pydantic's parser is faster, json's allows deeper nesting. Raises ValueError."""
    try:
        return from_json(document)
    except ValueError:
        return json.loads(document)


def compress(document: dict[str, Any]) -> bytes:
    """zlib's format with its checksum; a short document is stored as it is: half of the time of an
    export is decompressing.
    """
    encoded = encode(document)
    return zlib.compress(encoded, 0 if len(encoded) < MIN_COMPRESSED else 1)


def decompress(body: bytes) -> Any:
    """Raises ValueError for a damaged body."""
    try:
        return decode(zlib.decompress(body))
    except zlib.error as e:
        raise ValueError(f"a compressed column is damaged: {e}") from e


def decode_leniently(text: bytes) -> str:
    """The `text_factory` of a store's connections, since SQLite's own refuses damaged text; 0.1 µs
    for each text.
    """
    return text.decode("utf-8", "replace")


def checksum(blob: bytes | None, *texts: str | None) -> int:
    """CRC-32 of stored fields, also of damaged ones of any type. It finds damage, not forgery."""
    return zlib.crc32(
        "\0".join([str(text or "") for text in texts]).encode(),
        zlib.crc32(blob) if isinstance(blob, bytes) else 0,
    )


def from_message(message: ZkChatMessage) -> dict[str, Any]:
    """Chunks and references are compressed into `packed`. Of a chunk that a tool's result contains
    as JSON only the place is stored.
    """
    rest = other_fields(message, _MESSAGE)
    packed: dict[str, Any] = {
        name: rest.pop(name) for name in ("chunks", "references") if name in rest
    }
    for chunk in packed.get("chunks", ()):
        encoded = encode(chunk["text"]).decode()
        start = message.content.find(encoded)
        if start >= 0:
            chunk["text"] = [start, len(encoded)]
    row = column_values(message, _MESSAGE)
    row |= {"rest": encode(rest).decode(), "packed": compress(packed) if packed else None}
    return row | {"checksum": _message_checksum([row[name] for name in MESSAGE[:-1]])}


def _message_checksum(row: Sequence[Any]) -> int:
    """Of all columns but the status, which changes: damage to one of its few words makes it none of
    them.
    """
    id_, parent_id, role, content, _, timestamp, rest, packed = row
    return checksum(packed, id_, parent_id, role, content, timestamp, rest)


def to_message(row: tuple[Any, ...]) -> ZkChatMessage:
    """The message in the columns `MESSAGE`, or what is shown for a damaged one."""
    id_, parent_id, role, content, _, timestamp, rest, packed, stored = row
    try:
        if _message_checksum(row[:-1]) != stored:
            raise ValueError("the checksum does not match")
        fields: dict[str, Any] = decode(rest) | dict(zip(_MESSAGE, row, strict=False))
        if packed is not None:
            fields.update(decompress(packed))
            for chunk in fields.get("chunks", ()):
                if isinstance(span := chunk["text"], list):
                    encoded = content[span[0] : sum(span)]
                    chunk["text"] = decode(encoded) if "\\" in encoded else encoded[1:-1]
        return ZkChatMessage.model_validate(fields)
    except UNREADABLE:
        return damaged_message(id_, parent_id, role, timestamp)


def is_intact(row: Sequence[Any]) -> bool:
    """Whether the columns `MESSAGE` are as they were stored."""
    return bool(_message_checksum(row[:-1]) == row[-1])


def is_chat(message: ZkChatMessage) -> bool:
    """Whether it is a question or an answer: what the schema counts as the messages of a
    conversation.
    """
    return message.role == "user" or (
        message.role == "assistant" and bool(message.content) and not message.tool_calls
    )


def damaged_message(
    id_: Any, parent_id: Any = None, role: Any = "assistant", timestamp: Any = ""
) -> ZkChatMessage:
    """What is shown for a message that is damaged, or not in the store any more."""
    return ZkChatMessage(
        id=str(id_),
        parent_id=parent_id if isinstance(parent_id, str) else None,
        role=role if role in get_args(Role) else "assistant",
        content=DAMAGED_MESSAGE,
        timestamp=str(timestamp),
        status="damaged",
    )


@contextmanager
def paused_gc() -> Iterator[None]:
    """Pause garbage collection while thousands of values are made: none of them is garbage, and
    collecting takes two thirds of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@paused_gc()
def to_messages(found: Iterable[tuple[Any, ...]]) -> tuple[ZkChatMessage, ...]:
    """The log of a conversation, a parent before its children: one that cannot be found is there as
    a damaged message.
    """
    log: list[ZkChatMessage] = []
    ids: set[str | None] = {None}
    for message in map(to_message, found):
        above = log[-1].id if log else None
        if message.id in ids:
            continue
        if message.status == "damaged" and (
            message.parent_id is None or message.parent_id not in ids
        ):
            message = message.model_copy(update={"parent_id": above})
        elif message.parent_id not in ids:
            if log and log[-1].status == "damaged":  # its id is damaged, too
                log[-1] = log[-1].model_copy(update={"id": message.parent_id})
            else:
                log.append(
                    damaged_message(message.parent_id, above, "assistant", message.timestamp)
                )
        log.append(message)
        ids |= {message.id, message.parent_id}
    return tuple(log)


def insert(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> int:
    """Returns the row's number."""
    return (
        connection.execute(
            f"INSERT INTO {table} ({', '.join(row)}) VALUES (:{', :'.join(row)})", row
        ).lastrowid
        or 0
    )


def column_values(value: Value, names: tuple[str, ...]) -> dict[str, Any]:
    return {
        name: replace_surrogates(field) if isinstance(field := getattr(value, name), str) else field
        for name in names
    }


def other_fields(value: Value, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields that are not in the columns `names`, without defaults."""
    try:
        return value.model_dump(mode="json", exclude=set(names), exclude_defaults=True)
    except ValueError as e:
        # Pydantic stops at about 250 levels; a model can invent arguments of any depth
        raise StoreError(
            f"A value cannot be stored: {e}",
            "Nothing was changed; its tool calls are nested too deeply.",
        ) from e
