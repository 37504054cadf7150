"""How much of a context window may be used for what (document 0's ratios), and how much of it is.

The effective limit is 90 % of the window: what is left is the answer's. Ratios are shares of the whole window; what instructions and tools
do not use of theirs flows on to the messages, as far as the limit lets it be sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from zkchat_cli.config.schema import ContextSettings
from zkchat_cli.models import (
    BudgetStatus,
    BudgetStatuses,
    CompactionDue,
    ContextUsage,
    MessageBreakdown,
    PromptComponents,
    PromptMessage,
    PromptTool,
)

LIMIT_SHARE = 0.9
BATCHES = 3
"""The parts of the messages' budget that turns are left out in: more would break a cache more often, fewer would forget more."""
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
    window_source: str | None = None
    """Who says that the window is that large."""

    @classmethod
    def from_settings(cls, settings: ContextSettings, max_context: int, source: str | None = None) -> "Budget":
        return cls(
            window_source=source,
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
    def compaction_threshold(self) -> int:
        """Tokens of a prompt from which on the conversation should be compacted."""
        return int(self.threshold * self.effective_limit)

    @property
    def drop_batch(self) -> int:
        """Tokens of turns that are left out at once, where a strategy leaves them out: each time costs a provider's prompt cache."""
        return max(1, self.messages // BATCHES)

    def message_budget(self, system: int, tools: int) -> int:
        """The messages' budget with what instructions and tools of so many tokens leave of theirs; never more than then can be sent."""
        unused = max(0, self.system - system) + max(0, self.tools - tools)
        return max(0, min(self.messages + unused, self.effective_limit - system - tools))


def measure_usage(
    messages: Sequence[PromptMessage],
    tools: Sequence[PromptTool],
    budget: Budget,
    *,
    estimated: bool,
    calibration: float = 1.0,
    compaction: CompactionDue = CompactionDue(due=False),  # noqa: B008  frozen
) -> ContextUsage:
    """The figures of a prompt. They add up to the token: total = system + tools + messages = the sum of the components, messages = the sum
    of the breakdown. The budget of messages has what instructions and tools leave of theirs in it."""
    parts = dict.fromkeys(MessageBreakdown.model_fields, 0)
    system = calls = thinking = 0
    for message in messages:
        calls += message.call_tokens
        thinking += message.thinking_tokens
        if message.kind == "system":
            system += message.tokens
        else:
            parts[message.kind] += message.tokens
    described = sum(tool.tokens for tool in tools)
    said = sum(parts.values())
    total = system + described + said
    overhead = MESSAGE_OVERHEAD * len(messages)
    components = PromptComponents(
        tools=described,
        tool_calls=calls,
        reasoning=thinking,
        overhead=overhead,
        content=total - described - calls - thinking - overhead,
    )
    return ContextUsage(
        system_tokens=system,
        tool_tokens=described,
        message_tokens=said,
        total_tokens=total,
        available_tokens=max(0, budget.max_context - total),
        max_context=budget.max_context,
        window_source=budget.window_source,
        effective_limit=budget.effective_limit,
        estimated=estimated,
        message_breakdown=MessageBreakdown(**parts),
        budget_status=BudgetStatuses(
            system=_status(system, budget.system),
            tools=_status(described, budget.tools),
            messages=_status(said, budget.message_budget(system, described)),
        ),
        components=components,
        calibration=calibration,
        compaction=compaction,
    )


def _status(used: int, budget: int) -> BudgetStatus:
    return BudgetStatus(used=used, budget=budget, percentage=round(100 * used / budget, 1) if budget else 0.0)


def remaining_message_budget(usage: ContextUsage) -> int:
    """Tokens that messages may take besides those of a prompt with these figures: within their budget and the limit."""
    return max(0, usage.budget_status.messages.budget - usage.message_tokens)


def history_budget(usage: ContextUsage, budget: Budget) -> int:
    """Tokens that earlier turns may take besides a prompt with these figures: the share that the settings give to messages.

    What instructions and tools leave of theirs is for the message in progress, its documents and what its tools find: a history that grew
    into it would have to shrink again with the first search.
    """
    flowed = max(0, usage.budget_status.messages.budget - budget.messages)
    return max(0, min(budget.messages - max(0, usage.message_tokens - flowed), remaining_message_budget(usage)))


def budget_warnings(usage: ContextUsage, *, filtered: bool) -> dict[str, tuple[str, str]]:
    """What alone takes more than its share of the window ("instructions", "tools"), each with what to say of it and what can be done.

    `filtered`: tools that can be left out are, so what is too much are those that are always offered.
    """
    fewer = "of an agent that has but some" if filtered else 'context.tool_filter = "auto"'
    found = {}
    for name, status, hint in (
        (
            "instructions",
            usage.budget_status.system,
            "Use a larger window, or raise context.system_budget_ratio.",
        ),
        ("tools", usage.budget_status.tools, f"Offer fewer tools ({fewer}), or raise context.tool_budget_ratio."),
    ):
        if status.used > status.budget:
            share = f"{status.used} tokens of their budget of {status.budget}"
            found[name] = (f"{name} alone take {share}; messages have {usage.budget_status.messages.budget} left", hint)
    return found


def compaction_due(messages: int, total: int, budget: Budget, allowed: int | None = None) -> CompactionDue:
    """Whether a conversation that would like to send so many tokens should be compacted first (documents 0 and 4).

    `allowed` is the messages' budget with what flowed on to it; without it, the one that the settings say.
    """
    allowed = budget.messages if allowed is None else allowed
    reason = None
    if messages > allowed:
        reason = f"messages take {messages} tokens of their budget of {allowed}"
    elif total > budget.compaction_threshold:
        reason = f"{total} tokens are over {budget.threshold:.0%} of the limit of {budget.effective_limit}"
    return CompactionDue(due=reason is not None, reason=reason, at=min(budget.compaction_threshold, allowed + total - messages))


def turn_budget_after_compaction(always: ContextUsage, beside: int, budget: Budget) -> int:
    """Tokens that turns may take after a compaction, `beside` the summary and what is kept word for word of others; `always` is a prompt
    without any of that.

    Less than half of what there is: filled up, it would be due again with the next turn, and each one costs a provider's prompt cache, and
    a summariser its instructions and the earlier summary once more.
    """
    return max(0, min(history_budget(always, budget), budget.compaction_threshold - always.total_tokens) - beside) * 9 // 20
