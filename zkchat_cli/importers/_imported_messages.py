"""Messages of other programs. Unknown fields are ignored, and missing ones are filled in."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationInfo

from zkchat_cli.importers.base import make_archive, parse_call, parse_time, texts_of
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.base import Count
from zkchat_cli.models.messages import Role, ToolCall, ZkChatMessage
from zkchat_cli.models.notes import DocumentReference


def _text(content: Any) -> Any:
    """The texts of a list of parts; empty for a message that only calls tools."""
    if isinstance(content, list):
        return "\n".join(texts_of(content))
    return "" if content is None else content


def _reference(reference: Any) -> Any:
    if not isinstance(reference, dict):
        return reference
    fields = DocumentReference.model_fields
    given = {key: value for key, value in reference.items() if value is not None}
    known = {key: value for key, value in given.items() if key in fields}
    known.setdefault("status", "found" if known.get("relative_path") else "broken")
    return known


def _tool_call(call: Any) -> Any:
    """A call as zk-chat writes it, or as OpenAI does: inside `function`, with the arguments as
    text.
    """
    function = call.get("function", call) if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return call
    name = function.get("name")
    if not isinstance(name, str):
        return call
    id_ = call.get("tool_call_id") or call.get("id") or name
    return parse_call(id_, name, function.get("arguments"))


def _iso_time(time: Any, info: ValidationInfo) -> str:
    """A time as text with its zone; a time without one gets that of the validation's context."""
    read = parse_time(time)
    if read is None:
        raise ValueError("it must be a time such as 2025-05-08T12:00:00Z")
    if read.tzinfo is None:
        read = read.replace(tzinfo=info.context)
    return read.isoformat()


Time = Annotated[str, BeforeValidator(_iso_time)]


class ImportedMessage(BaseModel):
    """A message of another program."""

    # OpenAI's newer name of the system is `developer`
    role: Annotated[Role, BeforeValidator(lambda role: "system" if role == "developer" else role)]
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
    """A conversation of another program."""

    messages: list[ImportedMessage]
    created_at: Time | None = None
    last_updated: Time | None = None

    def archive(self, vault: str, new_id: Callable[[], str], now: str) -> ConversationArchive:
        """The messages in a chain, each the reply to the one before."""
        messages: list[ZkChatMessage] = []
        parent_id = None
        time = self.created_at or now
        for each in self.messages:
            values: dict[str, Any] = {"id": new_id(), "parent_id": parent_id, "timestamp": time}
            values.update(each.model_dump(exclude_none=True))
            message = ZkChatMessage.model_validate(values)
            messages.append(message)
            parent_id = message.id
            time = message.timestamp
        first_time = messages[0].timestamp if messages else now
        return make_archive(
            new_id(),
            vault,
            messages,
            created_at=self.created_at or first_time,
            updated_at=self.last_updated or time,
            head_id=parent_id,
        )
