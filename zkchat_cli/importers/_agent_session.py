"""Logs of coding agents: one JSON record on each line, and a conversation that grows record by
record.
"""

import hashlib
import json
from datetime import datetime
from typing import Any

from zkchat_cli.errors import UsageError, reason
from zkchat_cli.importers.base import Record, make_archive, parse_time, texts_of, validate
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.messages import Role, ZkChatMessage
from zkchat_cli.text.truncate import truncate

_NOTHING_IMPORTED = "Nothing of this file was imported."
_LONGEST_EXCERPT = 60
_ID_DIGITS = 16
# Most bytes of a line; logs with pictures have lines of some megabytes
LONGEST_LINE = 20_000_000


class AgentSession:
    """A conversation that grows record by record. Its ids are made from `program` and `session_id`,
    so that a log that has grown is imported again without doubles.
    """

    def __init__(self, program: str, session_id: str, vault: str, now: str) -> None:
        self._program = program
        self._session_id = session_id
        self._vault = vault
        self._time = now
        # The fields that each message has so far, by its id
        self.messages: dict[str, Record] = {}
        # Records that are no message, kept with the message before them
        self.other_records: list[Record] = []
        self.title = ""
        self.head_id: str | None = None

    def add(
        self, key: str, role: Role, content: str, time: object, parent_id: str | None, **fields: Any
    ) -> str:
        """Add a message and return its id. `key` is its name in the log, so that a repeated record
        adds nothing.
        """
        id_ = self._id(key)
        if id_ in self.messages and self.messages[id_]["role"] != role:
            id_ = self._id(f"{role} {key}")
        if id_ in self.messages:
            return id_
        read = parse_time(time)
        # A message without a time gets the time of the message before
        if read is not None and read.tzinfo:
            self._time = str(time)
        # Records before the first message stay with it
        if self.messages:
            self.other_records = []
        self.messages[id_] = {
            "id": id_,
            "parent_id": parent_id,
            "role": role,
            "content": content,
            "timestamp": self._time,
            **fields,
            "other_records": self.other_records,
        }
        return id_

    def archive(self) -> ConversationArchive:
        """The conversation. Raises UsageError if the log holds no message."""
        messages = validate(list[ZkChatMessage], [*self.messages.values()])
        if not messages:
            raise UsageError("it has no messages", _NOTHING_IMPORTED)
        last = max(messages, key=lambda message: datetime.fromisoformat(message.timestamp))
        return make_archive(
            self._id("conversation"),
            self._vault,
            messages,
            created_at=messages[0].timestamp,
            updated_at=last.timestamp,
            head_id=self.head_id or messages[-1].id,
            title=self.title,
        )

    def _id(self, key: str) -> str:
        text = f"{self._program}\n{self._session_id}\n{key}"
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_ID_DIGITS]


def read_records(data: bytes) -> list[Record]:
    """The records of a log. A last line that is still being written is left out. Raises
    UsageError.
    """
    records: list[Record] = []
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            raise UsageError(
                f"line {number} has {len(line):,} bytes, and zkchat reads lines of at most "
                f"{LONGEST_LINE:,}",
                _NOTHING_IMPORTED,
            )
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (RecursionError, ValueError) as e:
            if number == len(lines):
                break
            raise UsageError(
                f"line {number} is not a JSON record: {reason(e)}", _NOTHING_IMPORTED
            ) from e
        if not isinstance(record, dict):
            excerpt = truncate(line.decode(), _LONGEST_EXCERPT)
            raise UsageError(f"line {number} is not a JSON record but {excerpt}", _NOTHING_IMPORTED)
        if record:
            records.append(record)
    return records


def content_text(content: object, *types: str) -> str:
    """The text of a message: a string, or the texts of its blocks of these types."""
    if isinstance(content, str):
        return content
    return "\n\n".join(texts_of(blocks_of(content, *types)))


def blocks_of(content: object, *types: str) -> list[Record]:
    """The blocks of these types in a message's content; none if it is a string."""
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict) and block.get("type") in types]
