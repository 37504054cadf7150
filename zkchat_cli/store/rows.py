"""The mapping between values and rows: the fields that are queried are columns, all others are JSON
in `rest`, or compressed in `packed`.

Fields with their default value are left out of the JSON. Lone surrogates, which no UTF-8 file can
hold, become U+FFFD.

A message that is not what was stored (a bad disk, a bad cable, another program) is read as one that
says so, with the status "damaged".
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, get_args

from zkchat_cli.errors import StoreError
from zkchat_cli.models.base import Value
from zkchat_cli.models.messages import Role, ZkChatMessage
from zkchat_cli.store.codec import (
    UNREADABLE,
    checksum,
    compress,
    decode,
    decompress,
    encode,
)
from zkchat_cli.store.paused_gc import paused_gc
from zkchat_cli.text.words import replace_surrogates

# The fields of a conversation that are columns
CONVERSATION = ("id", "vault", "title", "created_at", "updated_at", "head_id", "documents")
# The fields of a message that are columns
_MESSAGE = ("id", "parent_id", "role", "content", "status", "timestamp")
_PACKED = ("chunks", "references")
# The states of a question without an answer
_OPEN = ("pending", "unfinished")
DAMAGED_TITLE = "(damaged on disk)"
DAMAGED_MESSAGE = "(this message is damaged on disk)"


class MessageRow(NamedTuple):
    """The columns of the table `message` that a ZkChatMessage is made from, in this order."""

    id: Any
    parent_id: Any
    role: Any
    content: Any
    status: Any
    timestamp: Any
    rest: Any
    packed: Any
    checksum: Any

    def is_intact(self) -> bool:
        """Whether the columns are as they were stored."""
        return bool(self.make_checksum() == self.checksum)

    def make_checksum(self) -> int:
        """The checksum of all columns but the status, which changes. A damaged status is found
        without a checksum: it is no longer one of the few valid words.
        """
        id_, parent_id, role, content, _, timestamp, rest, packed, _ = self
        return checksum(packed, id_, parent_id, role, content, timestamp, rest)


MESSAGE = MessageRow._fields
SELECT_MESSAGE = f"SELECT {', '.join(MESSAGE)} FROM message"


def from_message(message: ZkChatMessage) -> dict[str, Any]:
    """The columns `MESSAGE`. Chunks and references are compressed into `packed`."""
    rest = other_fields(message, _MESSAGE)
    packed: dict[str, Any] = {name: rest.pop(name) for name in _PACKED if name in rest}
    for chunk in packed.get("chunks", ()):
        _replace_quoted_text(chunk, message.content)
    columns = column_values(message, _MESSAGE)
    columns["rest"] = encode(rest).decode()
    columns["packed"] = compress(packed) if packed else None
    row = MessageRow(**columns, checksum=None)
    return columns | {"checksum": row.make_checksum()}


def _replace_quoted_text(chunk: dict[str, Any], content: str) -> None:
    """Put start and length in place of the text of a chunk that a tool's result contains as
    JSON.
    """
    encoded = encode(chunk["text"]).decode()
    start = content.find(encoded)
    if start >= 0:
        chunk["text"] = [start, len(encoded)]


def _restore_quoted_text(chunk: dict[str, Any], content: str) -> None:
    span = chunk["text"]
    if isinstance(span, list):
        start, length = span
        encoded = content[start : start + length]
        chunk["text"] = decode(encoded) if "\\" in encoded else encoded[1:-1]


def to_message(row: Sequence[Any]) -> ZkChatMessage:
    """The message in the columns `MESSAGE`, or what is shown for a damaged one."""
    columns = MessageRow._make(row)
    try:
        if not columns.is_intact():
            raise ValueError("the checksum does not match")
        fields: dict[str, Any] = decode(columns.rest)
        fields.update(zip(_MESSAGE, columns, strict=False))
        if columns.packed is not None:
            fields.update(decompress(columns.packed))
            for chunk in fields.get("chunks", ()):
                _restore_quoted_text(chunk, columns.content)
        return ZkChatMessage.model_validate(fields)
    except UNREADABLE:
        return damaged_message(columns.id, columns.parent_id, columns.role, columns.timestamp)


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


class AddedMessages(NamedTuple):
    """How many messages of an archive were new, and the ids of those that are new or have ended."""

    new: int
    changed: set[str]


def has_ended_since(message: ZkChatMessage, stored_status: str) -> bool:
    """Whether a message is one of a turn that has ended, but not where it has this status."""
    return stored_status in _OPEN and message.status not in (stored_status, "pending")


@paused_gc()
def to_messages(found: Iterable[Sequence[Any]]) -> tuple[ZkChatMessage, ...]:
    """The log of a conversation, a parent before its children: one that cannot be found is there as
    a damaged message.
    """
    log: list[ZkChatMessage] = []
    ids: set[str | None] = {None}
    for message in map(to_message, found):
        if message.id in ids:
            continue
        if message.parent_id not in ids or message.status == "damaged":
            message = _with_parent(message, log, ids)
        log.append(message)
        ids |= {message.id, message.parent_id}
    return tuple(log)


def _with_parent(
    message: ZkChatMessage, log: list[ZkChatMessage], ids: set[str | None]
) -> ZkChatMessage:
    """The message as a child of one in the log, to which a missing parent is added. `ids` are those
    in the log.
    """
    above = log[-1].id if log else None
    has_parent = message.parent_id in ids
    if message.status == "damaged" and (message.parent_id is None or not has_parent):
        return message.model_copy(update={"parent_id": above})
    if has_parent:
        return message
    if log and log[-1].status == "damaged":
        # The id of the message above is damaged, too
        log[-1] = log[-1].model_copy(update={"id": message.parent_id})
    else:
        log.append(damaged_message(message.parent_id, above, "assistant", message.timestamp))
    return message


def column_values(value: Value, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a value that are columns, without lone surrogates; lists as JSON."""
    columns: dict[str, Any] = {}
    for name in names:
        field = getattr(value, name)
        if isinstance(field, tuple):
            field = to_json_list(field)
        columns[name] = replace_surrogates(field) if isinstance(field, str) else field
    return columns


def to_json_list(texts: Iterable[str]) -> str:
    """A list of texts as a column has it."""
    return encode([replace_surrogates(text) for text in texts]).decode()


def from_json_list(column: Any) -> tuple[str, ...]:
    """The texts in such a column; none if it is damaged."""
    try:
        return tuple(text for text in decode(column or "[]") if isinstance(text, str))
    except UNREADABLE:
        return ()


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
