"""A file's bytes as conversations: our own lossless export, lists of messages, zk-chat's
`chat_sessions.json`, and the logs of coding agents, one JSON record on each line.

Reading is pure: a file with one wrong entry is refused before anything is stored, and the error
names the entry by its key path. Our own export is read strictly, because a field that is ignored
would be lost. In other programs' messages unknown fields are ignored, and missing ones are filled
in. Ids of an agent's messages are made from the program, its session and the record, so that a log
that has grown is imported again without doubles.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from pathlib import PurePath
from typing import Annotated, Any, TypeVar

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)

from zkchat_cli.chat.turn_recorder import default_title
from zkchat_cli.errors import UsageError, reason, value_problem
from zkchat_cli.llm.base import parse_tool_call
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.base import Count
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import Role, ToolCall, ZkChatMessage
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.store.paused_gc import paused_gc
from zkchat_cli.text.truncate import truncate

_VERSION = ConversationArchive.model_fields["version"].default
_NOTHING_IMPORTED = "Nothing of this file was imported."
_EXPECTED = (
    'Expected: a JSON export of zkchat, a list of {"role", "content"} or a chat_sessions.json. '
    "Nothing was imported."
)
_INSTRUCTIONS = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "# AGENTS.md instructions",
)
"""How a user's message begins that Codex wrote."""
_CODEX_TEXT = ("input_text", "output_text", "text")

Record = dict[str, Any]
T = TypeVar("T")


def _text(content: Any) -> Any:
    """The texts of a list of parts; empty for a message that only calls tools."""
    if isinstance(content, list):
        return "\n".join(_texts(content))
    return "" if content is None else content


def _reference(reference: Any) -> Any:
    if not isinstance(reference, dict):
        return reference
    known = {
        key: value
        for key, value in reference.items()
        if key in DocumentReference.model_fields and value is not None
    }
    return {"status": "found" if known.get("relative_path") else "broken", **known}


def _tool_call(call: Any) -> Any:
    """A call as zk-chat writes it, or as OpenAI does: inside `function`, with the arguments as
    text.
    """
    function = call.get("function", call) if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(name := function.get("name"), str):
        return call
    return _parse_call(
        call.get("tool_call_id") or call.get("id") or name, name, function.get("arguments")
    )


def _parse_call(id_: object, name: object, arguments: object) -> ToolCall:
    """A tool call; arguments that are no JSON object are kept as `malformed`."""
    return parse_tool_call(
        str(id_),
        str(name),
        arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False),
    )


def _iso_time(time: Any, info: ValidationInfo) -> str:
    """A time as text with its zone; the validation's context is that of times without one."""
    read = _parse_time(time)
    if read is None:
        raise ValueError("it must be a time such as 2025-05-08T12:00:00Z")
    return (read if read.tzinfo else read.replace(tzinfo=info.context)).isoformat()


