"""Other programs' messages as ours: read for what we know, the rest is left aside. What they do not say is filled in.

Pure. What is no message raises Misfit, which says where in the file it stands.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from pydantic import ValidationError

from zkchat_cli.importers.json_positions import Way
from zkchat_cli.models import Conversation, ConversationArchive, DocumentReference, Role, TokenUsage, ToolCall, ZkChatMessage
from zkchat_cli.text.truncate import truncate

_COUNTS = ("token_count", "augmented_token_count", "tool_tokens")
_TITLE = 60


class InvalidImport(Exception):
    """A value that is not what it must be: `way` leads to it in the file, `message` says what it is and what was expected."""

    def __init__(self, message: str, way: Way) -> None:
        super().__init__(message)
        self.message = message
        self.way = way


@dataclass(frozen=True, slots=True)
class JsonPath:
    """An entry of the file, in words as a person counts and as the way that leads there."""

    words: str = ""
    way: Way = ()

    def entry(self, words: str, *steps: str | int) -> "JsonPath":
        return JsonPath(f"{self.words}, {words}" if self.words else words, (*self.way, *steps))

    def misfit(self, key: str, value: Any, expected: str, *steps: str | int) -> InvalidImport:
        """That what the entry has under `key` (empty: the entry itself) is wrong; `steps` lead to it where the key alone does not."""
        shown = truncate(json.dumps(value, ensure_ascii=False, default=str), 60)
        way = (*self.way, *(steps or ((key,) if key else ())))
        return InvalidImport(f"{self.words}: {key + ' ' if key else ''}is {shown}; {expected}", way)


@contextmanager
def named(place: JsonPath, value: Any = None) -> Iterator[None]:
    """Say which entry of the file a value was refused for: a part of `value`, where that is given."""
    try:
        yield
    except ValidationError as e:
        first = e.errors()[0]
        way = first["loc"] if value is None else _there(value, first["loc"])
        words = " ".join(str(part + 1) if isinstance(part, int) else part for part in way)
        raise place.misfit(words, first["input"], first["msg"], *way) from e


def _there(value: Any, way: Way) -> Way:
    """The steps of a way that lead into a value: pydantic names besides what it tried where several things are allowed."""
    found: list[str | int] = []
    for step in way:
        if isinstance(value, dict):
            found.append(step)
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int):
            found.append(step)
            value = value[step] if step < len(value) else None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class MessageReader:
    """`now` (ISO 8601) stands for times that are missing, and lends its zone to times that have none."""

    vault: str
    new_id: Callable[[], str]
    now: str

    def session(self, place: JsonPath, session: Any) -> ConversationArchive:
        """`{"messages": […]}`, with times where it has them."""
        if not isinstance(session, dict) or "messages" not in session:
            raise place.misfit("", session, 'expected an object {"messages": […]}')
        if not isinstance(session["messages"], list):
            raise place.misfit("messages", session["messages"], "expected a list of messages")
        created, updated = (self._time(place, key, session.get(key)) for key in ("created_at", "last_updated"))
        return self.conversation(session["messages"], JsonPath(place.words, (*place.way, "messages")), created, updated)

    def conversation(
        self, entries: Sequence[Any], place: JsonPath, created_at: str | None = None, updated_at: str | None = None
    ) -> ConversationArchive:
        """A list of messages, each the answer to the one before."""
        messages: list[ZkChatMessage] = []
        for number, entry in enumerate(entries):
            at = place.entry(f"message {number + 1}", number)
            messages.append(self._message(at, entry, messages[-1] if messages else None, created_at or self.now))
        return self._archive(messages, created_at, updated_at)

    def _archive(
        self, messages: Sequence[ZkChatMessage], created_at: str | None, updated_at: str | None, title: str | None = None
    ) -> ConversationArchive:
        first = title or next((message.content for message in messages if message.role == "user"), "")
        created = created_at or (messages[0].timestamp if messages else self.now)
        return ConversationArchive(
            conversation=Conversation(
                id=self.new_id(),
                vault=self.vault,
                title=truncate(first, _TITLE) or None,
                created_at=created,
                updated_at=updated_at or (messages[-1].timestamp if messages else created),
                head_id=messages[-1].id if messages else None,
            ),
            messages=tuple(messages),
        )

    def _message(self, at: JsonPath, entry: Any, parent: ZkChatMessage | None, otherwise: str) -> ZkChatMessage:
        if not isinstance(entry, dict):
            raise at.misfit("", entry, 'expected an object {"role": …, "content": …}')
        role = entry.get("role")
        if role not in get_args(Role):
            raise at.misfit("role", role, f"expected one of {', '.join(get_args(Role))}")
        references, calls = (_list(at, entry, key) for key in ("references", "tool_calls"))
        with named(at):
            return ZkChatMessage(
                id=self.new_id(),
                parent_id=parent.id if parent else None,
                role=role,
                content=_content(at, entry),
                timestamp=self._time(at, "timestamp", entry.get("timestamp"))
                or self._time(at, "created_at", entry.get("created_at"))
                or (parent.timestamp if parent else otherwise),
                references=tuple(_reference(at.entry(f"reference {n + 1}", "references", n), one) for n, one in enumerate(references)),
                tool_calls=tuple(self._call(at.entry(f"tool call {n + 1}", "tool_calls", n), one) for n, one in enumerate(calls)),
                tool_call_id=entry.get("tool_call_id"),
                tool_name=entry.get("tool_name") or (entry.get("name") if role == "tool" else None),
                model=entry.get("model"),
                **{key: entry.get(key) for key in _COUNTS},
            )

    def _call(self, at: JsonPath, call: Any) -> ToolCall:
        """A call as zk-chat has it, or inside `function` with its arguments as text, as OpenAI has it."""
        called = call.get("function", call) if isinstance(call, dict) else None
        if not isinstance(called, dict) or not isinstance(called.get("name"), str):
            raise at.misfit("", call, 'expected an object {"name": …, "arguments": {…}}')
        arguments = called.get("arguments") or {}
        if isinstance(arguments, str):
            with suppress(RecursionError, ValueError):
                arguments = json.loads(arguments)
        if not isinstance(arguments, dict):
            arguments = {"arguments": arguments}  # what a model garbled is kept as it is
        with named(at):
            return ToolCall(id=call.get("tool_call_id") or call.get("id") or self.new_id(), name=called["name"], arguments=arguments)

    # what `llm logs --json` prints: an entry is a question with its answer

    def logged(self, entries: Sequence[Any]) -> list[ConversationArchive]:
        """The conversations of a log, in the order of their first entries, each in the order of its times."""
        talks: dict[str, list[tuple[str, JsonPath, Mapping[str, Any]]]] = {}
        for number, entry in enumerate(entries):
            at = JsonPath(f"entry {number + 1}", (number,))
            if not isinstance(entry, dict) or "prompt" not in entry or "response" not in entry:
                raise at.misfit("", entry, "expected an object of `llm logs --json`, with prompt and response")
            time = self._time(at, "datetime_utc", entry.get("datetime_utc"), UTC) or self.now
            talks.setdefault(str(entry.get("conversation_id") or f"entry {number}"), []).append((time, at, entry))
        return [self._logged(sorted(talk, key=lambda one: datetime.fromisoformat(one[0]))) for talk in talks.values()]

    def _logged(self, talk: Sequence[tuple[str, JsonPath, Mapping[str, Any]]]) -> ConversationArchive:
        messages: list[ZkChatMessage] = []
        instructions = ""
        for time, at, entry in talk:
            said = {key: _text(at, entry, key) for key in ("prompt", "response", "system")}
            if said["system"] and said["system"] != instructions:
                instructions = said["system"]
                messages.append(self._said(messages, "system", instructions, time))
            for n, result in enumerate(_list(at, entry, "tool_results")):
                messages.append(self._result(at.entry(f"tool result {n + 1}", "tool_results", n), messages, result, time))
            attached = _attached(at, entry)
            if said["prompt"].strip() or attached:
                messages.append(self._said(messages, "user", "\n\n".join(filter(None, (said["prompt"], *attached))), time))
            calls = tuple(
                self._call(at.entry(f"tool call {n + 1}", "tool_calls", n), one) for n, one in enumerate(_list(at, entry, "tool_calls"))
            )
            if said["response"].strip() or calls:
                with named(at):
                    usage = _usage(entry)
                    answered = _later(time, entry.get("duration_ms"))
                    more = {"model": entry.get("model"), "reasoning": entry.get("reasoning"), "usage": usage, "tool_calls": calls}
                    messages.append(self._said(messages, "assistant", said["response"], answered, **more))
        name = talk[0][2].get("conversation_name")
        return self._archive(messages, None, None, name if isinstance(name, str) else None)

    def _result(self, at: JsonPath, messages: Sequence[ZkChatMessage], result: Any, time: str) -> ZkChatMessage:
        if not isinstance(result, dict):
            raise at.misfit("", result, 'expected an object {"name": …, "output": …}')
        output = _text(at, result, "output")
        failed = result.get("exception")
        content = "\n".join(filter(None, (f"Error: {failed}" if failed else "", output)))
        with named(at):
            return self._said(messages, "tool", content, time, tool_call_id=result.get("tool_call_id"), tool_name=result.get("name"))

    def _said(self, messages: Sequence[ZkChatMessage], role: Role, content: str, time: str, **more: Any) -> ZkChatMessage:
        parent = messages[-1].id if messages else None
        return ZkChatMessage(id=self.new_id(), parent_id=parent, role=role, content=content, timestamp=time, **more)

    def _time(self, at: JsonPath, key: str, value: Any, zone: Any = None) -> str | None:
        """ISO 8601 with a zone, from text or from seconds since 1970."""
        if value is None:
            return None
        try:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return datetime.fromtimestamp(value, UTC).isoformat()
            time = datetime.fromisoformat(value)
        except (TypeError, ValueError, OverflowError, OSError) as e:
            raise at.misfit(key, value, "expected a time as 2025-05-08T13:56:00+00:00") from e
        return (time if time.tzinfo else time.replace(tzinfo=zone or datetime.fromisoformat(self.now).tzinfo)).isoformat()


def _later(time: str, milliseconds: Any) -> str:
    if type(milliseconds) is int and 0 <= milliseconds < 10**9:
        with suppress(OverflowError):
            return (datetime.fromisoformat(time) + timedelta(milliseconds=milliseconds)).isoformat()
    return time


def _usage(entry: Mapping[str, Any]) -> TokenUsage | None:
    counts = [entry.get("input_tokens"), entry.get("output_tokens")]
    if all(count is None for count in counts):
        return None
    return TokenUsage(prompt_tokens=counts[0] or 0, completion_tokens=counts[1] or 0, estimated=False)


def _attached(at: JsonPath, entry: Mapping[str, Any]) -> list[str]:
    """What was attached to a prompt, by name: the log has no text of it."""
    told = []
    for one in _list(at, entry, "attachments"):
        name = (one.get("path") or one.get("url") or one.get("id")) if isinstance(one, dict) else one
        told.append(f"[attachment: {truncate(str(name), 200)}]")
    return told


def _text(at: JsonPath, entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    if value is not None and not isinstance(value, str):
        raise at.misfit(key, value, "expected a text")
    return value or ""


def _content(at: JsonPath, entry: Mapping[str, Any]) -> str:
    """A text; the texts of a list of parts; nothing for a message that only calls tools."""
    content = entry.get("content")
    if isinstance(content, list) and all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in content):
        return "\n".join(part["text"] for part in content)
    if content is None and (entry.get("tool_calls") or entry["role"] == "tool"):
        return ""
    if not isinstance(content, str):
        raise at.misfit("content", content, "expected a text")
    return content


def _list(at: JsonPath, entry: Mapping[str, Any], key: str) -> list[Any]:
    found = entry.get(key) or []
    if not isinstance(found, list):
        raise at.misfit(key, found, "expected a list")
    return found


def _reference(at: JsonPath, reference: Any) -> DocumentReference:
    if isinstance(reference, dict) and "status" not in reference:
        reference = reference | {"status": "found" if reference.get("relative_path") else "broken"}
    with named(at):
        return DocumentReference.model_validate(reference)
