"""The border between values and rows: a value's queried fields are columns, all its others are JSON in `rest`.

Fields at their default are left out of `rest`; a lone surrogate, which no UTF-8 file can hold, becomes U+FFFD on the way in.
"""

import json
import re
from typing import Any

from pydantic_core import from_json

from zkchat_cli.errors import StoreError
from zkchat_cli.models import Compaction, Conversation, Value, ZkChatMessage

MESSAGE = ("id", "parent_id", "role", "content", "status", "timestamp")
COMPACTION = ("id", "created_at", "last_id")
CONVERSATION = ("id", "vault", "title", "created_at", "updated_at", "head_id")

_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def from_message(message: ZkChatMessage) -> dict[str, Any]:
    return _columns(message, MESSAGE) | {"rest": _rest(message, MESSAGE)}


def from_compaction(compaction: Compaction) -> dict[str, Any]:
    return _columns(compaction, COMPACTION) | {"rest": _rest(compaction, COMPACTION)}


def from_conversation(conversation: Conversation) -> dict[str, Any]:
    return _columns(conversation, CONVERSATION)


def to_message(row: tuple[Any, ...]) -> ZkChatMessage:
    """A row of MESSAGE and `rest`. A long history is read in one go, so each step here counts 2 000 times."""
    value = _decoded(row[-1])
    value["id"], value["parent_id"], value["role"], value["content"], value["status"], value["timestamp"], _ = row
    return ZkChatMessage.model_validate(value)


def to_compaction(row: tuple[Any, ...]) -> Compaction:
    return Compaction.model_validate(dict(zip(COMPACTION, row, strict=False)) | _decoded(row[-1]))


def to_conversation(row: tuple[Any, ...]) -> Conversation:
    return Conversation.model_validate(dict(zip(CONVERSATION, row, strict=True)))


def _decoded(rest: str) -> dict[str, Any]:
    """By pydantic's parser, which saves a fifth of the time; json's goes deeper, to all that could be written."""
    try:
        value: dict[str, Any] = from_json(rest)
    except ValueError:
        value = json.loads(rest)
    return value


def _columns(value: Value, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: storable(field) if isinstance(field := getattr(value, name), str) else field for name in names}


def _rest(value: Value, columns: tuple[str, ...]) -> str:
    try:
        rest = value.model_dump(mode="json", exclude=set(columns), exclude_defaults=True)
    except ValueError as e:  # pydantic stops at some 250 levels; a model can make up arguments of any depth
        raise StoreError(f"A value cannot be stored: {e}", "Nothing was changed; its tool calls are nested too deeply.") from e
    return storable(json.dumps(rest, ensure_ascii=False, separators=(",", ":")))
