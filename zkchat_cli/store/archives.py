"""A conversation as one value: is it sound, is it stored already, and the same with other ids."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from zkchat_cli.models import ConversationArchive
from zkchat_cli.store.packing import storable


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


@dataclass(frozen=True, slots=True)
class Flaw:
    """What does not fit together in an archive: `str` says it in words that name the entry, `way` leads there."""

    words: str
    way: tuple[str | int, ...]

    def __str__(self) -> str:
        return self.words


def flaw(archive: ConversationArchive) -> Flaw | None:
    """The first thing that does not fit together; None when it is sound."""
    seen: set[str] = set()
    for number, message in enumerate(archive.messages):
        at = ("messages", number)
        if message.id in seen:
            return Flaw(f"message {number + 1}: the id {message.id!r} is used twice", (*at, "id"))
        if message.parent_id is not None and message.parent_id not in seen:
            return Flaw(f"message {number + 1}: its parent {message.parent_id!r} does not stand before it", (*at, "parent_id"))
        seen.add(message.id)
    if archive.conversation.head_id is not None and archive.conversation.head_id not in seen:
        return Flaw(f"conversation: its head {archive.conversation.head_id!r} is not one of the messages", ("conversation", "head_id"))
    summaries: set[str] = set()
    for number, compaction in enumerate(archive.compactions):
        at = ("compactions", number)
        if compaction.id in summaries:
            return Flaw(f"compaction {number + 1}: the id {compaction.id!r} is used twice", (*at, "id"))
        if compaction.last_id is not None and compaction.last_id not in seen:
            words = f"compaction {number + 1}: the last message it covers, {compaction.last_id!r}, is not one of the messages"
            return Flaw(words, (*at, "last_id"))
        summaries.add(compaction.id)
    return None


def is_known(connection: sqlite3.Connection, archive: ConversationArchive) -> bool:
    """Whether the store has one of its ids already."""
    wanted = {
        "conversation": [archive.conversation.id],
        "message": [message.id for message in archive.messages],
        "compaction": [compaction.id for compaction in archive.compactions],
    }
    return any(
        connection.execute(f"SELECT 1 FROM {table} WHERE id = ?", (storable(one),)).fetchone()
        for table, ids in wanted.items()
        for one in ids
    )
