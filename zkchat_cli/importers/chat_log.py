"""Conversations out of a file: our own lossless export, lists of messages as JSON or JSON lines, zk-chat's `chat_sessions.json`, and what
`llm logs --json` prints.

Reading is pure: bytes in, archives out, so a file with one wrong entry is refused before anything is stored, with the line that is wrong.
Our own export is read strictly, because a field we would drop is a loss; other programs' messages are read by `foreign`.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from zkchat_cli.errors import UsageError
from zkchat_cli.importers.json_positions import line_of
from zkchat_cli.importers.messages import InvalidImport, JsonPath, MessageReader, named
from zkchat_cli.models import ConversationArchive
from zkchat_cli.store.conversation_archive import flaw
from zkchat_cli.store.prompt_codec import storable
from zkchat_cli.store.rows import uncollected

LARGEST = 1024 * 1024 * 1024
"""Bytes of a file. Reading one takes seven times as much memory, and so did writing it: who can export a conversation can import it."""
_EXPECTED = (
    "Expected: a `zkchat context export --format json`, a list of messages [{\"role\": …, \"content\": …}, …] or one on each line, "
    "a chat_sessions.json {id: {\"messages\": […]}}, or what `llm logs --json` prints. Nothing was imported."
)  # fmt: skip
_CORRECT = "Correct it and try again. Nothing was imported."
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """What a file holds: `kind` is what it was taken for, in words."""

    kind: str
    archives: list[ConversationArchive]

    @property
    def is_own(self) -> bool:
        return self.kind == _OWN


_OWN = "an export of zkchat"


def read_file(data: bytes, *, vault: str, new_id: Callable[[], str], now: str) -> ImportedConversation:
    """Every conversation in a file's bytes, in whichever Unicode encoding. See `read_archive`."""
    if len(data) > LARGEST:
        raise UsageError(
            f"The file is larger than {LARGEST // 1024**2} MB",
            "Of several conversations import some at a time; of one, its messages in several lists. Nothing was imported.",
        )
    encoding = json.detect_encoding(data)  # by its mark or its first bytes
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as e:
        line = data[: e.start].count("\n".encode(encoding.removesuffix("-sig"))) + 1
        raise UsageError(f"line {line}: this is not {encoding.removesuffix('-sig').upper()}: {e.reason}", _IN_UTF8) from e
    return read(text, vault=vault, new_id=new_id, now=now)


_IN_UTF8 = "Save the file as UTF-8 and try again. Nothing was imported."


def read_archive(text: str, *, vault: str, new_id: Callable[[], str], now: str) -> list[ConversationArchive]:
    """Every conversation in `text`, ready to be restored.

    Our own exports keep their ids and their vault; all others get new ids and `vault`. `now` (ISO 8601) stands for times that are
    missing, and lends its zone to times that have none. Raises UsageError that names the line and the entry which is wrong.
    """
    return read(text, vault=vault, new_id=new_id, now=now).archives


def read(text: str, *, vault: str, new_id: Callable[[], str], now: str) -> ImportedConversation:
    """`read_archive`, and what the text was taken for."""
    text = text.removeprefix("\ufeff")
    try:
        with uncollected():
            document, line = _parsed(text)
            return _recognised(document, MessageReader(vault, new_id, now))
    except InvalidImport as e:
        raise UsageError(f"line {line(e.way)}, {e.message}", _CORRECT) from e


def _recognised(document: Any, reader: MessageReader) -> ImportedConversation:
    whole = JsonPath()
    entries = document if isinstance(document, list) else [document]
    first = entries[0] if entries else None
    places = [JsonPath(f"entry {n + 1}", (n,)) for n in range(len(entries))] if isinstance(document, list) else [whole]
    if isinstance(first, dict):
        if isinstance(first.get("format"), str):
            return ImportedConversation(_OWN, [_own(place, entry) for place, entry in zip(places, entries, strict=True)])
        if isinstance(first.get("messages"), list) or (isinstance(document, list) and "messages" in first):
            return ImportedConversation(
                "conversations", [reader.session(place, entry) for place, entry in zip(places, entries, strict=True)]
            )
        if "prompt" in first and "response" in first:
            return ImportedConversation("a log of llm", reader.logged(entries))
    if isinstance(document, list) and document:
        return ImportedConversation("messages", [reader.conversation(document, whole)])
    if isinstance(document, dict):
        if "role" in document:
            return ImportedConversation("messages", [reader.conversation([document], whole)])
        if any(isinstance(value, dict) and "messages" in value for value in document.values()):
            sessions = [reader.session(JsonPath(f"session {name!r}", (name,)), session) for name, session in document.items()]
            return ImportedConversation("chat sessions", sessions)
    raise UsageError("This JSON holds no conversation", _EXPECTED)


def _own(place: JsonPath, data: Any) -> ConversationArchive:
    at = place if place.words else JsonPath("the export", place.way)
    form, version = (data.get("format"), data.get("version")) if isinstance(data, dict) else (None, None)
    if form != "zkchat-conversation" or version not in (1, 2):
        raise UsageError(
            f"This is {form!r} version {version!r}; this zkchat reads 'zkchat-conversation' versions 1 and 2",
            "Export it again with this version of zkchat, or update zkchat. Nothing was imported.",
        )
    with named(at, data):
        archive = ConversationArchive.model_validate(data)
    if problem := flaw(archive):
        raise InvalidImport(f"the export does not fit together: {problem}", (*place.way, *problem.way))
    return archive


# from text to values


def _parsed(text: str) -> tuple[Any, Callable[[Sequence[str | int]], int]]:
    """The document, and what says on which line of `text` the value at the end of a way through it stands.

    Where each line is a document, the whole is the list of them.
    """
    try:
        return _cleaned(json.loads(text)), partial(line_of, text)
    except json.JSONDecodeError as e:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]  # JSON may hold U+2028
        if not (e.msg == "Extra data" and len(lines) > 1 and e.lineno == lines[1][0]):
            raise UsageError(f"Not valid JSON: line {e.lineno}, column {e.colno}: {e.msg}", _EXPECTED) from e
    except (RecursionError, ValueError) as e:
        raise _unreadable(e) from e
    documents = []
    for number, line in lines:
        try:
            documents.append(_cleaned(json.loads(line)))
        except json.JSONDecodeError as e:
            raise UsageError(f"Not valid JSON: line {number}, column {e.colno}: {e.msg}", _EXPECTED) from e
        except (RecursionError, ValueError) as e:
            raise _unreadable(e, f"line {number}: ") from e
    return documents, lambda way: lines[int(way[0])][0]


def _unreadable(e: Exception, where: str = "") -> UsageError:
    return UsageError(f"{where}The JSON cannot be read: {'it is nested too deeply' if isinstance(e, RecursionError) else e}", _EXPECTED)


def _cleaned(document: Any) -> Any:
    """`document` with its texts cleaned of what the store could not hold; in our own export a NUL is what was said, and stays."""
    own = isinstance(document, dict) and isinstance(document.get("format"), str)
    return _clean(document, storable if own else _plain)


def _plain(text: str) -> str:
    return storable(text).replace("\0", "\ufffd")


def _clean(value: Any, clean: Callable[[str], str], deep: int = 0) -> Any:
    """Raises ValueError when it is nested beyond all sense."""
    if deep > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_clean(item, clean, deep + 1) for item in value]
    if isinstance(value, dict):
        return {clean(key): _clean(item, clean, deep + 1) for key, item in value.items()}
    return value
