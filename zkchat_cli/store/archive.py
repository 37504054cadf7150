"""Checks and copies of a conversation's archive before it is stored."""

from collections.abc import Callable
from typing import TypeVar

from zkchat_cli.models import ConversationArchive, Value

V = TypeVar("V", bound=Value)


def find_problem(archive: ConversationArchive) -> str | None:
    """The first index in the prompts that names nothing, with its key path. Wrong ids are refused by the store's tables."""
    if archive.prompts is None:
        return None
    for number, call in enumerate(archive.prompts.calls):
        for name, indexes, entries in (("messages", call.messages, archive.prompts.messages), ("tools", call.tools, archive.prompts.tools)):
            if any(index >= len(entries) for index in indexes):
                return f"prompts.calls[{number}].{name}: index {max(indexes)} is too large, prompts.{name} has {len(entries)} entries"
    return None


def with_new_ids(archive: ConversationArchive, new_id: Callable[[], str]) -> ConversationArchive:
    """The same conversation with a new id for the conversation, each message and each compaction, wherever they are named."""
    message_ids = {message.id: new_id() for message in archive.messages}
    ids = message_ids | {compaction.id: new_id() for compaction in archive.compactions}

    def renamed(value: V, *names: str) -> V:
        """The value with the ids in these fields replaced; an id of nothing in the archive stays, or is left out of a list."""
        return value.model_copy(update={name: _replace_ids(getattr(value, name), ids) for name in names})

    prompts = archive.prompts and archive.prompts.model_copy(
        update={
            "messages": tuple(
                message.model_copy(update={"source_ids": tuple(ids.get(source, source) for source in message.source_ids)})
                for message in archive.prompts.messages
            ),
            "calls": tuple(renamed(call, "question_id") for call in archive.prompts.calls),
        }
    )
    return archive.model_copy(
        update={
            "conversation": renamed(archive.conversation, "head_id").model_copy(update={"id": new_id()}),
            "messages": tuple(renamed(message, "id", "parent_id") for message in archive.messages),
            "compactions": tuple(renamed(c, "id", "last_id", "made_after", "masked", "quoted") for c in archive.compactions),
            "prompts": prompts,
        }
    )


def _replace_ids(value: str | tuple[str, ...] | None, ids: dict[str, str]) -> str | tuple[str, ...] | None:
    if isinstance(value, tuple):
        return tuple(ids[id_] for id_ in value if id_ in ids)
    return ids.get(value, value) if value is not None else None
