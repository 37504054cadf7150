"""Lists what a prompt leaves out of a conversation, with the reasons; and the documents that it
has.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.models.prompts import DroppedItem, PromptMessage

_QUOTED = "; quoted because it is relevant to the message"


class EarlierTurn(NamedTuple):
    """The ids of a turn's messages, and why the turn failed, if it did."""

    ids: Sequence[str]
    failure: str


def dropped_messages(
    turns: Sequence[EarlierTurn], messages: Sequence[PromptMessage], last_covered: str | None
) -> list[DroppedItem]:
    """The messages of earlier turns that a prompt leaves out.

    `last_covered` is the last message that the prompt's summary covers.
    """
    sent = _source_ids(message for message in messages if message.kind != "recalled")
    quoted = _source_ids(message for message in messages if message.kind == "recalled")
    in_summary = any(last_covered in turn.ids for turn in turns)
    dropped: list[DroppedItem] = []
    for turn in turns:
        reason = turn.failure or ("in the summary" if in_summary else "no room")
        for id_ in turn.ids:
            if id_ not in sent:
                why = f"{reason}{_QUOTED}" if id_ in quoted else reason
                dropped.append(DroppedItem(id=id_, reason=why))
        in_summary = in_summary and last_covered not in turn.ids
    return dropped


def _source_ids(messages: Iterable[PromptMessage]) -> set[str]:
    return set(chain.from_iterable(message.source_ids for message in messages))


def dropped_tools(reasons: dict[str, str]) -> list[DroppedItem]:
    """The tools that a prompt does not offer; `reasons` are by tool name."""
    dropped: list[DroppedItem] = []
    for name, reason in reasons.items():
        dropped.append(DroppedItem(id=f"tool:{name}", reason=reason, kind="tool"))
    return dropped


def dropped_memory(ids: Iterable[str]) -> list[DroppedItem]:
    """The memory that found no room in a prompt."""
    return [DroppedItem(id=id_, reason="no room", kind="memory") for id_ in ids]


def named_documents(messages: Iterable[ZkChatMessage]) -> tuple[DocumentReference, ...]:
    """The documents that the messages name, each once, in the way in which they were delivered
    last.
    """
    found: dict[tuple[str, str | None], DocumentReference] = {}
    for message in messages:
        if message.role == "user":
            for reference in message.references:
                name = reference.relative_path or reference.wikilink
                found[name, reference.heading] = reference
    return tuple(found.values())
