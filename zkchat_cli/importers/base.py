"""The protocol of an importer, and what importers share."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from typing import Any, NamedTuple, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from zkchat_cli.chat.turn_recorder import default_title
from zkchat_cli.context.instructions import REMINDER
from zkchat_cli.context.prompt_messages import FIXED_TAG, RECALLED_TAG, SUMMARY_TAG
from zkchat_cli.errors import UsageError, value_problem
from zkchat_cli.llm.base import parse_tool_call
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import ToolCall, ZkChatMessage
from zkchat_cli.references.document_list import FOUND_EXCERPTS, NAMED_DOCUMENTS
from zkchat_cli.text.truncate import truncate

_LONGEST_EXCERPT = 60

_ADDED = (
    "<project-memory",
    "<user-memory",
    "<agent-memory",
    "<smart-memory",
    f"<{SUMMARY_TAG}",
    f"<{RECALLED_TAG}",
    f"<{FIXED_TAG}",
    NAMED_DOCUMENTS,
    FOUND_EXCERPTS,
    REMINDER,
)
"""How the texts begin that zkchat adds to a prompt and that nobody said."""

Record = dict[str, Any]
T = TypeVar("T")


class ReadDocument(Protocol):
    """Makes the conversations in a JSON document. Those without a vault, ids or times get them from
    the arguments. Raises UsageError.
    """

    def __call__(
        self, document: Any, vault: str, new_id: Callable[[], str], now: str
    ) -> list[ConversationArchive]: ...


class ReadSession(Protocol):
    """Makes a conversation of the log in the file with this name. The same log always gets the same
    ids. Raises UsageError.
    """

    def __call__(self, data: bytes, name: str, *, vault: str, now: str) -> ConversationArchive: ...


class DocumentImporter(NamedTuple):
    """A format of JSON documents. `kind` is what users call such a file; at most one importer
    recognizes a document.
    """

    kind: str
    recognizes: Callable[[Any], bool]
    read: ReadDocument


class SessionImporter(NamedTuple):
    """The logs of another program, one session a file. `program` is its name after `--from`."""

    program: str
    read: ReadSession


Importer = DocumentImporter | SessionImporter


def is_added(text: str) -> bool:
    """Whether zkchat has added this text to a prompt."""
    return text.startswith(_ADDED)


def validate(type_: type[T], value: Any, zone: tzinfo | None = None) -> T:
    """The value as this type; times without a zone get `zone`. Raises UsageError, which names the
    first wrong entry by its key path.
    """
    try:
        return TypeAdapter(type_).validate_python(value, context=zone)
    except ValidationError as e:
        first = e.errors()[0]
        path = ""
        for step in first["loc"]:
            path += f"[{step}]" if isinstance(step, int) else f".{step}"
        found = json.dumps(first["input"], ensure_ascii=False, default=str)
        excerpt = truncate(found, _LONGEST_EXCERPT)
        raise UsageError(
            f"{path.removeprefix('.') or 'The file'}: {value_problem(first)} (found {excerpt})",
            "Correct it and try again. Nothing was imported.",
        ) from e


def make_archive(
    id_: str,
    vault: str,
    messages: Sequence[ZkChatMessage],
    *,
    created_at: str,
    updated_at: str,
    head_id: str | None,
    title: str = "",
) -> ConversationArchive:
    """A conversation with these messages. Without a title it is named after its first question."""
    if not title:
        questions = (message.content for message in messages if message.role == "user")
        title = next(questions, "")
    conversation = Conversation(
        id=id_,
        vault=vault,
        title=default_title(title) or None,
        created_at=created_at,
        updated_at=updated_at,
        head_id=head_id,
    )
    return ConversationArchive(conversation=conversation, messages=tuple(messages))


def parse_time(text: object) -> datetime | None:
    """A time in ISO 8601; None for anything else."""
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None


def parse_call(id_: object, name: object, arguments: object) -> ToolCall:
    """A tool call; arguments that are no JSON object are kept as `malformed`."""
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return parse_tool_call(str(id_), str(name), arguments)


def texts_of(blocks: Sequence[Any]) -> list[str]:
    """The texts of a message's blocks."""
    found: list[str] = []
    for block in blocks:
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str):
            found.append(text)
    return found
