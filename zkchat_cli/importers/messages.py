"""Other programs' messages as ours: known fields are read, others are ignored, missing ones are filled in.

A value that is wrong raises UsageError with its key path, for example `[3].tool_calls[0].name`.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, TypeVar, get_args

from pydantic import ValidationError

from zkchat_cli.errors import UsageError
from zkchat_cli.models import Conversation, ConversationArchive, DocumentReference, Role, ToolCall, Value, ZkChatMessage
from zkchat_cli.text.truncate import truncate

TITLE_LENGTH = 60
_COUNTS = ("token_count", "augmented_token_count", "tool_tokens")
V = TypeVar("V", bound=Value)


def error(path: str, value: Any, expected: str) -> UsageError:
    excerpt = truncate(json.dumps(value, ensure_ascii=False, default=str), 60)
    return UsageError(f"{path.removeprefix('.') or 'the file'} is {excerpt}; {expected}", "Correct it and try again. Nothing was imported.")


def validate(model: type[V], value: Any, path: str) -> V:
    try:
        return model.model_validate(value)
    except ValidationError as e:
        first = e.errors()[0]
        steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
        raise error(f"{path}{steps}", first["input"], first["msg"]) from e


@dataclass(frozen=True, slots=True)
class MessageReader:
    """`now` (ISO 8601) replaces missing times, and its zone is that of times without one."""

    vault: str
    new_id: Callable[[], str]
    now: str

    def session(self, path: str, session: Any) -> ConversationArchive:
        """`{"messages": […]}`, with `created_at` and `last_updated` if it has them."""
        if not isinstance(session, dict) or "messages" not in session:
            raise error(path, session, 'expected an object {"messages": […]}')
        messages = session["messages"]
        if not isinstance(messages, list):
            raise error(f"{path}.messages", messages, "expected a list of messages")
        created, updated = (self._time(f"{path}.{key}", session.get(key)) for key in ("created_at", "last_updated"))
        return self.conversation([(f"{path}.messages[{n}]", entry) for n, entry in enumerate(messages)], created, updated)

    def conversation(
        self, entries: Sequence[tuple[str, Any]], created_at: str | None = None, updated_at: str | None = None, title: str | None = None
    ) -> ConversationArchive:
        """Messages with their key paths, each the reply to the one before."""
        messages: list[ZkChatMessage] = []
        for path, entry in entries:
            messages.append(self._message(path, entry, messages[-1] if messages else None, created_at or self.now))
        title = title or next((message.content for message in messages if message.role == "user"), "")
        created = created_at or (messages[0].timestamp if messages else self.now)
        return ConversationArchive(
            conversation=Conversation(
                id=self.new_id(),
                vault=self.vault,
                title=truncate(title, TITLE_LENGTH) or None,
                created_at=created,
                updated_at=updated_at or (messages[-1].timestamp if messages else created),
                head_id=messages[-1].id if messages else None,
            ),
            messages=tuple(messages),
        )

    def llm_log(self, entries: Sequence[tuple[str, Any]]) -> list[ConversationArchive]:
        """The conversations of `llm logs --json`; an entry is a question with its answer."""
        conversations: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
        for path, entry in entries:
            if not isinstance(entry, dict) or "prompt" not in entry or "response" not in entry:
                raise error(path, entry, "expected an object of `llm logs --json` with prompt and response")
            time = self._time(f"{path}.datetime_utc", entry.get("datetime_utc"), UTC) or self.now
            conversations.setdefault(str(entry.get("conversation_id") or path), []).append((time, path, entry))
        return [self._llm_conversation(turns) for turns in conversations.values()]

    def _llm_conversation(self, turns: list[tuple[str, str, dict[str, Any]]]) -> ConversationArchive:
        messages: list[tuple[str, dict[str, Any]]] = []
        system = None
        for time, path, entry in sorted(turns, key=lambda turn: datetime.fromisoformat(turn[0])):
            if entry.get("system") not in (None, "", system):
                system = entry["system"]
                messages.append((path, {"role": "system", "content": system, "timestamp": time}))
            messages += ((path, {**message, "timestamp": time}) for message in _llm_messages(path, entry))
        name = turns[0][2].get("conversation_name")
        return self.conversation(messages, title=name if isinstance(name, str) else None)

    def _message(self, path: str, entry: Any, parent: ZkChatMessage | None, default_time: str) -> ZkChatMessage:
        if not isinstance(entry, dict):
            raise error(path, entry, 'expected an object {"role": …, "content": …}')
        role = entry.get("role")
        if role not in get_args(Role):
            raise error(f"{path}.role", role, f"expected one of {', '.join(get_args(Role))}")
        references, calls = (_list(f"{path}.{key}", entry.get(key)) for key in ("references", "tool_calls"))
        time = self._time(f"{path}.timestamp", entry.get("timestamp")) or self._time(f"{path}.created_at", entry.get("created_at"))
        values = {
            "id": self.new_id(),
            "parent_id": parent.id if parent else None,
            "role": role,
            "content": _content(f"{path}.content", entry),
            "timestamp": time or (parent.timestamp if parent else default_time),
            "references": tuple(_reference(f"{path}.references[{n}]", one) for n, one in enumerate(references)),
            "tool_calls": tuple(self._tool_call(f"{path}.tool_calls[{n}]", one) for n, one in enumerate(calls)),
            "tool_call_id": entry.get("tool_call_id"),
            "tool_name": entry.get("tool_name") or (entry.get("name") if role == "tool" else None),
            "model": entry.get("model"),
            **{key: entry.get(key) for key in _COUNTS},
        }
        return validate(ZkChatMessage, values, path)

    def _tool_call(self, path: str, call: Any) -> ToolCall:
        """A call as zk-chat writes it, or as OpenAI does: inside `function`, with the arguments as text."""
        function = call.get("function", call) if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise error(path, call, 'expected an object {"name": …, "arguments": {…}}')
        arguments = function.get("arguments") or {}
        if isinstance(arguments, str):
            with suppress(RecursionError, ValueError):
                arguments = json.loads(arguments)
        if not isinstance(arguments, dict):
            arguments = {"arguments": arguments}  # malformed JSON of a model is kept as it is
        id_ = call.get("tool_call_id") or call.get("id") or self.new_id()
        return validate(ToolCall, {"id": id_, "name": function["name"], "arguments": arguments}, path)

    def _time(self, path: str, value: Any, zone: tzinfo | None = None) -> str | None:
        """ISO 8601 with a zone, from text or from seconds since 1970."""
        if value is None:
            return None
        try:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return datetime.fromtimestamp(value, UTC).isoformat()
            time = datetime.fromisoformat(value)
        except (TypeError, ValueError, OverflowError, OSError) as e:
            raise error(path, value, "expected a time, for example 2025-05-08T13:56:00+00:00") from e
        return (time if time.tzinfo else time.replace(tzinfo=zone or datetime.fromisoformat(self.now).tzinfo)).isoformat()


def _llm_messages(path: str, entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An entry's messages; `conversation` checks their content."""
    for n, result in enumerate(_list(f"{path}.tool_results", entry.get("tool_results"))):
        if not isinstance(result, dict):
            raise error(f"{path}.tool_results[{n}]", result, 'expected an object {"name": …, "output": …}')
        content = f"Error: {result['exception']}" if result.get("exception") else result.get("output")
        yield {"role": "tool", "content": content, "tool_call_id": result.get("tool_call_id"), "name": result.get("name")}
    if entry["prompt"]:
        yield {"role": "user", "content": entry["prompt"]}
    if entry["response"] or entry.get("tool_calls"):
        yield {
            "role": "assistant",
            "content": entry["response"] or "",
            "tool_calls": entry.get("tool_calls"),
            "model": entry.get("model"),
        }


def _content(path: str, entry: dict[str, Any]) -> str:
    """A text; the texts of a list of parts; empty for a message that only calls tools."""
    content = entry.get("content")
    if isinstance(content, list) and all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in content):
        return "\n".join(part["text"] for part in content)
    if content is None and (entry.get("tool_calls") or entry["role"] == "tool"):
        return ""
    if not isinstance(content, str):
        raise error(path, content, "expected a text")
    return content


def _list(path: str, value: Any) -> list[Any]:
    if not isinstance(value or [], list):
        raise error(path, value, "expected a list")
    return value or []


def _reference(path: str, reference: Any) -> DocumentReference:
    if not isinstance(reference, dict):
        raise error(path, reference, 'expected an object {"wikilink": …, "relative_path": …, "reference_type": …}')
    known = {key: value for key, value in reference.items() if key in DocumentReference.model_fields and value is not None}
    if "status" not in known:
        known["status"] = "found" if known.get("relative_path") else "broken"
    return validate(DocumentReference, known, path)
