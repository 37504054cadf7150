"""Prompts word for word: the next one, the ones that a turn sent, and the difference between two turns."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from zkchat_cli.context.prompt_history import PromptDiff, SentPrompts
from zkchat_cli.context.tool_result_masking import is_masked
from zkchat_cli.models import Prompt, PromptMessage, SentPrompt
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views import context_usage

MAX_CONTENT = 100
"""Characters of a message in a list of changes."""
MOST_DROPPED = 20
"""Messages that are listed as not sent; of more, how many."""


def prompt_text(prompt: Prompt) -> str:
    """Every message under a line with its role, kind and tokens; then the tools, what was decided about documents, and what is not sent."""
    return "\n".join(_prompt_lines(prompt))


def sent_prompts_text(turn: SentPrompts, call: int | None = None) -> str:
    """What the calls of a turn were sent, or one of them. Raises UsageError when there is no such call."""
    shown = turn.calls if call is None else (turn.call(call),)
    return "\n\n".join(_call_text(turn, sent) for sent in shown)


def sent_prompts_document(turn: SentPrompts) -> dict[str, Any]:
    """What all calls of a turn were sent, as JSON."""
    documents = [sent.model_dump(mode="json", exclude={"question_id", "summarized_through"}) for sent in turn.calls]
    return {"turn": turn.number, "question_id": turn.calls[0].question_id, "calls": documents}


def prompt_status(prompt: Prompt) -> Callable[[str], str]:
    """A function from a message id to whether the message is in this prompt, and if not, why."""
    sent = {source for message in prompt.messages for source in message.source_ids if message.kind != "recalled"}
    shortened = {source for message in prompt.messages for source in message.source_ids if is_masked(message)}
    dropped = {each.id: each.reason for each in prompt.dropped}

    def describe(message_id: str) -> str:
        if message_id in dropped:
            return f"not in the prompt now: {dropped[message_id]}"
        if message_id in shortened:
            return "in the prompt now, but shortened"
        return "in the prompt now" if message_id in sent else "not in the prompt now"

    return describe


def _call_text(turn: SentPrompts, sent: SentPrompt) -> str:
    tokens = f"{sent.prompt.usage.total_tokens:,} tokens"
    if sent.usage is not None:
        tokens += f" ({sent.usage.prompt_tokens:,} reported, {sent.usage.completion_tokens:,} answered)"
    heading = f"══ turn {turn.number} · call {sent.call} of {len(turn.calls)} · {sent.model} · {tokens}"
    return "\n".join((heading, "", *_prompt_lines(sent.prompt)))


def prompt_diff_text(a: SentPrompts, b: SentPrompts, found: PromptDiff) -> str:
    """What the prompt of turn `b` had that the one of `a` had not, and what it had lost."""
    lines = [f"turn {a.number}: {a.tokens:,} tokens; turn {b.number}: {b.tokens:,} ({b.tokens - a.tokens:+,d})"]
    lines += [f"+ {_message_summary(message)}" for message in found.added]
    lines += [f"- {_message_summary(message)}" + (f" ({why})" if why else "") for message, why in found.removed]
    lines += [f"+ tool {name}" for name in found.tools_added]
    lines += [f"- tool {name}" for name in found.tools_removed]
    return "\n".join(lines if len(lines) > 1 else [*lines, "The same was sent."])


def prompt_diff_document(a: SentPrompts, b: SentPrompts, found: PromptDiff) -> dict[str, Any]:
    """The same as JSON."""
    return {
        **{name: {"turn": turn.number, "tokens": turn.tokens} for name, turn in (("a", a), ("b", b))},
        "added": [message.model_dump(mode="json") for message in found.added],
        "lost": [{**message.model_dump(mode="json"), "reason": reason or None} for message, reason in found.removed],
        "tools_added": found.tools_added,
        "tools_lost": found.tools_removed,
    }


def _message_summary(message: PromptMessage) -> str:
    called = ", ".join(call.name for call in message.tool_calls)
    content = truncate(message.content, MAX_CONTENT) or f"calls {called}"
    return f"{message.role} · {message.kind.replace('_', ' ')} · {message.tokens:,} tokens · {content}"


def _prompt_lines(prompt: Prompt) -> Iterator[str]:
    for message in prompt.messages:
        yield f"── {message.role} · {message.kind.replace('_', ' ')} · {message.tokens:,} tokens"
        if message.content:
            yield message.content
        for call in message.tool_calls:
            yield f"{call.name}({json.dumps(call.arguments, ensure_ascii=False)})"
        yield ""
    for tool in prompt.tools:
        yield f"── tool {tool.name} · {tool.tokens:,} tokens"
        yield tool.descriptor["function"]["description"]
    yield from context_usage.retrieval_lines(prompt)
    yield from context_usage.document_lines(prompt)
    for dropped in prompt.dropped[:MOST_DROPPED]:
        yield f"not sent: {dropped.id} ({dropped.reason})"
    if len(prompt.dropped) > MOST_DROPPED:
        yield f"not sent: {len(prompt.dropped) - MOST_DROPPED} more; --json names them"
