"""A file's bytes as conversations: our own lossless export, lists of messages, zk-chat's `chat_sessions.json`, `llm logs --json`.

Reading is pure: a file with one wrong entry is refused before anything is stored, and the error names the entry by its key path. Our own
export is read strictly, because a field that is ignored would be lost. In other programs' messages known fields are read, others are
ignored, and missing ones are filled in.
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
from zkchat_cli.store.archive import find_problem
from zkchat_cli.store.rows import paused_gc
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import replace_surrogates

LARGEST_FILE = 1024 * 1024 * 1024
"""Bytes. Reading takes seven times as much memory; so did writing: who can export a conversation can import it."""
MOST_NESTED = 100
_OWN_EXPORT = "an export of zkchat"
_EXPECTED = (
    "Expected: a `zkchat context export --format json`, a list of messages [{\"role\": …, \"content\": …}, …] or one on each line, "
    "a chat_sessions.json {id: {\"messages\": […]}}, or the output of `llm logs --json`. Nothing was imported."
)  # fmt: skip

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
        yield {"role": "assistant", "content": entry["response"] or "", "tool_calls": entry.get("tool_calls"), "model": entry.get("model")}


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


@dataclass(frozen=True, slots=True)
class ImportedConversations:
    """The content of a file; `kind` says what the file is."""

    kind: str
    archives: list[ConversationArchive]

    @property
    def is_own(self) -> bool:
        return self.kind == _OWN_EXPORT


def read_conversations(data: bytes, *, vault: str, new_id: Callable[[], str], now: str) -> ImportedConversations:
    """Every conversation in a file, in any Unicode encoding.

    Our own exports keep their ids and their vault; all others get new ids and `vault`. `now` (ISO 8601) replaces missing times, and its
    zone is that of times without one. Raises UsageError.
    """
    if len(data) > LARGEST_FILE:
        raise UsageError(f"The file is larger than {LARGEST_FILE // 1024**2} MB", "Split it into several files. Nothing was imported.")
    encoding = json.detect_encoding(data)
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as e:
        name = encoding.removesuffix("-sig").upper()
        raise UsageError(f"Not valid {name}: {e.reason} at byte {e.start}", "Save the file as UTF-8. Nothing was imported.") from e
    with paused_gc():
        return _convert(_parse(text), MessageReader(vault, new_id, now))


def _convert(document: Any, reader: MessageReader) -> ImportedConversations:
    is_list = isinstance(document, list)
    entries = [(f"[{n}]", entry) for n, entry in enumerate(document)] if is_list else [("", document)]
    first = entries[0][1] if entries else None
    if isinstance(first, dict):
        if isinstance(first.get("format"), str):
            return ImportedConversations(_OWN_EXPORT, [_read_own_export(path, entry) for path, entry in entries])
        if isinstance(first.get("messages"), list) or (is_list and "messages" in first):
            return ImportedConversations("conversations", [reader.session(path, entry) for path, entry in entries])
        if "prompt" in first and "response" in first:
            return ImportedConversations("a log of llm", reader.llm_log(entries))
    if (is_list and document) or (isinstance(first, dict) and "role" in first):
        return ImportedConversations("messages", [reader.conversation(entries)])
    if isinstance(document, dict) and any(isinstance(value, dict) and "messages" in value for value in document.values()):
        return ImportedConversations("chat sessions", [reader.session(name, session) for name, session in document.items()])
    raise UsageError("This JSON holds no conversation", _EXPECTED)


def _read_own_export(path: str, data: Any) -> ConversationArchive:
    format_, version = (data.get("format"), data.get("version")) if isinstance(data, dict) else (None, None)
    if format_ != "zkchat-conversation" or version not in (1, 2, 3):
        raise UsageError(
            f"This is {format_!r} version {version!r}; this zkchat reads 'zkchat-conversation' versions 1 to 3",
            "Export it again with this version of zkchat, or update zkchat. Nothing was imported.",
        )
    if version < 3:  # development versions stored the prompts of past calls in another form
        data = {**data, "version": 3, "prompts": None}
    archive = validate(ConversationArchive, data, path)
    if problem := find_problem(archive):
        raise UsageError(f"The export is inconsistent: {path}{'.' if path else ''}{problem}", "Export it again. Nothing was imported.")
    return archive


def _parse(text: str) -> Any:
    """The document, or the list of documents if each line is one."""
    first, *_ = text.lstrip().split("\n", 1)
    try:
        json.loads(first)
    except (RecursionError, ValueError):
        return _load(text)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]  # a JSON text may contain U+2028
    return [_load(line, number) for number, line in lines] if len(lines) > 1 else _load(text)


def _load(text: str, line: int = 0) -> Any:
    """`line` is the number of the line that `text` is, 0 for a whole file. Raises UsageError."""
    try:
        return _clean(json.loads(text))
    except json.JSONDecodeError as e:
        raise UsageError(f"Not valid JSON: line {line or e.lineno}, column {e.colno}: {e.msg}", _EXPECTED) from e
    except (RecursionError, ValueError) as e:
        raise UsageError(f"{f'Line {line}' if line else 'The JSON'} cannot be read: {e}", _EXPECTED) from e


def _clean(document: Any) -> Any:
    """The document without characters that the store cannot hold. In our own export a NUL is part of the message."""
    is_own = isinstance(document, dict) and isinstance(document.get("format"), str)

    def clean(value: Any, depth: int) -> Any:
        if depth > MOST_NESTED:
            raise ValueError(f"it is nested more than {MOST_NESTED} levels deep")
        if isinstance(value, str):
            return replace_surrogates(value) if is_own else replace_surrogates(value).replace("\0", "\ufffd")
        if isinstance(value, list):
            return [clean(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {clean(key, depth): clean(item, depth + 1) for key, item in value.items()}
        return value

    return clean(document, 0)
