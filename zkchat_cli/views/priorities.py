"""Priorities of messages as they are shown and printed: the same in the shell and in the chat."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from zkchat_cli.context.message_priority import PLAIN, SUMMARY, message_priority
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import Prompt, PromptMessage


def priorities_by_id(history: Iterable[ZkChatMessage]) -> dict[str, int]:
    """The priority of each message by its id."""
    return {message.id: message_priority(message) for message in history}


def prompt_priority(message: PromptMessage, priorities: Mapping[str, int]) -> int | None:
    """The highest priority of the messages that a part of a prompt was made from; None if it was
    made from none.
    """
    if message.kind == "summary":
        return SUMMARY
    known = [priorities[id_] for id_ in message.source_ids if id_ in priorities]
    return max(known, default=None)


def prompt_document(prompt: Prompt, history: Sequence[ZkChatMessage]) -> dict[str, Any]:
    """A prompt for JSON, each message with its priority."""
    document = prompt.model_dump(mode="json")
    priorities = priorities_by_id(history)
    for message, fields in zip(prompt.messages, document["messages"], strict=True):
        fields["priority"] = prompt_priority(message, priorities)
    return document


def message_document(message: ZkChatMessage) -> dict[str, Any]:
    """A message for JSON with the priority that it has, whoever set it."""
    return {**message.model_dump(mode="json"), "priority": message_priority(message)}


def priorities_text(history: Iterable[ZkChatMessage]) -> str:
    """How many messages have which priority; empty if all are plain."""
    counts = Counter[int]()
    for message in history:
        if message.role != "tool" and message.content.strip():
            counts[message_priority(message)] += 1
    if not set(counts) - {PLAIN}:
        return ""
    numbers = [f"{counts[priority]} with {priority}" for priority in sorted(counts, reverse=True)]
    return f"Priorities of messages: {', '.join(numbers)}; those with the lowest leave first."
