"""Conversations out of a file: our own lossless export, a plain list of messages, or zk-chat's `chat_sessions.json`.

Reading is pure: a text in, archives out, so a file with one wrong entry is refused before anything is stored. Our own export is read
strictly, because a field we would drop is a loss; other programs' messages are read for what we know and the rest is left aside.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, get_args

from pydantic import ValidationError

from zkchat_cli.errors import UsageError
from zkchat_cli.models import Conversation, ConversationArchive, DocumentReference, Role, ToolCall, ZkChatMessage
from zkchat_cli.store.archives import flaw
from zkchat_cli.store.packing import storable
from zkchat_cli.words import shorten

_EXPECTED = (
    "Expected: a `zkchat context export --format json`, a list of messages [{\"role\": …, \"content\": …}, …], "
    "or a chat_sessions.json {id: {\"messages\": […]}}. Nothing was imported."
)  # fmt: skip
_DEEPEST = 100
_COUNTS = ("token_count", "augmented_token_count", "tool_tokens")


def read_archive(text: str, *, vault: str, new_id: Callable[[], str], now: str) -> list[ConversationArchive]:
    """Every conversation in `text`, ready to be restored.

    Our own exports keep their ids and their vault; all others get new ids and `vault`. `now` (ISO 8601) stands for times that are
    missing, and lends its zone to times that have none. Raises UsageError that names the line or the entry which is wrong.
    """
    try:
        data = json.loads(text.removeprefix("\ufeff"))
        ours = isinstance(data, dict) and isinstance(data.get("format"), str)
        data = _cleaned(data, storable if ours else _plain)
    except json.JSONDecodeError as e:
        raise UsageError(f"Not valid JSON: line {e.lineno}, column {e.colno}: {e.msg}", _EXPECTED) from e
    except (RecursionError, ValueError) as e:
        raise UsageError(f"The JSON cannot be read: {e}", _EXPECTED) from e
    if ours:
        return [_own(data)]
    reader = _Reader(vault, new_id, now)
    if isinstance(data, list) and data:
        return [reader.conversation(data, created_at=None, updated_at=now)]
    if isinstance(data, dict) and data and all(isinstance(value, dict) and "messages" in value for value in data.values()):
        return [reader.session(name, session) for name, session in data.items()]
    raise UsageError("This JSON holds no conversation", _EXPECTED)


def _own(data: dict[str, Any]) -> ConversationArchive:
    if data["format"] != "zkchat-conversation" or data.get("version") != 1:
        raise UsageError(
            f"This is {data['format']!r} version {data.get('version')!r}; this zkchat reads 'zkchat-conversation' version 1",
            "Export it again with this version of zkchat, or update zkchat. Nothing was imported.",
        )
    with _named("the export"):
        archive = ConversationArchive.model_validate(data)
    if problem := flaw(archive):
        raise UsageError(f"The export does not fit together: {problem}", "Export it again. Nothing was imported.")
    return archive


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads other programs' messages; what they do not say is filled in from these."""

    vault: str
    new_id: Callable[[], str]
    now: str

    def session(self, name: str, session: Mapping[str, Any]) -> ConversationArchive:
        where = f"session {name!r}"
        if not isinstance(session["messages"], list):
            raise _wrong(where, "messages", session["messages"], "expected a list of messages")
        created, updated = (self._time(where, key, session.get(key)) for key in ("created_at", "last_updated"))
        return self.conversation(session["messages"], created_at=created, updated_at=updated, where=f"{where}, ")

    def conversation(self, entries: list[Any], *, created_at: str | None, updated_at: str | None, where: str = "") -> ConversationArchive:
        messages: list[ZkChatMessage] = []
        for number, entry in enumerate(entries, 1):
            messages.append(self._message(f"{where}message {number}", entry, messages[-1] if messages else None, created_at or self.now))
        first = next((shorten(message.content, 60) for message in messages if message.role == "user"), "")
        created = created_at or (messages[0].timestamp if messages else self.now)
        return ConversationArchive(
            conversation=Conversation(
                id=self.new_id(),
                vault=self.vault,
                title=first or None,
                created_at=created,
                updated_at=updated_at or (messages[-1].timestamp if messages else created),
                head_id=messages[-1].id if messages else None,
            ),
            messages=tuple(messages),
        )

    def _message(self, where: str, entry: Any, parent: ZkChatMessage | None, otherwise: str) -> ZkChatMessage:
        if not isinstance(entry, dict):
            raise _wrong(where, "", entry, 'expected an object {"role": …, "content": …}')
        role = entry.get("role")
        if role not in get_args(Role):
            raise _wrong(where, "role", role, f"expected one of {', '.join(get_args(Role))}")
        with _named(where):
            return ZkChatMessage(
                id=self.new_id(),
                parent_id=parent.id if parent else None,
                role=role,
                content=_content(where, entry),
                timestamp=self._time(where, "timestamp", entry.get("timestamp"))
                or self._time(where, "created_at", entry.get("created_at"))
                or (parent.timestamp if parent else otherwise),
                references=tuple(_reference(f"{where}, reference {n}", one) for n, one in enumerate(_list(where, entry, "references"), 1)),
                tool_calls=tuple(self._call(f"{where}, tool call {n}", one) for n, one in enumerate(_list(where, entry, "tool_calls"), 1)),
                tool_call_id=entry.get("tool_call_id"),
                tool_name=entry.get("tool_name") or (entry.get("name") if role == "tool" else None),
                model=entry.get("model"),
                **{key: entry.get(key) for key in _COUNTS},
            )

    def _call(self, where: str, call: Any) -> ToolCall:
        """A call as zk-chat has it, or inside `function` with its arguments as text, as OpenAI has it."""
        called = call.get("function", call) if isinstance(call, dict) else None
        if not isinstance(called, dict) or not isinstance(called.get("name"), str):
            raise _wrong(where, "", call, 'expected an object {"name": …, "arguments": {…}}')
        arguments = called.get("arguments") or {}
        if isinstance(arguments, str):
            with suppress(RecursionError, ValueError):
                arguments = json.loads(arguments)
        if not isinstance(arguments, dict):
            arguments = {"arguments": arguments}  # what a model garbled is kept as it is
        with _named(where):
            return ToolCall(id=call.get("id") or self.new_id(), name=called["name"], arguments=arguments)

    def _time(self, where: str, key: str, value: Any) -> str | None:
        """ISO 8601 with a zone, from text or from seconds since 1970."""
        if value is None:
            return None
        try:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return datetime.fromtimestamp(value, UTC).isoformat()
            time = datetime.fromisoformat(value)
        except (TypeError, ValueError, OverflowError, OSError) as e:
            raise _wrong(where, key, value, "expected a time as 2025-05-08T13:56:00+00:00") from e
        return (time if time.tzinfo else time.replace(tzinfo=datetime.fromisoformat(self.now).tzinfo)).isoformat()


