"""Prompts: word for word, in a few lines, and the difference between the prompts of two turns.

`zkchat context` and the chat's commands show the same lines.
"""

import json
from collections.abc import Collection
from typing import NamedTuple

from zkchat_cli.context.prompt_history import PromptDiff, SentPrompts
from zkchat_cli.models.images import Image
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.models.prompts import Prompt, PromptMessage
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.prompt_status import sent_source_numbers

# Characters of a message in a list of changes
MAX_CONTENT = 100
# Messages that are listed as not sent; the others are only counted
MOST_DROPPED = 20
_DELIVERY = {
    "injected": "full text",
    "partly": "sections",
    "offered": "summary",
    "left_out": "not sent",
}


def delivery_lines(prompt: Prompt) -> list[str]:
    """What of each document is in the prompt, and why; nothing without documents."""
    sent = sent_source_numbers(prompt)
    images = {image.sha256 for message in prompt.messages for image in message.images}
    lines = []
    for each in prompt.documents:
        path = each.relative_path
        if path in prompt.deleted:
            path = f"{path} (deleted since)"
        if each.delivery:
            delivery, reason = _describe_delivery(each, sent, images)
            lines.append(f"  {delivery:<11} {each.wikilink}  {path}: {reason}")
    return ["Documents:", *lines] if lines else []


class _DescribedDelivery(NamedTuple):
    """What of a document is in a prompt, and why."""

    delivery: str
    reason: str | None


def _describe_delivery(
    document: DocumentReference, sent: Collection[int], images: Collection[str]
) -> _DescribedDelivery:
    """What of a document is in a prompt with these source numbers and pictures."""
    image = document.image
    if image is not None and document.delivery == "injected":
        if image.sha256 not in images:
            return _DescribedDelivery("not now", "it was in an earlier prompt")
        why = f"{document.delivery_reason}, sha256 {image.short_hash}"
        return _DescribedDelivery("picture", why)
    if document.delivery and set(sent).issuperset(document.numbers):
        return _DescribedDelivery(_DELIVERY[document.delivery], document.delivery_reason)
    return _DescribedDelivery("not now", "its text was in an earlier prompt")


def prompt_text(prompt: Prompt) -> str:
    """Every message under a line with its role, kind and tokens; then the tools, the decisions
    about documents, and what is not sent.
    """
    lines = []
    for message in prompt.messages:
        kind = message.kind.replace("_", " ")
        lines.append(f"── {message.role} · {kind} · {message.tokens:,} tokens")
        if message.content:
            lines.append(message.content)
        lines += map(_image_line, message.images)
        for call in message.tool_calls:
            arguments = json.dumps(call.arguments, ensure_ascii=False)
            lines.append(f"{call.name}({arguments})")
        lines.append("")
    for tool in prompt.tools:
        lines += [
            f"── tool {tool.name} · {tool.tokens:,} tokens",
            tool.descriptor["function"]["description"],
        ]
    if prompt.retrieval is not None:
        lines.append(f"Retrieval: {prompt.retrieval.mode} ({prompt.retrieval.reason}).")
    lines += delivery_lines(prompt)
    for dropped in prompt.dropped[:MOST_DROPPED]:
        lines.append(f"not sent: {dropped.id} ({dropped.reason})")
    if len(prompt.dropped) > MOST_DROPPED:
        lines.append(f"not sent: {len(prompt.dropped) - MOST_DROPPED} more; --json names them")
    return "\n".join(lines)


def _image_line(image: Image) -> str:
    return f"[picture {image.relative_path}: {image}, sha256 {image.short_hash}]"


def sent_prompts_text(turn: SentPrompts) -> str:
    """The prompts of all calls of a turn, each under a line with its call, model and tokens."""
    texts = []
    for sent in turn.calls:
        tokens = f"{sent.prompt.usage.total_tokens:,} tokens"
        if sent.usage is not None:
            tokens += (
                f" ({sent.usage.prompt_tokens:,} reported, {sent.usage.completion_tokens:,} "
                "answered)"
            )
        heading = (
            f"══ turn {turn.number} · call {sent.call} of {len(turn.calls)} · {sent.model} · "
            f"{tokens}"
        )
        texts.append(f"{heading}\n\n{prompt_text(sent.prompt)}")
    return "\n\n".join(texts)


def prompt_diff_text(a: SentPrompts, b: SentPrompts, found: PromptDiff) -> str:
    """The messages and tools that the prompt of turn `b` had and the one of `a` had not, then those
    that it no longer had.
    """
    lines = [
        f"turn {a.number}: {a.tokens:,} tokens; turn {b.number}: {b.tokens:,} "
        f"({b.tokens - a.tokens:+,d})"
    ]
    lines += [f"+ {_message_text(message)}" for message in found.added]
    for message, reason in found.removed:
        removed = f"- {_message_text(message)}"
        lines.append(f"{removed} ({reason})" if reason else removed)
    lines += [f"+ tool {name}" for name in found.tools_added]
    lines += [f"- tool {name}" for name in found.tools_removed]
    if len(lines) == 1:
        lines.append("The same was sent.")
    return "\n".join(lines)


def _message_text(message: PromptMessage) -> str:
    """A message on one line, with its figures."""
    content = truncate(message.content, MAX_CONTENT)
    if not content:
        content = f"calls {', '.join(call.name for call in message.tool_calls)}"
    kind = message.kind.replace("_", " ")
    return f"{message.role} · {kind} · {message.tokens:,} tokens · {content}"
