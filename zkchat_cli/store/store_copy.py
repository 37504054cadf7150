"""Copying a whole store into another one, and comparing the two message by message."""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from pydantic_core import to_json

from zkchat_cli.errors import StoreError
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.store.port import SessionStore


class CopiedConversation(NamedTuple):
    """What was done with one conversation: how many messages were new, and what is different
    afterwards.
    """

    conversation: ConversationOverview
    messages: int
    added: int
    differences: tuple[str, ...]


def copy_conversations(source: SessionStore, target: SessionStore) -> Iterator[CopiedConversation]:
    """Copy every conversation, the oldest first, each in one transaction and compared afterwards.
    A copy that was stopped goes on where it was, because only what is new is stored.
    """
    for conversation in reversed(source.conversations()):
        archive = source.archive(conversation.id, prompts=True)
        [added] = target.restore([archive])
        _bring_up_to_date(archive, target)
        preview = source.preview(conversation.id)
        if preview is not None and target.preview(conversation.id) != preview:
            target.compact(conversation.id, preview)
        yield CopiedConversation(
            conversation, len(archive.messages), added, _differences(archive, target)
        )


def _bring_up_to_date(archive: ConversationArchive, target: SessionStore) -> None:
    """What has changed since the last copy without a new message: pins, the title, the head, and
    summaries that were taken back.
    """
    wanted = archive.conversation
    stored = target.archive(wanted.id, prompts=True)
    known = {message.id: message for message in stored.messages}
    changed = [message for message in archive.messages if known.get(message.id) != message]
    if changed:
        target.mark(wanted.id, changed)
    if wanted.title is not None and stored.conversation.title != wanted.title:
        target.update(wanted.id, title=wanted.title)
    if wanted.documents != stored.conversation.documents:
        target.update(wanted.id, documents=wanted.documents)
    # A conversation that was continued in the target keeps its head there
    if len(known) == len(archive.messages) and stored.conversation.head_id != wanted.head_id:
        target.move_head(wanted.id, wanted.head_id)
    in_force = {each.id for each in stored.compactions if not each.undone}
    for compaction in archive.compactions:
        if compaction.undone and compaction.id in in_force:
            target.undo_compaction(wanted.id, compaction.id)


def copy_facts(source: SessionStore, target: SessionStore) -> int:
    """Copy the current facts. Returns how many were new."""
    copied = 0
    for vault in source.facts.vaults():
        known = {(fact.key, fact.content) for fact in target.facts.current(vault)}
        for fact in reversed(source.facts.current(vault)):
            if (fact.key, fact.content) not in known:
                target.facts.remember(vault, fact.model_copy(update={"title": None}))
                copied += 1
    return copied


def compare(source: SessionStore, target: SessionStore) -> Iterator[CopiedConversation]:
    """What of the source is missing or different in the target; nothing is stored."""
    for conversation in reversed(source.conversations()):
        archive = source.archive(conversation.id, prompts=True)
        yield CopiedConversation(
            conversation, len(archive.messages), 0, _differences(archive, target)
        )


def _differences(archive: ConversationArchive, target: SessionStore) -> tuple[str, ...]:
    """The ids of messages and summaries that the target has not, or has differently."""
    id_ = archive.conversation.id
    copied: dict[str, str] = {}
    with suppress(StoreError):
        copied = _checksums(target.archive(id_, prompts=True))
    return tuple(id_ for id_, wanted in _checksums(archive).items() if copied.get(id_) != wanted)


def _checksums(archive: ConversationArchive) -> dict[str, str]:
    """The checksums of messages and summaries by their ids."""
    values: list[ZkChatMessage | Compaction] = [*archive.messages, *archive.compactions]
    return {value.id: hashlib.sha256(to_json(value)).hexdigest() for value in values}
