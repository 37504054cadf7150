"""A file's bytes as conversations: our own lossless export, lists of messages, the request of a model call, and zk-chat's
`chat_sessions.json`.

Reading is pure: a file with one wrong entry is refused before anything is stored, and the error names the entry by its key path. Our own
export is read strictly, because a field that is ignored would be lost. In other programs' messages unknown fields are ignored, and missing
ones are filled in.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError

from zkchat_cli.chat.turn_recorder import default_title
from zkchat_cli.context.turns import is_prompt_context
from zkchat_cli.errors import UsageError, value_problem
from zkchat_cli.models import Conversation, ConversationArchive, Count, DocumentReference, Role, ToolCall, ZkChatMessage
from zkchat_cli.store.rows import paused_gc
from zkchat_cli.text.truncate import truncate

_VERSION = ConversationArchive.model_fields["version"].default
_EXPECTED = 'Expected: a JSON export of zkchat, a list of {"role", "content"} or a chat_sessions.json. Nothing was imported.'
_NO_TIME = "it must be a time such as 2025-05-08T12:00:00Z"
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


def _time(time: Any) -> Any:
    """pydantic would read "12" as 12 seconds after 1970."""
    if isinstance(time, str) and not _is_time(time):
        raise ValueError(_NO_TIME)
    return time


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


Time = Annotated[datetime, BeforeValidator(_time)]


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
        if isinstance(document, list) and document:
            kind, sessions = "messages", [_session(document)]
        elif isinstance(document, dict) and isinstance(document.get("messages"), list):
            kind, sessions = "a model call's request", [_session(document["messages"])]
        elif isinstance(document, dict) and any(isinstance(entry, dict) and "messages" in entry for entry in document.values()):
            kind, sessions = "chat sessions", [*_validate(dict[str, ImportedSession], document).values()]
        else:
            raise UsageError("This JSON holds no conversation", _EXPECTED)
        return ImportedConversations(kind, [_archive(session, vault, new_id, now) for session in sessions])


def _session(messages: list[Any]) -> ImportedSession:
    """The messages of a list. Of a prompt's, what zkchat puts around the conversation is left out."""
    kept = (_without_context(m) if isinstance(m, dict) and m.get("role") in ("system", "user") else m for m in messages)
    return ImportedSession(messages=_validate(list[ImportedMessage], [m for m in kept if m is not None]))


def _without_context(message: dict[str, Any]) -> dict[str, Any] | None:
    content = message.get("content")
    if isinstance(content, list):
        parts = [p for p in content if not (isinstance(p, dict) and isinstance(p.get("text"), str) and is_prompt_context(p["text"]))]
        return {**message, "content": parts} if parts or not content else None
    return None if isinstance(content, str) and is_prompt_context(content) else message


def _validate(type_: type[T], value: Any) -> T:
    try:
        return TypeAdapter(type_).validate_python(value)
    except ValidationError as e:
        first = e.errors()[0]
        steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
        raise _value_error(steps.removeprefix(".") or "The file", value_problem(first), first["input"]) from e


def _value_error(key_path: str, problem: str, found: object) -> UsageError:
    excerpt = truncate(json.dumps(found, ensure_ascii=False, default=str), 60)
    return UsageError(f"{key_path}: {problem} (found {excerpt})", "Correct it and try again. Nothing was imported.")


def _archive(session: ImportedSession, vault: str, new_id: Callable[[], str], now: str) -> ConversationArchive:
    """The messages in a chain, each the reply to the one before."""
    messages: list[ZkChatMessage] = []
    created = _iso_time(session.created_at, now)
    for each in session.messages:
        before = messages[-1] if messages else None
        values = each.model_dump(exclude={"timestamp", "references", "tool_calls"})
        messages.append(
            ZkChatMessage(
                **values,
                id=new_id(),
                parent_id=before.id if before else None,
                timestamp=_iso_time(each.timestamp, now) or (before.timestamp if before else created or now),
                references=each.references or (),
                tool_calls=each.tool_calls or (),
            )
        )
    created = created or (messages[0].timestamp if messages else now)
    return ConversationArchive(
        conversation=Conversation(
            id=new_id(),
            vault=vault,
            title=default_title(next((message.content for message in messages if message.role == "user"), "")) or None,
            created_at=created,
            updated_at=_iso_time(session.last_updated, now) or (messages[-1].timestamp if messages else created),
            head_id=messages[-1].id if messages else None,
        ),
        messages=tuple(messages),
    )


def _iso_time(time: datetime | None, now: str) -> str:
    """Empty if there is no time."""
    if time is None:
        return ""
    return (time if time.tzinfo else time.replace(tzinfo=datetime.fromisoformat(now).tzinfo)).isoformat()


def _read_own_export(document: dict[str, Any]) -> ConversationArchive:
    format_, version = document["format"], document.get("version")
    if format_ != "zkchat-conversation" or version != _VERSION:
        raise UsageError(
            f"This is {format_!r} version {version!r}; this zkchat reads 'zkchat-conversation' version {_VERSION}",
            "Export it again with this version of zkchat, or update zkchat. Nothing was imported.",
        )
    archive = _validate(ConversationArchive, document)
    if problem := _wrong_index(archive):
        raise UsageError(f"The export is inconsistent: {problem}", "Export it again. Nothing was imported.")
    for key_path, time in _times(archive):
        if not _is_time(time):
            raise _value_error(key_path, _NO_TIME, time)
    return archive


def _wrong_index(archive: ConversationArchive) -> str | None:
    """The first index in the prompts without an entry, with its key path. The store's tables refuse wrong ids."""
    if archive.prompts is None:
        return None
    for number, call in enumerate(archive.prompts.calls):
        for name, indexes, entries in (("messages", call.messages, archive.prompts.messages), ("tools", call.tools, archive.prompts.tools)):
            if any(index >= len(entries) for index in indexes):
                return f"prompts.calls[{number}].{name}: index {max(indexes)} is too large, prompts.{name} has {len(entries)} entries"
    return None


def _times(archive: ConversationArchive) -> Iterator[tuple[str, str]]:
    """Every time of an export, which a value holds as text, with its key path."""
    yield "conversation.created_at", archive.conversation.created_at
    yield "conversation.updated_at", archive.conversation.updated_at
    yield from ((f"messages[{n}].timestamp", message.timestamp) for n, message in enumerate(archive.messages))
    yield from ((f"compactions[{n}].created_at", compaction.created_at) for n, compaction in enumerate(archive.compactions))
