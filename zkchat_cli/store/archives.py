"""A conversation as one value, outside the store: is it sound, and the same with other ids."""

from collections.abc import Callable

from zkchat_cli.models import ConversationArchive


def with_fresh_ids(archive: ConversationArchive, new_id: Callable[[], str]) -> ConversationArchive:
    """The same conversation under new ids throughout: its own, its messages', its summaries', and all that point to them."""
    fresh = {message.id: new_id() for message in archive.messages}
    conversation = archive.conversation
    return archive.model_copy(
        update={
            "conversation": conversation.model_copy(update={"id": new_id(), "head_id": fresh.get(conversation.head_id or "")}),
            "messages": tuple(
                message.model_copy(update={"id": fresh[message.id], "parent_id": fresh.get(message.parent_id or "")})
                for message in archive.messages
            ),
            "compactions": tuple(
                compaction.model_copy(
                    update={
                        "id": new_id(),
                        "last_id": fresh.get(compaction.last_id or ""),
                        "made_after": fresh.get(compaction.made_after or ""),
                        "masked": tuple(fresh[id_] for id_ in compaction.masked if id_ in fresh),
                    }
                )
                for compaction in archive.compactions
            ),
        }
    )


def flaw(archive: ConversationArchive) -> str | None:
    """What does not fit together in an archive, in words that name the entry; None when it is sound."""
    seen: set[str] = set()
    for number, message in enumerate(archive.messages, 1):
        if message.id in seen:
            return f"message {number}: the id {message.id!r} is used twice"
        if message.parent_id is not None and message.parent_id not in seen:
            return f"message {number}: its parent {message.parent_id!r} does not stand before it"
        seen.add(message.id)
    if archive.conversation.head_id is not None and archive.conversation.head_id not in seen:
        return f"conversation: its head {archive.conversation.head_id!r} is not one of the messages"
    summaries: set[str] = set()
    for number, compaction in enumerate(archive.compactions, 1):
        if compaction.id in summaries:
            return f"compaction {number}: the id {compaction.id!r} is used twice"
        if compaction.last_id is not None and compaction.last_id not in seen:
            return f"compaction {number}: the last message it covers, {compaction.last_id!r}, is not one of the messages"
        summaries.add(compaction.id)
    return None