def _content(where: str, entry: Mapping[str, Any]) -> str:
    """A text; the texts of a list of parts; nothing for a message that only calls tools."""
    content = entry.get("content")
    if isinstance(content, list) and all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in content):
        return "\n".join(part["text"] for part in content)
    if content is None and (entry.get("tool_calls") or entry["role"] == "tool"):
        return ""
    if not isinstance(content, str):
        raise _wrong(where, "content", content, "expected a text")
    return content


def _list(where: str, entry: Mapping[str, Any], key: str) -> list[Any]:
    found = entry.get(key) or []
    if not isinstance(found, list):
        raise _wrong(where, key, found, "expected a list")
    return found


def _reference(where: str, reference: Any) -> DocumentReference:
    if isinstance(reference, dict) and "status" not in reference:
        reference = reference | {"status": "found" if reference.get("relative_path") else "broken"}
    with _named(where):
        return DocumentReference.model_validate(reference)


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Say which entry of the file a value was refused for, counting from 1 as a person does."""
    try:
        yield
    except ValidationError as e:
        first = e.errors()[0]
        path = " ".join(str(part + 1) if isinstance(part, int) else part for part in first["loc"])
        raise _wrong(where, path, first["input"], first["msg"]) from e


def _wrong(where: str, key: str, value: Any, expected: str) -> UsageError:
    shown = shorten(json.dumps(value, ensure_ascii=False, default=str), 60)
    return UsageError(f"{where}: {key + ' ' if key else ''}is {shown}; {expected}", "Correct it and try again. Nothing was imported.")


def _plain(text: str) -> str:
    return storable(text).replace("\0", "\ufffd")


def _cleaned(value: Any, clean: Callable[[str], str], deep: int = 0) -> Any:
    """`value` with all its texts cleaned of what the store could not hold. Raises ValueError when it is nested beyond all sense."""
    if deep > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(item, clean, deep + 1) for item in value]
    if isinstance(value, dict):
        return {clean(key): _cleaned(item, clean, deep + 1) for key, item in value.items()}
    return value