def _parse_time(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None


Time = Annotated[str, BeforeValidator(_iso_time)]


class ImportedMessage(BaseModel):
    """A message of another program."""

    role: Role
    content: Annotated[str, BeforeValidator(_text)] = ""
    timestamp: Time | None = Field(None, validation_alias=AliasChoices("timestamp", "created_at"))
    references: tuple[Annotated[DocumentReference, BeforeValidator(_reference)], ...] | None = None
    tool_calls: tuple[Annotated[ToolCall, BeforeValidator(_tool_call)], ...] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = Field(None, validation_alias=AliasChoices("tool_name", "name"))
    model: str | None = None
    token_count: Count | None = None
    augmented_token_count: Count | None = None
    tool_tokens: Count | None = None


class ImportedSession(BaseModel):
    """A conversation in zk-chat's `chat_sessions.json`."""

    messages: list[ImportedMessage]
    created_at: Time | None = None
    last_updated: Time | None = None


def read_conversations(
    data: bytes, *, vault: str, new_id: Callable[[], str], now: str
) -> tuple[str, list[ConversationArchive]]:
    """What a file is, and every conversation in it, in any Unicode encoding. Our own exports keep
    their ids and their vault; all others get new ids and `vault`. `now` (ISO 8601) replaces missing
    times, and its zone is that of times without one. Raises UsageError.
    """
    with paused_gc():
        try:
            document = json.loads(data)
        except (RecursionError, ValueError) as e:
            raise UsageError(f"Not valid JSON: {e}", _EXPECTED) from e
        if isinstance(document, dict) and isinstance(document.get("format"), str):
            return "an export of zkchat", [_read_own_export(document)]
        zone = datetime.fromisoformat(now).tzinfo
        if isinstance(document, list) and document:
            kind = "messages"
            sessions = [ImportedSession(messages=_validate(list[ImportedMessage], document, zone))]
        elif isinstance(document, dict) and any(
            isinstance(entry, dict) and "messages" in entry for entry in document.values()
        ):
            kind = "chat sessions"
            sessions = [*_validate(dict[str, ImportedSession], document, zone).values()]
        else:
            raise UsageError("This JSON holds no conversation", _EXPECTED)
        return kind, [_archive(session, vault, new_id, now) for session in sessions]


def _validate(type_: type[T], value: Any, zone: tzinfo | None = None) -> T:
    try:
        return TypeAdapter(type_).validate_python(value, context=zone)
    except ValidationError as e:
        first = e.errors()[0]
        steps = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"]
        )
        excerpt = truncate(json.dumps(first["input"], ensure_ascii=False, default=str), 60)
        problem = (
            f"{steps.removeprefix('.') or 'The file'}: {value_problem(first)} (found {excerpt})"
        )
        raise UsageError(problem, "Correct it and try again. Nothing was imported.") from e


def _archive(
    session: ImportedSession, vault: str, new_id: Callable[[], str], now: str
) -> ConversationArchive:
    """The messages in a chain, each the reply to the one before."""
    messages: list[ZkChatMessage] = []
    parent_id = None
    time = session.created_at or now
    for each in session.messages:
        values = {
            "id": new_id(),
            "parent_id": parent_id,
            "timestamp": time,
            **each.model_dump(exclude_none=True),
        }
        messages.append(ZkChatMessage.model_validate(values))
        parent_id = messages[-1].id
        time = messages[-1].timestamp
    created_at = session.created_at or (messages[0].timestamp if messages else now)
    return _make_archive(
        new_id(), vault, messages, created_at, session.last_updated or time, parent_id
    )


def _make_archive(
    id_: str,
    vault: str,
    messages: Sequence[ZkChatMessage],
    created_at: str,
    updated_at: str,
    head_id: str | None,
    title: str = "",
) -> ConversationArchive:
    title = title or next((message.content for message in messages if message.role == "user"), "")
    conversation = Conversation(
        id=id_,
        vault=vault,
        title=default_title(title) or None,
        created_at=created_at,
        updated_at=updated_at,
        head_id=head_id,
    )
    return ConversationArchive(conversation=conversation, messages=tuple(messages))


def _read_own_export(document: dict[str, Any]) -> ConversationArchive:
    format_ = document["format"]
    version = document.get("version")
    if format_ != "zkchat-conversation" or version != _VERSION:
        raise UsageError(
            f"This is {format_!r} version {version!r}; this zkchat reads "
            f"'zkchat-conversation' version {_VERSION}",
            "Export it again with this version of zkchat, or update zkchat. Nothing was imported.",
        )
    archive = _validate(ConversationArchive, document)
    times = [archive.conversation.created_at, archive.conversation.updated_at]
    times += [each.timestamp for each in archive.messages] + [
        each.created_at for each in archive.compactions
    ]
    problems = [
        f"{time!r} is no time such as 2025-05-08T12:00:00Z"
        for time in times
        if _parse_time(time) is None
    ]
    # The store's tables refuse wrong ids, but not wrong indexes
    if prompts := archive.prompts:
        for number, call in enumerate(prompts.calls):
            if max(call.messages, default=-1) >= len(prompts.messages) or max(
                call.tools, default=-1
            ) >= len(prompts.tools):
                problems.append(f"prompts.calls[{number}] has an index without an entry")
    if problems:
        raise UsageError(
            f"The export is inconsistent: {problems[0]}", "Export it again. Nothing was imported."
        )
    return archive


