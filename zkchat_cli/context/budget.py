"""Token budgets: the shares of the context window (`context.…_budget_ratio`), and how much of each a prompt uses.

At most 90 % of the window is sent (the limit); the rest is for the answer. Ratios are shares of the whole window. What instructions and
tools leave unused flows on to the messages, up to the threshold, a share of the limit above which compaction is due. What is between
threshold and limit is for the documents and tool results of the current message.
"""

from collections.abc import Sequence
from typing import NamedTuple

from zkchat_cli.config.schema import ContextSettings
from zkchat_cli.models import (
    BudgetStatus,
    CompactionDue,
    ContextUsage,
    MessageBreakdown,
    PromptComponents,
    PromptMessage,
    PromptTool,
)

LIMIT_SHARE = 0.9
DROP_BATCHES = 3
"""Turns are dropped in so many batches of the messages' budget: more would break the prompt cache more often, fewer would forget more."""
MESSAGE_OVERHEAD = 4
"""Tokens of each message's role and delimiters (OpenAI's cookbook counts 3 to 4)."""


class Budget(NamedTuple):
    """Shares of a window, in tokens. `window_source` says where its size comes from."""

    max_context: int
    system: int
    tools: int
    messages: int
    threshold: float
    window_source: str | None = None

    @classmethod
    def from_settings(cls, settings: ContextSettings, max_context: int, source: str | None = None) -> "Budget":
        ratios = settings.system_budget_ratio, settings.tool_budget_ratio, settings.message_budget_ratio
        system, tools, messages = (int(max_context * ratio) for ratio in ratios)
        return cls(max_context, system, tools, messages, settings.summarization_threshold, source)

    @property
    def effective_limit(self) -> int:
        return int(self.max_context * LIMIT_SHARE)

    def message_budget(self, system: int, tools: int) -> int:
        """What messages may take beside instructions and tools of so many tokens before compaction is due: their share and what the others
        leave unused, up to the threshold."""
        unused = max(0, self.system - system) + max(0, self.tools - tools)
        return max(0, min(self.messages + unused, int(self.threshold * self.effective_limit) - system - tools))


def measure_usage(
    messages: Sequence[PromptMessage],
    tools: Sequence[PromptTool],
    budget: Budget,
    *,
    estimated: bool,
    calibration: float = 1.0,
    compaction: CompactionDue = CompactionDue(due=False),  # noqa: B008  frozen
) -> ContextUsage:
    """The tokens of a prompt. They add up exactly: total = system + tools + messages, messages = the sum of their breakdown."""
    breakdown = dict.fromkeys(MessageBreakdown.model_fields, 0)
    system = 0
    for message in messages:
        if message.kind == "system":
            system += message.tokens
        else:
            breakdown[message.kind] += message.tokens
    tool_tokens = sum(tool.tokens for tool in tools)
    message_tokens = sum(breakdown.values())
    total = system + tool_tokens + message_tokens
    room = budget.message_budget(system, tool_tokens)
    if message_tokens > room:  # the documents and tool results of the current message may take all that can be sent
        room = max(message_tokens, budget.effective_limit - system - tool_tokens)
    calls = sum(message.call_tokens for message in messages)
    thinking = sum(message.thinking_tokens for message in messages)
    overhead = MESSAGE_OVERHEAD * len(messages)
    content = total - tool_tokens - calls - thinking - overhead
    return ContextUsage(
        system_tokens=system,
        tool_tokens=tool_tokens,
        message_tokens=message_tokens,
        total_tokens=total,
        available_tokens=max(0, budget.max_context - total),
        max_context=budget.max_context,
        window_source=budget.window_source,
        effective_limit=budget.effective_limit,
        estimated=estimated,
        message_breakdown=MessageBreakdown(**breakdown),
        budget_status={
            "system": _status(system, budget.system),
            "tools": _status(tool_tokens, budget.tools),
            "messages": _status(message_tokens, room),
        },
        components=PromptComponents(tools=tool_tokens, tool_calls=calls, reasoning=thinking, overhead=overhead, content=content),
        calibration=calibration,
        compaction=compaction,
    )


def _status(used: int, budget: int) -> BudgetStatus:
    return BudgetStatus(used=used, budget=budget, percentage=round(100 * used / budget, 1) if budget else 0.0)


def remaining_message_budget(usage: ContextUsage, budget: Budget) -> int:
    """Tokens for more messages in a prompt with this usage before compaction is due."""
    return max(0, budget.message_budget(usage.system_tokens, usage.tool_tokens) - usage.message_tokens)


def history_budget(usage: ContextUsage, budget: Budget) -> int:
    """Tokens for earlier turns, or for documents, in a prompt with this usage: the messages' budget, as far as the limit allows. The
    current message does not reduce it below the limit: otherwise each tool result would change the front of the prompt."""
    return max(0, min(budget.message_budget(usage.system_tokens, usage.tool_tokens), usage.effective_limit - usage.total_tokens))


def turn_budget_after_compaction(usage: ContextUsage, budget: Budget, other: int) -> int:
    """Tokens for turns after a compaction, beside `other` ones of summary and fixed messages; `usage` is that of a prompt without history.
    Less than half of what is left: otherwise the next turn would need another compaction, which breaks the prompt cache again."""
    return max(0, remaining_message_budget(usage, budget) - other) * 9 // 20


def compaction_due(usage: ContextUsage, budget: Budget, history: int) -> CompactionDue:
    """Whether a conversation should be compacted, of which so many tokens come to a prompt with this usage."""
    at = usage.system_tokens + usage.tool_tokens + budget.message_budget(usage.system_tokens, usage.tool_tokens)
    tokens = usage.total_tokens + history
    reason = f"the conversation needs {tokens:,} tokens; at {at:,} of {usage.effective_limit:,} it is compacted"
    return CompactionDue(due=tokens > at, reason=reason if tokens > at else None, at=at, tokens=tokens)
