"""Assembly of the prompt: one pure function from the log to what the model gets, the same for a call and for `context show`.

The order keeps the front byte for byte the same from turn to turn, so that a provider's prompt cache hits: instructions, memory, summary,
recent turns; then what belongs to this message alone (recalled turns); then the message itself with what its tools have found so far.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zkchat_cli.context.budget import MESSAGE_OVERHEAD, Budget, due, measure
from zkchat_cli.context.recall import quote
from zkchat_cli.context.strategies import Choice, Offer, Strategy
from zkchat_cli.context.turns import Turn, render, turns_of
from zkchat_cli.errors import PromptTooLarge
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models import Compaction, CompactionDue, ContextUsage, Dropped, Prompt, PromptMessage, PromptTool, ZkChatMessage
from zkchat_cli.tokens import TokenCounter
from zkchat_cli.words import shorten

FRAME = 40
"""Tokens set aside for the tags around recalled turns."""


@dataclass(frozen=True, slots=True)
class Material:
    """All a prompt is made of. `history` is the branch from its root to the last finished turn; `current` the turn in progress."""

    instructions: str
    history: tuple[ZkChatMessage, ...]
    current: tuple[ZkChatMessage, ...] = ()
    memory: tuple[MemoryItem, ...] = ()
    compaction: Compaction | None = None
    descriptors: tuple[dict[str, Any], ...] = ()


def assemble(material: Material, budget: Budget, strategy: Strategy, counter: TokenCounter) -> Prompt:
    """What the next model call sends, within the effective limit. Same material, same prompt, to the byte.

    Instructions, tools, memory, the summary and the turn in progress are always sent; the history gets what is left of the messages'
    budget. Raises PromptTooLarge, naming the largest items, when the first alone are over the limit.
    """
    tools = tuple(_describe(descriptor, counter) for descriptor in material.descriptors)
    failed, folded, recent = _sort(material, strategy, counter)
    head = [
        _fixed(material.instructions, "system", "system", counter),
        *(_memory(item, counter) for item in material.memory),
        *_summary(material.compaction, strategy, counter),
    ]
    current = list(render(material.current, counter))
    before = measure([*head, *current], tools, budget, estimated=counter.estimated)
    if before.total_tokens > budget.effective_limit:
        raise _too_large(before, [*head, *current], tools)
    room = min(budget.messages - before.message_tokens, budget.effective_limit - before.total_tokens)
    question = next((m.content for m in material.current if m.role == "user"), "")
    choice = strategy.choose(Offer(recent, folded, question, max(0, room - FRAME), counter))
    messages = [*head, *(m for turn in choice.kept for m in turn.prompt), *_recalled(choice, counter), *current]
    return Prompt(
        messages=tuple(messages),
        tools=tools,
        usage=measure(messages, tools, budget, estimated=counter.estimated, compaction=_due(before, recent, strategy, budget)),
        dropped=tuple(_dropped(failed, folded, recent, choice, strategy)),
        strategy=strategy.name,
    )


def _sort(material: Material, strategy: Strategy, counter: TokenCounter) -> tuple[list[Turn], tuple[Turn, ...], tuple[Turn, ...]]:
    """Turns that failed (never sent), turns the summary covers, turns after it."""
    turns = turns_of(material.history, counter)
    failed = [turn for turn in turns if turn.failed]
    border = 0
    if material.compaction and strategy.summarizes:
        covered = [i for i, turn in enumerate(turns) if any(m.id == material.compaction.last_id for m in turn.messages)]
        border = covered[-1] + 1 if covered else 0
    folded = tuple(turn for turn in turns[:border] if not turn.failed)
    return failed, folded, tuple(turn for turn in turns[border:] if not turn.failed)


def _due(always: ContextUsage, recent: Sequence[Turn], strategy: Strategy, budget: Budget) -> CompactionDue:
    """Judged by what the conversation would send if it could, not by what was made to fit."""
    if not strategy.summarizes:
        return CompactionDue(due=False)
    history = sum(turn.tokens for turn in recent)
    return due(always.message_tokens + history, always.total_tokens + history, budget)


def _describe(descriptor: dict[str, Any], counter: TokenCounter) -> PromptTool:
    tokens = counter.count(json.dumps(descriptor, ensure_ascii=False))
    return PromptTool(name=descriptor["function"]["name"], descriptor=descriptor, tokens=tokens)


def _fixed(text: str, kind: str, role: str, counter: TokenCounter, source_ids: tuple[str, ...] = ()) -> PromptMessage:
    tokens = counter.count(text) + MESSAGE_OVERHEAD
    return PromptMessage.model_validate({"role": role, "content": text, "tokens": tokens, "kind": kind, "source_ids": source_ids})


def fence(tag: str, text: str, about: str = "") -> str:
    """Text that is data, between tags it cannot close itself."""
    harmless = text.replace(f"</{tag}", f"<\\/{tag}")
    return f"<{tag}{about}>\n{harmless}\n</{tag}>"


def _memory(item: MemoryItem, counter: TokenCounter) -> PromptMessage:
    text = fence("project-memory", item.content, f" path={json.dumps(item.relative_path, ensure_ascii=False)}")
    return _fixed(text, "memory", "system", counter, (item.relative_path,))


def _summary(compaction: Compaction | None, strategy: Strategy, counter: TokenCounter) -> list[PromptMessage]:
    if compaction is None or not strategy.summarizes or not compaction.summary:
        return []
    return [_fixed(summary_text(compaction.summary), "summary", "user", counter, (compaction.id,))]


def summary_text(summary: str) -> str:
    """A summary as the model gets it."""
    return fence("conversation-summary", summary)


def _recalled(choice: Choice, counter: TokenCounter) -> list[PromptMessage]:
    if not choice.recalled:
        return []
    text = fence("recalled-conversation", "\n".join(quote(turn) for turn in choice.recalled))
    return [_fixed(text, "conversation", "user", counter, tuple(m.id for turn in choice.recalled for m in turn.messages))]


def _dropped(failed: Sequence[Turn], folded: Sequence[Turn], recent: Sequence[Turn], choice: Choice, strategy: Strategy) -> list[Dropped]:
    sent = {turn.id for turn in choice.kept}
    recalled = {turn.id for turn in choice.recalled}
    reasons = [(turn, "the model call failed") for turn in failed]
    reasons += [(turn, "in the summary" if strategy.summarizes else "no room") for turn in folded if turn.id not in sent]
    reasons += [(turn, "no room") for turn in recent if turn.id not in sent]
    return [
        Dropped(id=message.id, reason=f"{reason}; quoted because it bears on the message" if turn.id in recalled else reason)
        for turn, reason in reasons
        for message in turn.messages
    ]


def _too_large(usage: ContextUsage, messages: Sequence[PromptMessage], tools: Sequence[PromptTool]) -> PromptTooLarge:
    items = [(m.tokens, f"{m.kind.replace('_', ' ')} “{shorten(m.content, 40)}”") for m in messages]
    items.append((usage.tool_tokens, f"{len(tools)} tool descriptions"))
    largest = ", ".join(f"{name}: {tokens}" for tokens, name in sorted(items, reverse=True)[:3])
    return PromptTooLarge(
        f"what must be sent takes {usage.total_tokens} tokens; the limit is {usage.effective_limit} of a window of {usage.max_context}",
        f"Largest: {largest}. Shorten the message, or raise context.max_tokens if the model has a larger window.",
    )