def read_claude_code(data: bytes, name: str, *, vault: str, now: str) -> ConversationArchive:
    """A session of Claude Code, `~/.claude/projects/PROJECT/SESSION.jsonl`; what its subagents said
    is a branch of its own.

    Every record has a `uuid` and the `parentUuid` of the one before; results of tools come back as
    messages of the user. Raises UsageError.
    """
    records = _read_records(data)
    session_id = next(
        (record["sessionId"] for record in records if isinstance(record.get("sessionId"), str)),
        PurePath(name).stem,
    )
    session = _SessionBuilder("claude-code", session_id, vault, now)
    # The message that each record belongs to or follows, by the record's `uuid`
    last_of: dict[str, str | None] = {}
    for record in records:
        type_, message, time, uuid = (
            record.get(name) for name in ("type", "message", "timestamp", "uuid")
        )
        if type_ == "summary":
            session.title = str(record.get("summary") or "")
        parents = [record.get("parentUuid"), record.get("logicalParentUuid")]
        known = [
            last_of[parent] for parent in parents if isinstance(parent, str) and parent in last_of
        ]
        last = known[0] if known else None if record.get("isSidechain") else session.head_id
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(message, dict) and type_ == "assistant":
            # an answer is spread over several records with one `message.id`
            count = len(session.messages)
            model = message.get("model")
            fields: Record = {"model": model if isinstance(model, str) else None, "tool_calls": []}
            id_ = session.add(str(message.get("id") or uuid), "assistant", "", time, last, **fields)
            answer = session.messages[id_]
            answer["content"] = "\n\n".join(
                filter(None, (answer["content"], _content_text(content, "text")))
            )
            answer["tool_calls"] += [
                _parse_call(b.get("id"), b.get("name"), b.get("input"))
                for b in _blocks_of(content, "tool_use")
            ]
            last = id_ if len(session.messages) > count or last is None else last
        elif (
            isinstance(message, dict)
            and type_ == "user"
            and not record.get("isMeta")
            and not record.get("isCompactSummary")
        ):
            for result in _blocks_of(content, "tool_result"):
                call_id = str(result.get("tool_use_id"))
                text = _content_text(result.get("content"), "text")
                last = session.add(
                    f"{uuid} {call_id}", "tool", text, time, last, tool_call_id=call_id
                )
            if text := _content_text(content, "text"):
                last = session.add(f"{uuid}", "user", text, time, last)
        elif type_ != "summary":
            session.other_records.append(record)
        last_of[str(uuid)] = last
        if last is not None and not record.get("isSidechain"):
            session.head_id = last
    return session.archive()


def read_codex(data: bytes, name: str, *, vault: str, now: str) -> ConversationArchive:
    """A session of Codex, `~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl`. A record is
    `{"timestamp", "type", "payload"}`; the items that a model was sent and said are those of type
    `response_item`. Raises UsageError.
    """
    records = [
        (record, item if isinstance(item := record.get("payload"), dict) else {})
        for record in _read_records(data)
    ]
    session_id = records[0][1].get("id") if records else None
    session = _SessionBuilder(
        "codex", session_id if isinstance(session_id, str) else PurePath(name).stem, vault, now
    )
    model: str | None = None
    # Of the answer that further tool calls belong to
    answer_id: str | None = None
    for number, (record, item) in enumerate(records, start=1):
        time = record.get("timestamp")
        kind = item.get("type")
        role = item.get("role")
        if record.get("type") == "turn_context" and isinstance(item.get("model"), str):
            model = item["model"]
        if record.get("type") != "response_item":
            session.other_records.append(record)
            continue
        text = _content_text(item.get("content"), *_CODEX_TEXT) if kind == "message" else ""
        is_call = kind in ("function_call", "custom_tool_call", "local_shell_call")
        if text and role == "user" and not text.lstrip().startswith(_INSTRUCTIONS):
            session.head_id = session.add(f"{number}", "user", text, time, session.head_id)
            answer_id = None
        elif is_call or (text and role == "assistant"):
            if text or answer_id is None:
                session.head_id = session.add(
                    f"{number}",
                    "assistant",
                    text,
                    time,
                    session.head_id,
                    model=model,
                    tool_calls=[],
                )
                answer_id = session.head_id
            if is_call:
                arguments = item.get("arguments", item.get("input", item.get("action")))
                session.messages[answer_id]["tool_calls"].append(
                    _parse_call(item.get("call_id"), item.get("name", "shell"), arguments)
                )
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = item.get("output")
            call_id = str(item.get("call_id"))
            result = (
                output.get("content")
                if isinstance(output, dict)
                else _content_text(output, *_CODEX_TEXT)
            )
            result = result if isinstance(result, str) else str(output)
            session.head_id = session.add(
                f"{number}", "tool", result, time, session.head_id, tool_call_id=call_id
            )
            answer_id = None
        else:
            session.other_records.append(record)
    return session.archive()


