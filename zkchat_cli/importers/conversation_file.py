"""A file's bytes as conversations: our own lossless export, lists of messages, the request of a model call, and zk-chat's
`chat_sessions.json`.

Reading is pure: a file with one wrong entry is refused before anything is stored, and the error names the entry by its key path. Our own
export is read strictly, because a field that is ignored would be lost. In other programs' messages unknown fields are ignored, and missing
ones are filled in.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, tzinfo
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError, ValidationInfo

from zkchat_cli.chat.turn_recorder import default_title
from zkchat_cli.context.turns import is_prompt_context
from zkchat_cli.errors import UsageError, value_problem
from zkchat_cli.models import Conversation, ConversationArchive, Count, DocumentReference, Role, ToolCall, ZkChatMessage
from zkchat_cli.store.rows import paused_gc
from zkchat_cli.text.truncate import truncate

_VERSION = ConversationArchive.model_fields["version"].default
_EXPECTED = 'Expected: a JSON export of zkchat, a list of {"role", "content"} or a chat_sessions.json. Nothing was imported.'
T = TypeVar("T")


def _text(content: Any) -> Any:
    """The texts of a list of parts; empty for a message that only calls tools."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return "" if content is None else content


def _reference(reference: Any) -> Any:
    if not isinstance(reference, dict):
        return reference
    known = {key: value for key, value in reference.items() if key in DocumentReference.model_fields and value is not None}
    return {"status": "found" if known.get("relative_path") else "broken", **known}


def _tool_call(call: Any) -> Any:
    """A call as zk-chat writes it, or as OpenAI does: inside `function`, with the arguments as text."""
    function = call.get("function", call) if isinstance(call, dict) else call
    if not isinstance(function, dict):
        return function
    arguments = function.get("arguments") or {}
    if isinstance(arguments, str):
        with suppress(RecursionError, ValueError):
            arguments = json.loads(arguments)
    if not isinstance(arguments, dict):
        arguments = {"arguments": arguments}  # malformed JSON of a model is kept as it is
    name = function.get("name")
    return {"id": call.get("tool_call_id") or call.get("id") or name, "name": name, "arguments": arguments}


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


class ImportedConversations(NamedTuple):
    """The content of a file; `kind` says what the file is, and `is_own` whether zkchat wrote it."""

    kind: str
    archives: list[ConversationArchive]
    is_own: bool = False


def read_conversations(data: bytes, *, vault: str, new_id: Callable[[], str], now: str) -> ImportedConversations:
    """Every conversation in a file, in any Unicode encoding.

    Our own exports keep their ids and their vault; all others get new ids and `vault`. `now` (ISO 8601) replaces missing times, and its
    zone is that of times without one. Raises UsageError.
    """
    with paused_gc():
        try:
            document = json.loads(data)
        except (RecursionError, ValueError) as e:
            raise UsageError(f"Not valid JSON: {e}", _EXPECTED) from e
        if isinstance(document, dict) and isinstance(document.get("format"), str):
            return ImportedConversations("an export of zkchat", [_read_own_export(document)], is_own=True)
        zone = datetime.fromisoformat(now).tzinfo
        if isinstance(document, list) and document:
            kind, sessions = "messages", [_session(document, zone)]
        elif isinstance(document, dict) and isinstance(document.get("messages"), list):
            kind, sessions = "a model call's request", [_session(document["messages"], zone)]
        elif isinstance(document, dict) and any(isinstance(entry, dict) and "messages" in entry for entry in document.values()):
            kind, sessions = "chat sessions", [*_validate(dict[str, ImportedSession], document, zone).values()]
        else:
            raise UsageError("This JSON holds no conversation", _EXPECTED)
        return ImportedConversations(kind, [_archive(session, vault, new_id, now) for session in sessions])


def _session(messages: list[Any], zone: tzinfo | None) -> ImportedSession:
    """The messages of a list. Of a prompt's, what zkchat puts around the conversation is left out."""
    kept = []
    for message in messages:
        content = message.get("content") if isinstance(message, dict) and message.get("role") in ("system", "user") else None
        if isinstance(content, list) and content:
            parts = [p for p in content if not (isinstance(p, dict) and isinstance(p.get("text"), str) and is_prompt_context(p["text"]))]
            kept += [{**message, "content": parts}] if parts else []
        elif not (isinstance(content, str) and is_prompt_context(content)):
            kept.append(message)
    return ImportedSession(messages=_validate(list[ImportedMessage], kept, zone))


def _validate(type_: type[T], value: Any, zone: tzinfo | None = None) -> T:
    try:
        return TypeAdapter(type_).validate_python(value, context=zone)
    except ValidationError as e:
        first = e.errors()[0]
        steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
        excerpt = truncate(json.dumps(first["input"], ensure_ascii=False, default=str), 60)
        problem = f"{steps.removeprefix('.') or 'The file'}: {value_problem(first)} (found {excerpt})"
        raise UsageError(problem, "Correct it and try again. Nothing was imported.") from e


def _archive(session: ImportedSession, vault: str, new_id: Callable[[], str], now: str) -> ConversationArchive:
    """The messages in a chain, each the reply to the one before."""
    messages: list[ZkChatMessage] = []
    parent_id, time = None, session.created_at or now
    for each in session.messages:
        values = {"id": new_id(), "parent_id": parent_id, "timestamp": time, **each.model_dump(exclude_none=True)}
        messages.append(ZkChatMessage.model_validate(values))
        parent_id, time = messages[-1].id, messages[-1].timestamp
    conversation = Conversation(
        id=new_id(),
        vault=vault,
        title=default_title(next((message.content for message in messages if message.role == "user"), "")) or None,
        created_at=session.created_at or (messages[0].timestamp if messages else now),
        updated_at=session.last_updated or time,
        head_id=parent_id,
    )
    return ConversationArchive(conversation=conversation, messages=tuple(messages))


def _read_own_export(document: dict[str, Any]) -> ConversationArchive:
    format_, version = document["format"], document.get("version")
    if format_ != "zkchat-conversation" or version != _VERSION:
        raise UsageError(
            f"This is {format_!r} version {version!r}; this zkchat reads 'zkchat-conversation' version {_VERSION}",
            "Export it again with this version of zkchat, or update zkchat. Nothing was imported.",
        )
    archive = _validate(ConversationArchive, document)
    problems = []
    if prompts := archive.prompts:  # the store's tables refuse wrong ids, but not wrong indexes
        for number, call in enumerate(prompts.calls):
            for name, indexes, entries in (("messages", call.messages, prompts.messages), ("tools", call.tools, prompts.tools)):
                if max(indexes, default=-1) >= len(entries):
                    problems.append(f"prompts.calls[{number}].{name} has an index without an entry")
    times = [archive.conversation.created_at, archive.conversation.updated_at]
    times += [each.timestamp for each in archive.messages] + [each.created_at for each in archive.compactions]
    problems += [f"{time!r} is no time such as 2025-05-08T12:00:00Z" for time in times if _parse_time(time) is None]
    if problems:
        raise UsageError(f"The export is inconsistent: {problems[0]}", "Export it again. Nothing was imported.")
    return archive
