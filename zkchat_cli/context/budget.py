"""How much of a context window may be used for what (document 0's ratios), and how much of it is.

The effective limit is 90 % of the window: what is left is the answer's. Ratios are shares of the whole window; what instructions and tools
do not use is not lost, it only never lets the history grow past the messages' own budget.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from zkchat_cli.config import ContextSettings
from zkchat_cli.models import (
    BudgetStatus,
    BudgetStatuses,
    CompactionDue,
    ContextUsage,
    MessageBreakdown,
    PromptMessage,
    PromptTool,
)

LIMIT_SHARE = 0.9
MESSAGE_OVERHEAD = 4
"""Tokens a chat format spends on each message's role and borders (OpenAI's cookbook counts 3 to 4)."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Shares of a window, in tokens."""

    max_context: int
    system: int
    tools: int
    messages: int
    threshold: float
    source: str | None = None
    """Who says that the window is that large."""

    @classmethod
    def of(cls, settings: ContextSettings, max_context: int, source: str | None = None) -> "Budget":
        return cls(
            source=source,
            max_context=max_context,
            system=int(max_context * settings.system_budget_ratio),
            tools=int(max_context * settings.tool_budget_ratio),
            messages=int(max_context * settings.message_budget_ratio),
            threshold=settings.summarization_threshold,
        )

    @property
    def effective_limit(self) -> int:
        return int(self.max_context * LIMIT_SHARE)

    @property
    def trigger(self) -> int:
        """Tokens of a prompt from which on the conversation should be compacted."""
        return int(self.threshold * self.effective_limit)


def measure(
    messages: Sequence[PromptMessage],
    tools: Sequence[PromptTool],
    budget: Budget,
    *,
    estimated: bool,
    compaction: CompactionDue = CompactionDue(due=False),  # noqa: B008  frozen
) -> ContextUsage:
    """The figures of a prompt. They add up to the token: total = system + tools + messages, messages = the sum of the breakdown."""
    parts = dict.fromkeys(MessageBreakdown.model_fields, 0)
    system = 0
    for message in messages:
        if message.kind == "system":
            system += message.tokens
        else:
            parts[message.kind] += message.tokens
    described = sum(tool.tokens for tool in tools)
    said = sum(parts.values())
    total = system + described + said
    return ContextUsage(
        system_tokens=system,
        tool_tokens=described,
        message_tokens=said,
        total_tokens=total,
        available_tokens=max(0, budget.max_context - total),
        max_context=budget.max_context,
        window_source=budget.source,
        effective_limit=budget.effective_limit,
        estimated=estimated,
        message_breakdown=MessageBreakdown(**parts),
        budget_status=BudgetStatuses(
            system=_status(system, budget.system),
            tools=_status(described, budget.tools),
            messages=_status(said, budget.messages),
        ),
        compaction=compaction,
    )


def _status(used: int, budget: int) -> BudgetStatus:
    return BudgetStatus(used=used, budget=budget, percentage=round(100 * used / budget, 1) if budget else 0.0)


def due(messages: int, total: int, budget: Budget) -> CompactionDue:
    """Whether a conversation that would like to send so many tokens should be compacted first (documents 0 and 4)."""
    if messages > budget.messages:
        return CompactionDue(due=True, reason=f"messages take {messages} tokens of their budget of {budget.messages}")
    if total > budget.trigger:
        return CompactionDue(due=True, reason=f"{total} tokens are over {budget.threshold:.0%} of the limit of {budget.effective_limit}")
    return CompactionDue(due=False)


def room_for_turns(always: ContextUsage, summary: int, budget: Budget) -> int:
    """Tokens that turns beside a summary may take after a compaction; `always` is a prompt without either.

    Half of what there is: filled up, it would be due again with the next turn, and each one costs a provider's prompt cache.
    """
    return max(0, min(budget.messages - always.message_tokens, budget.trigger - always.total_tokens) - summary) // 2