READERS = {"claude-code": read_claude_code, "codex": read_codex}


def _read_records(data: bytes) -> list[Record]:
    """The records of a log. A last line that is still being written is left out. Raises
    UsageError.
    """
    records: list[Record] = []
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line) if line.strip() else {}
        except (RecursionError, ValueError) as e:
            if number == len(lines):
                break
            raise UsageError(
                f"line {number} is not a JSON record: {reason(e)}", _NOTHING_IMPORTED
            ) from e
        if not isinstance(record, dict):
            raise UsageError(
                f"line {number} is not a JSON record but {truncate(line.decode(), 60)}",
                _NOTHING_IMPORTED,
            )
        records += [record] if record else []
    return records


class _SessionBuilder:
    """A conversation that grows record by record. `program` and `session_id` are what its ids are
    made from.
    """

    def __init__(self, program: str, session_id: str, vault: str, now: str) -> None:
        self._program = program
        self._session_id = session_id
        self._vault = vault
        self._time = now
        # The fields that each message has so far, by its id
        self.messages: dict[str, Record] = {}
        # Those that are no message, kept with the message before them
        self.other_records: list[Record] = []
        self.title = ""
        self.head_id: str | None = None

    def add(
        self, key: str, role: Role, content: str, time: object, parent_id: str | None, **fields: Any
    ) -> str:
        """Add a message and return its id. `key` is what the log calls it, so that a repeated
        record adds nothing.
        """
        id_ = self._id(key)
        if id_ in self.messages and self.messages[id_]["role"] != role:
            id_ = self._id(f"{role} {key}")
        if id_ not in self.messages:
            # Else it is that of the message before
            if (read := _parse_time(time)) is not None and read.tzinfo:
                self._time = str(time)
            values = {
                "id": id_,
                "parent_id": parent_id,
                "role": role,
                "content": content,
                "timestamp": self._time,
            }
            self.other_records = [] if self.messages else self.other_records
            self.messages[id_] = {**values, **fields, "other_records": self.other_records}
        return id_

    def archive(self) -> ConversationArchive:
        """The conversation. Raises UsageError if the log holds no message."""
        messages = _validate(list[ZkChatMessage], [*self.messages.values()])
        if not messages:
            raise UsageError("it has no messages", _NOTHING_IMPORTED)
        updated_at = max(messages, key=lambda m: datetime.fromisoformat(m.timestamp)).timestamp
        head_id = self.head_id or messages[-1].id
        return _make_archive(
            self._id("conversation"),
            self._vault,
            messages,
            messages[0].timestamp,
            updated_at,
            head_id,
            self.title,
        )

    def _id(self, key: str) -> str:
        return hashlib.sha256(
            f"{self._program}\n{self._session_id}\n{key}".encode("utf-8", "replace")
        ).hexdigest()[:16]


def _content_text(content: object, *types: str) -> str:
    """The text of a message: a string, or the texts of its blocks of these types."""
    return content if isinstance(content, str) else "\n\n".join(_texts(_blocks_of(content, *types)))


def _blocks_of(content: object, *types: str) -> list[Record]:
    """The blocks of these types in a message's content; none if it is a string."""
    return (
        [block for block in content if isinstance(block, dict) and block.get("type") in types]
        if isinstance(content, list)
        else []
    )


def _texts(parts: list[Any]) -> list[str]:
    return [
        part["text"]
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
