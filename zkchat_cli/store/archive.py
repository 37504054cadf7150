"""Checks and copies of a conversation's archive before it is stored."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from zkchat_cli.models import ConversationArchive, Value

V = TypeVar("V", bound=Value)


def find_problem(archive: ConversationArchive) -> str | None:
    """The first inconsistency, with the key path where it is: ids that are used twice, or that name nothing."""
    return next(_problems(archive), None)


def _problems(archive: ConversationArchive) -> Iterator[str]:
    ids: set[str] = set()
    for number, message in enumerate(archive.messages):
        path = f"messages[{number}]"
        if message.id in ids:
            yield f"{path}.id: {message.id!r} is used twice"
        if message.parent_id is not None and message.parent_id not in ids:
            yield f"{path}.parent_id: {message.parent_id!r} is not an earlier message"
        ids.add(message.id)
    if archive.conversation.head_id is not None and archive.conversation.head_id not in ids:
        yield f"conversation.head_id: {archive.conversation.head_id!r} is not one of the messages"
    compaction_ids: set[str] = set()
    for number, compaction in enumerate(archive.compactions):
        path = f"compactions[{number}]"
        if compaction.id in compaction_ids:
            yield f"{path}.id: {compaction.id!r} is used twice"
        if compaction.last_id is not None and compaction.last_id not in ids:
            yield f"{path}.last_id: {compaction.last_id!r} is not one of the messages"
        compaction_ids.add(compaction.id)
    if archive.prompts is not None:
        questions = {message.id for message in archive.messages if message.role == "user"}
        for number, call in enumerate(archive.prompts.calls):
            path = f"prompts.calls[{number}]"
            if call.question_id not in questions:
                yield f"{path}.question_id: {call.question_id!r} is not one of the user's messages"
            for name, indexes, count in (
                ("messages", call.messages, len(archive.prompts.messages)),
                ("tools", call.tools, len(archive.prompts.tools)),
            ):
                if any(index >= count for index in indexes):
                    yield f"{path}.{name}: index {max(indexes)} is too large, prompts.{name} has {count} entries"


def with_new_ids(archive: ConversationArchive, new_id: Callable[[], str]) -> ConversationArchive:
    """The same conversation with a new id for the conversation, each message and each compaction, wherever they are named."""
    message_ids = {message.id: new_id() for message in archive.messages}
    ids = message_ids | {compaction.id: new_id() for compaction in archive.compactions}

    def renamed(value: V, *names: str) -> V:
        """The value with the ids in these fields replaced; an id of nothing in the archive becomes None, or is left out of a list."""
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
            "compactions": tuple(renamed(c, "id", "last_id", "made_after", "masked") for c in archive.compactions),
            "prompts": prompts,
        }
    )


def _replace_ids(value: str | tuple[str, ...] | None, ids: dict[str, str]) -> str | tuple[str, ...] | None:
    if isinstance(value, tuple):
        return tuple(ids[id_] for id_ in value if id_ in ids)
    return ids.get(value or "")
