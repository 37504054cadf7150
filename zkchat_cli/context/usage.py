"""Counts the tokens of a prompt by component, and decides whether a compaction is due. Pure
functions.
"""

from collections.abc import Sequence
from typing import get_args

from zkchat_cli.context.budget import Budget
from zkchat_cli.models.prompts import (
    BudgetStatus,
    CompactionDue,
    ContextUsage,
    Prompt,
    PromptKind,
    PromptMessage,
    PromptTool,
)
from zkchat_cli.tokens.counter import MESSAGE_OVERHEAD, TokenCounter

NOT_DUE = CompactionDue(due=False)


def measure_usage(
    messages: Sequence[PromptMessage],
    tools: Sequence[PromptTool],
    budget: Budget,
    counter: TokenCounter,
    compaction: CompactionDue = NOT_DUE,
) -> ContextUsage:
    """The tokens of a prompt.

    They add up exactly: total = system + tools + messages, and messages = the sum of their
    breakdown.
    """
    breakdown: dict[PromptKind, int] = dict.fromkeys(get_args(PromptKind), 0)
    instructions = 0
    for message in messages:
        breakdown[message.kind] += message.tokens
        # A reminder how to cite, which some prompts have, must not change the budget
        if message.kind == "system" and message.role == "system":
            instructions += message.tokens
    system = breakdown.pop("system")
    tool_tokens = sum(tool.tokens for tool in tools)
    message_tokens = sum(breakdown.values())
    total = system + tool_tokens + message_tokens
    message_budget = budget.message_budget(instructions, tool_tokens)
    lent = max(0, message_budget - budget.messages)
    return ContextUsage(
        system_tokens=system,
        tool_tokens=tool_tokens,
        message_tokens=message_tokens,
        total_tokens=total,
        available_tokens=max(0, budget.max_context - total),
        max_context=budget.max_context,
        window_source=budget.window_source,
        effective_limit=budget.effective_limit,
        estimated=counter.estimated,
        message_breakdown=breakdown,
        budget_status={
            "system": _status(system, budget.system),
            "tools": _status(tool_tokens, budget.tools),
            "messages": _status(message_tokens, message_budget, lent),
        },
        components=_components(messages, total, tool_tokens),
        calibration=counter.factor,
        tool_calibration=counter.tool_factor,
        by_characters=counter.problem is not None,
        compaction=compaction,
    )


def measure_lasting(prompt: Prompt, budget: Budget, counter: TokenCounter) -> ContextUsage:
    """The tokens of what a prompt shares with that of the next turn.

    Recalled passages, memory for the question, the reminder how to cite and reasoning are for this
    turn alone.
    """
    lasting: list[PromptMessage] = []
    for message in prompt.messages:
        if message.kind == "recalled":
            continue
        if message.kind in ("memory", "system") and message.role != "system":
            continue
        if message.thinking_tokens:
            tokens = message.tokens - message.thinking_tokens
            message = message.model_copy(update={"tokens": tokens, "thinking_tokens": 0})
        lasting.append(message)
    return measure_usage(lasting, prompt.tools, budget, counter, prompt.usage.compaction)


def _status(used: int, budget: int, lent: int = 0) -> BudgetStatus:
    percentage = round(100 * used / budget, 1) if budget else 0.0
    return BudgetStatus(used=used, budget=budget, percentage=percentage, lent=lent)


def _components(messages: Sequence[PromptMessage], total: int, tool_tokens: int) -> dict[str, int]:
    """All tokens by purpose; see `ContextUsage.components`."""
    calls = sum(message.call_tokens for message in messages)
    thinking = sum(message.thinking_tokens for message in messages)
    images = sum(message.image_tokens for message in messages)
    overhead = MESSAGE_OVERHEAD * len(messages)
    return {
        "content": total - tool_tokens - calls - thinking - images - overhead,
        "tools": tool_tokens,
        "tool_calls": calls,
        "reasoning": thinking,
        "images": images,
        "overhead": overhead,
    }


def count_new_material(usage: ContextUsage) -> int:
    """Tokens of documents and tool results in a prompt without history: those of the current
    message.
    """
    breakdown = usage.message_breakdown
    return breakdown["documents"] + breakdown["tool_results"]


def compaction_due(
    usage: ContextUsage, history: int, *, compacts_first: bool = False
) -> CompactionDue:
    """Whether a conversation should be compacted, if its turns add `history` tokens to a prompt
    with this usage: if its messages would exceed their budget.

    The documents and tool results of the current message may take the room between the threshold
    and the limit. `compacts_first` says whether a compaction that is due runs before the prompt is
    sent.
    """
    at = usage.system_tokens + usage.tool_tokens + usage.message_budget
    at = max(at, min(at + count_new_material(usage), usage.effective_limit))
    tokens = usage.total_tokens + history
    if tokens <= at:
        return CompactionDue(due=False, at=at, tokens=tokens)
    limit = usage.effective_limit
    reason = f"the conversation needs {tokens:,} tokens; at {at:,} of {limit:,} it is compacted"
    return CompactionDue(due=True, reason=reason, at=at, tokens=tokens, runs_first=compacts_first)
