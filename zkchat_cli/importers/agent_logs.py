"""Sessions of coding agents, as their programs log them: one JSON record on each line.

Ids are made from the program, its session and the record, so that a log that has grown is imported again without doubles. Records that are
no message are kept with the message before them (`ZkChatMessage.other_records`).
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import PurePath
from typing import Any

from pydantic import ValidationError

from zkchat_cli.chat.turn_recorder import default_title
from zkchat_cli.errors import UsageError, reason, value_problem
from zkchat_cli.llm.base import parse_tool_call
from zkchat_cli.models import Conversation, ConversationArchive, Role, TokenUsage, ToolCall, ZkChatMessage
from zkchat_cli.text.truncate import truncate

NOTHING_IMPORTED = "Nothing of this file was imported."
_INSTRUCTIONS = ("<environment_context>", "<user_instructions>", "<permissions instructions>", "<turn_aborted>", "# AGENTS.md instructions")
"""How a user's message begins that Codex wrote."""
_REPEATED = ("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "token_count")
"""Codex's events that repeat what an item says."""
_CODEX_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_CODEX_TEXT = ("input_text", "output_text", "text")

Record = dict[str, Any]


def read_claude_code(data: bytes, name: str, *, vault: str, now: str) -> ConversationArchive:
    """A session of Claude Code, `~/.claude/projects/PROJECT/SESSION.jsonl`; what its subagents said is a branch of its own.

    Every record has a `uuid` and the `parentUuid` of the one before; results of tools come back as messages of the user. Raises UsageError.
    """
    records = [record for _, record in _read_records(data)]
    session_id = next((record["sessionId"] for record in records if isinstance(record.get("sessionId"), str)), PurePath(name).stem)
    session = _SessionBuilder("claude-code", session_id, vault, now)
    last_of: dict[str, str | None] = {}  # the message that each record belongs to or follows, by the record's `uuid`
    answers: dict[str, str] = {}
    for record in records:
        type_, message, time, uuid = (record.get(name) for name in ("type", "message", "timestamp", "uuid"))
        if type_ == "summary" and isinstance(record.get("summary"), str):
            session.title = record["summary"]
        parents = [record.get("parentUuid"), record.get("logicalParentUuid")]
        known = [last_of[parent] for parent in parents if isinstance(parent, str) and parent in last_of]
        last = known[0] if known else None if record.get("isSidechain") else session.head_id
        if isinstance(message, dict) and type_ == "assistant":
            last = _add_claude_answer(session, answers, record, message, last)
        elif isinstance(message, dict) and type_ == "user" and not record.get("isMeta") and not record.get("isCompactSummary"):
            content = message.get("content")
            for result in _blocks_of(content, "tool_result"):
                call_id, text = str(result.get("tool_use_id")), _content_text(result.get("content"), "text")
                last = session.add(f"{uuid} {call_id}", "tool", text, time, last, tool_call_id=call_id)
            if text := _content_text(content, "text"):
                last = session.add(f"{uuid}", "user", text, time, last)
        elif type_ != "summary":
            session.other_records.append(record)
        last_of[str(uuid)] = last
        if last is not None and not record.get("isSidechain"):
            session.head_id = last
    return session.archive()


def _add_claude_answer(
    session: "_SessionBuilder", answers: dict[str, str], record: Record, message: Record, parent_id: str | None
) -> str | None:
    """Add a block of an answer, which is spread over several records with one `message.id`; `answers` has the answer's id by that."""
    content, usage, model = message.get("content"), message.get("usage"), message.get("model")
    key = str(message.get("id") or record.get("uuid"))
    is_new = key not in answers
    if is_new:
        model = model if isinstance(model, str) else None
        answers[key] = session.add(key, "assistant", "", record.get("timestamp"), parent_id, model=model, tool_calls=[])
    values = session.messages[answers[key]]
    values["content"] = "\n\n".join(filter(None, (values["content"], _content_text(content, "text"))))
    thoughts = [block["thinking"] for block in _blocks_of(content, "thinking") if isinstance(block.get("thinking"), str)]
    values["reasoning"] = "\n\n".join(filter(None, (values.get("reasoning"), *thoughts))) or None
    values["tool_calls"] += [_tool_call(b.get("id"), b.get("name"), b.get("input")) for b in _blocks_of(content, "tool_use")]
    if isinstance(usage, dict):
        parts = [usage.get(name) or 0 for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")]
        if all(isinstance(part, int) for part in parts):
            figures = {"prompt_tokens": sum(parts), "completion_tokens": usage.get("output_tokens"), "cached_tokens": parts[2]}
            try:
                values["usage"] = TokenUsage.model_validate({**figures, "estimated": False})
            except ValidationError:
                values["usage"] = None
    return answers[key] if is_new or parent_id is None else parent_id


def read_codex(data: bytes, name: str, *, vault: str, now: str) -> ConversationArchive:
    """A session of Codex, `~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl`. Raises UsageError.

    A record is `{"timestamp", "type", "payload"}`; the items that a model was sent and said are those of type `response_item`. Early
    versions wrote the items without that frame.
    """
    records = [(number, record, record.get("payload", record)) for number, record in _read_records(data)]
    first = records[0][2] if records else {}
    session_id = first.get("id") if isinstance(first, dict) else None
    session = _SessionBuilder("codex", session_id if isinstance(session_id, str) else PurePath(name).stem, vault, now)
    model: str | None = None
    thoughts: list[str] = []
    answer_id: str | None = None  # of the answer that further tool calls belong to
    for number, record, payload in records:
        type_, item, time = record.get("type"), payload if isinstance(payload, dict) else {}, record.get("timestamp")
        kind, content, role = item.get("type"), item.get("content"), item.get("role")
        text = _content_text(content, *_CODEX_TEXT) if kind == "message" else ""
        if "payload" in record and type_ != "response_item":
            if type_ == "turn_context" and isinstance(item.get("model"), str):
                model = item["model"]
            if not (type_ == "event_msg" and kind in _REPEATED):
                session.other_records.append(record)
        elif text and role == "user" and not text.lstrip().startswith(_INSTRUCTIONS):
            session.head_id, answer_id = session.add(f"{number}", "user", text, time, session.head_id), None
        elif kind in _CODEX_CALLS or (text and role == "assistant"):
            if text or answer_id is None:
                more: dict[str, Any] = {"model": model, "reasoning": "\n\n".join(thoughts) or None, "tool_calls": []}
                session.head_id = answer_id = session.add(f"{number}", "assistant", text, time, session.head_id, **more)
                thoughts = []
            if kind in _CODEX_CALLS:
                arguments = item.get("arguments", item.get("input", item.get("action")))
                call = _tool_call(item.get("call_id"), item.get("name", "shell"), arguments)
                session.messages[answer_id]["tool_calls"].append(call)
        elif kind == "reasoning":
            thoughts += [part["text"] for part in _blocks_of(item.get("summary"), "summary_text") if isinstance(part.get("text"), str)]
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output, call_id = item.get("output"), str(item.get("call_id"))
            result = output.get("content") if isinstance(output, dict) else _content_text(output, *_CODEX_TEXT)
            result = result if isinstance(result, str) else str(output)
            session.head_id = session.add(f"{number}", "tool", result, time, session.head_id, tool_call_id=call_id)
            answer_id = None
        else:
            session.other_records.append(record)
    return session.archive()


READERS = {"claude-code": read_claude_code, "codex": read_codex}


def _read_records(data: bytes) -> Iterator[tuple[int, Record]]:
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


class _SessionBuilder:
    """A conversation that grows record by record. `program` and `session_id` are what its ids are made from."""

    def __init__(self, program: str, session_id: str, vault: str, now: str) -> None:
        self._program, self._session_id, self._vault, self._time = program, session_id, vault, now
        self.other_records: list[Record] = []
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
            with suppress(ValueError):  # without a time with a zone it is that of the message before
                self._time = time if isinstance(time, str) and datetime.fromisoformat(time).tzinfo else self._time
            self.other_records = [] if self.messages else self.other_records
            values = {"id": id_, "parent_id": parent_id, "role": role, "content": content, "timestamp": self._time}
            self.messages[id_] = {**values, **fields, "other_records": self.other_records}
        return id_

    def archive(self) -> ConversationArchive:
        """The conversation. Raises UsageError if the log holds no message."""
        try:
            messages = tuple(ZkChatMessage.model_validate(values) for values in self.messages.values())
        except ValidationError as e:
            first = e.errors()[0]
            raise UsageError(f"a message's {first['loc'][0]} is wrong: {value_problem(first)}", NOTHING_IMPORTED) from e
        if not messages:
            raise UsageError("it has no messages", NOTHING_IMPORTED)
        conversation = Conversation(
            id=self._id("conversation"),
            vault=self._vault,
            title=default_title(self.title or next((m.content for m in messages if m.role == "user"), "")) or None,
            created_at=messages[0].timestamp,
            updated_at=max(messages, key=lambda m: datetime.fromisoformat(m.timestamp)).timestamp,
            head_id=self.head_id or messages[-1].id,
        )
        return ConversationArchive(conversation=conversation, messages=messages)

    def _id(self, key: str) -> str:
        return hashlib.sha256(f"{self._program}\n{self._session_id}\n{key}".encode("utf-8", "replace")).hexdigest()[:16]


def _content_text(content: object, *types: str) -> str:
    """The text of a message: a string, or the texts of its blocks of these types."""
    if isinstance(content, str):
        return content
    return "\n\n".join(block["text"] for block in _blocks_of(content, *types) if isinstance(block.get("text"), str))


def _blocks_of(content: object, *types: str) -> list[Record]:
    """The blocks of these types in a message's content; none if it is a string."""
    return [block for block in content if isinstance(block, dict) and block.get("type") in types] if isinstance(content, list) else []


def _tool_call(id_: object, name: object, arguments: object) -> ToolCall:
    """A tool call; arguments that are no JSON object are kept as `malformed`."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return parse_tool_call(str(id_), str(name), text)
