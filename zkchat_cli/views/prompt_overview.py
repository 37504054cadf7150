"""A short overview of a prompt: messages, summaries, memory and imports with their tokens (`ask --show-context`)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from zkchat_cli.models import DocumentReference, Prompt, PromptMessage
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.budget_bar import short_count

MAX_NAMES = 8
_NONE: Mapping[str, int] = {}
_NAMES = {
    "conversation": ("message of the conversation", "messages of the conversation"),
    "tool_results": ("tool result", "tool results"),
    "documents": ("message about documents", "messages about documents"),
}


def overview_lines(prompt: Prompt, named: Sequence[DocumentReference] = (), tokens: Mapping[str, int] = _NONE) -> Iterator[str]:
    """A line with the totals, then one per kind of content. `named` are the documents that the message names, `tokens` their sizes in the
    prompt, by path."""
    usage = prompt.usage
    mark = "~" if usage.estimated else ""
    said = [m for m in prompt.messages if m.kind != "system"]
    yield (
        f"Context: {_count(len(said), 'message', 'messages')} ({mark}{short_count(usage.message_tokens)} tokens); "
        f"total {mark}{usage.total_tokens} of {usage.effective_limit} tokens, strategy {prompt.strategy}"
    )
    yield f"  - instructions ({mark}{short_count(usage.system_tokens)} tokens)"
    if prompt.tools:
        yield f"  - {_count(len(prompt.tools), 'tool', 'tools')} ({mark}{short_count(usage.tool_tokens)} tokens)"
    for memory in (m for m in said if m.kind == "memory"):
        yield f"  - {_memory(memory)} ({mark}{short_count(memory.tokens)} tokens)"
    summaries = [m for m in said if m.kind == "summary"]
    if summaries:
        yield f"  - {_count(len(summaries), 'summary', 'summaries')} ({mark}{_tokens(summaries)} tokens)"
    for kind, (one, more) in _NAMES.items():
        if of_kind := [m for m in said if m.kind == kind]:
            yield f"  - {_count(len(of_kind), one, more)} ({mark}{_tokens(of_kind)} tokens)"
    for one, more, types in (("imported file", "imported files", {"import"}), ("named note", "named notes", {"direct"})):
        if names := [_shown(d, tokens, mark) for d in named if d.relative_path and d.reference_type in types]:
            yield f"  - {_count(len(names), one, more)} ({', '.join(names[:MAX_NAMES])}{', …' if len(names) > MAX_NAMES else ''})"


def _shown(document: DocumentReference, tokens: Mapping[str, int], mark: str) -> str:
    counted = tokens.get(document.relative_path or "", 0)
    return truncate(document.wikilink, 60) + (f" {mark}{short_count(counted)} tokens" if counted else "")


def _memory(message: PromptMessage) -> str:
    name = ", ".join(truncate(id_, 60) for id_ in message.source_ids[:MAX_NAMES])
    if message.content.startswith("<agent-memory"):
        return f"{name.removeprefix('agent:')} agent memory"
    if message.content.startswith("<smart-memory"):
        return f"smart memory: {name}"
    return f"{name} project memory"


def _tokens(messages: Iterable[PromptMessage]) -> str:
    return short_count(sum(m.tokens for m in messages))


def _count(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"
