"""A file's bytes as conversations: our own lossless export, lists of messages, zk-chat's `chat_sessions.json`, `llm logs --json`.

Reading is pure: a file with one wrong entry is refused before anything is stored, and the error names the entry by its key path. Our own
export is read strictly, because a field that is ignored would be lost; for other programs' messages see `messages`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zkchat_cli.errors import UsageError
from zkchat_cli.importers.messages import MessageReader, validate
from zkchat_cli.models import ConversationArchive
from zkchat_cli.store.archive import find_problem
from zkchat_cli.store.rows import paused_gc
from zkchat_cli.text.words import replace_surrogates

LARGEST_FILE = 1024 * 1024 * 1024
"""Bytes. Reading takes seven times as much memory; so did writing: who can export a conversation can import it."""
MOST_NESTED = 100
_OWN_EXPORT = "an export of zkchat"
_EXPECTED = (
    "Expected: a `zkchat context export --format json`, a list of messages [{\"role\": …, \"content\": …}, …] or one on each line, "
    "a chat_sessions.json {id: {\"messages\": […]}}, or the output of `llm logs --json`. Nothing was imported."
)  # fmt: skip


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
