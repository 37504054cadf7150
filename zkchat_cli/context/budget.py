"""Token budgets: the shares of the context window (`context.…_budget_ratio`), and what a prompt
leaves of them. Pure.

At most 90 % of the window is sent (the limit); the rest is for the answer. Ratios are shares of the
whole window. What instructions and tools leave unused flows on to the messages, up to the
threshold, a share of the limit above which compaction is due. What is between threshold and limit
is for the documents and tool results of the current message.
"""

from typing import NamedTuple

from zkchat_cli.config.schema import ContextSettings
from zkchat_cli.models.prompts import ContextUsage

# Share of the window that is sent at most
LIMIT_SHARE = 0.9
# What turns may take after a compaction, as a share of what is left: see
# `turn_budget_after_compaction`
NEW_HISTORY_NUMERATOR = 9
NEW_HISTORY_DENOMINATOR = 20


class Budget(NamedTuple):
    """Shares of a window, in tokens. `window_source` says where its size comes from."""

    max_context: int
    system: int
    tools: int
    messages: int
    threshold: float
    window_source: str | None = None

    @classmethod
    def from_settings(
        cls, settings: ContextSettings, max_context: int, source: str | None = None
    ) -> "Budget":
        """The budget of a window of `max_context` tokens."""
        return cls(
            max_context,
            system=int(max_context * settings.system_budget_ratio),
            tools=int(max_context * settings.tool_budget_ratio),
            messages=int(max_context * settings.message_budget_ratio),
            threshold=settings.summarization_threshold,
            window_source=source,
        )

    @property
    def effective_limit(self) -> int:
        """Tokens that a prompt may have; the rest of the window is for the answer."""
        return int(self.max_context * LIMIT_SHARE)

    def message_budget(self, system: int, tools: int) -> int:
        """What messages may take beside instructions and tools of so many tokens before compaction
        is due: their share and what the others leave unused, up to the threshold.
        """
        unused = max(0, self.system - system) + max(0, self.tools - tools)
        below_threshold = int(self.threshold * self.effective_limit) - system - tools
        return max(0, min(self.messages + unused, below_threshold))


def remaining_message_budget(usage: ContextUsage, budget: Budget) -> int:
    """Tokens for more messages in a prompt with this usage before compaction is due."""
    share = budget.message_budget(usage.system_tokens, usage.tool_tokens)
    return max(0, share - usage.message_tokens)


def history_budget(usage: ContextUsage, budget: Budget) -> int:
    """Tokens for earlier turns, or for documents, in a prompt with this usage: the messages'
    budget, as far as the limit allows. The current message does not reduce it below the limit:
    otherwise each tool result would change the front of the prompt.
    """
    share = budget.message_budget(usage.system_tokens, usage.tool_tokens)
    return max(0, min(share, usage.effective_limit - usage.total_tokens))


def turn_budget_after_compaction(usage: ContextUsage, budget: Budget, other: int) -> int:
    """Tokens for turns after a compaction, beside `other` ones of summary and fixed messages;
    `usage` is that of a prompt without history. Less than half of what is left: otherwise the next
    turn would need another compaction, which breaks the prompt cache again.
    """
    left = max(0, remaining_message_budget(usage, budget) - other)
    return left * NEW_HISTORY_NUMERATOR // NEW_HISTORY_DENOMINATOR
