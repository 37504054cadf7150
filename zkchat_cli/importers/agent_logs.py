"""Sessions of coding agents, as their programs log them: one JSON record on each line.

Ids are made from the program, its session and the record, so that a log that has grown is imported again without doubles. Records that are
no message are kept with the message before them (`ZkChatMessage.other_records`).
"""

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from zkchat_cli.chat.turn_recorder import default_title
from zkchat_cli.errors import UsageError, reason, value_problem
from zkchat_cli.llm.base import parse_tool_call
from zkchat_cli.models import Conversation, ConversationArchive, Role, TokenUsage, ToolCall, ZkChatMessage
from zkchat_cli.text.truncate import truncate

NOTHING_IMPORTED = "Nothing of this file was imported."

Record = dict[str, Any]


def read_records(data: bytes) -> Iterator[tuple[int, Record]]:
    """Each record with the number of its line. A last line that is still being written is left out. Raises UsageError."""
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (RecursionError, ValueError) as e:
            if number == len(lines):
                return
            raise UsageError(f"line {number} is not a JSON record: {reason(e)}", NOTHING_IMPORTED) from e
        if not isinstance(record, dict):
            raise UsageError(f"line {number} is not a JSON record but {truncate(line.decode(), 60)}", NOTHING_IMPORTED)
        yield number, record


class SessionBuilder:
    """A conversation that grows record by record. `program` and `session_id` are what its ids are made from."""

    def __init__(self, program: str, session_id: str, vault: str, now: str) -> None:
        self._program, self._session_id, self._vault, self._time = program, session_id, vault, now
        self._records: list[Record] = []
        """Where the next record that is no message goes: to the message before it, at the beginning to the first one."""
        self.messages: dict[str, dict[str, Any]] = {}
        """The fields that each message has so far, by its id."""
        self.title = ""
        self.head_id: str | None = None

    def add(self, key: str, role: Role, content: str, time: object, parent_id: str | None, **fields: Any) -> str:
        """Add a message and return its id. `key` is what the log calls it, so that a repeated record adds nothing."""
        id_ = self._id(key)
        if id_ in self.messages and self.messages[id_]["role"] != role:
            id_ = self._id(f"{role} {key}")
        if id_ not in self.messages:
            self._time = _iso_time(time) or self._time
            self._records = [] if self.messages else self._records
            values = {"id": id_, "parent_id": parent_id, "role": role, "content": content, "timestamp": self._time}
            self.messages[id_] = {**values, **fields, "other_records": self._records}
        return id_

    def keep_record(self, record: Record) -> None:
        """Keep a record that is no message."""
        self._records.append(record)

    def archive(self) -> ConversationArchive:
        """The conversation. Raises UsageError if the log holds no message."""
        try:
            messages = tuple(ZkChatMessage.model_validate(values) for values in self.messages.values())
        except ValidationError as e:
            first = e.errors()[0]
            raise UsageError(f"a message's {first['loc'][0]} is wrong: {value_problem(first)}", NOTHING_IMPORTED) from e
        if not messages:
            raise UsageError("it has no messages", NOTHING_IMPORTED)
        question = next((m.content for m in messages if m.role == "user"), "")
        return ConversationArchive(
            conversation=Conversation(
                id=self._id("conversation"),
                vault=self._vault,
                title=default_title(self.title or question) or None,
                created_at=messages[0].timestamp,
                updated_at=max(messages, key=lambda m: datetime.fromisoformat(m.timestamp)).timestamp,
                head_id=self.head_id or messages[-1].id,
            ),
            messages=messages,
        )

    def _id(self, key: str) -> str:
        return hashlib.sha256(f"{self._program}\n{self._session_id}\n{key}".encode("utf-8", "replace")).hexdigest()[:16]


def content_text(content: object, *types: str) -> str:
    """The text of a message: a string, or the texts of its blocks of these types."""
    if isinstance(content, str):
        return content
    return "\n\n".join(block["text"] for block in blocks_of(content, *types) if isinstance(block.get("text"), str))


def blocks_of(content: object, *types: str) -> list[Record]:
    """The blocks of these types in a message's content; none if it is a string."""
    return [block for block in content if isinstance(block, dict) and block.get("type") in types] if isinstance(content, list) else []


def tool_call(id_: object, name: object, arguments: object) -> ToolCall:
    """A tool call; arguments that are no JSON object are kept as `malformed`."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return parse_tool_call(str(id_), str(name), text)


def token_usage(prompt: object, completion: object, cached: object = None) -> TokenUsage | None:
    """The usage of a call, None if its figures are not numbers of tokens."""
    try:
        return TokenUsage.model_validate(
            {"prompt_tokens": prompt, "completion_tokens": completion, "cached_tokens": cached, "estimated": False}
        )
    except ValidationError:
        return None


def _iso_time(time: object) -> str:
    """Empty if it is no time with a zone."""
    try:
        return time if isinstance(time, str) and datetime.fromisoformat(time).tzinfo else ""
    except ValueError:
        return ""
