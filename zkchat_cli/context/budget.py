"""Token budgets: the shares of the context window (`context.…_budget_ratio`), and what a prompt
leaves of them.

Pure functions. At most 90 % of the window is sent (the limit); the rest is for the answer. Ratios
are shares of the whole window. Messages may also use what instructions and tools leave unused and
so lend them, up to the threshold: a share of the limit above which compaction is due. Their budget
depends on the window, the settings, the instructions and the tools only, never on the messages. The
room between threshold and limit is for the documents and tool results of the current message; while
they use it, messages exceed their budget.
"""

from typing import NamedTuple

from zkchat_cli.config.schema import ContextSettings
from zkchat_cli.models.prompts import ContextUsage

# Largest share of the window that is sent
LIMIT_SHARE = 0.9


class Budget(NamedTuple):
    """Shares of a window, in tokens. `window_source` says where its size comes from."""

    max_context: int
    system: int
    tools: int
    messages: int
    threshold: float
    window_source: str | None = None
    # Most tokens of a prompt, where the server limits it below the window
    largest_prompt: int | None = None

    @classmethod
    def from_settings(
        cls,
        settings: ContextSettings,
        max_context: int,
        source: str | None = None,
        largest_prompt: int | None = None,
    ) -> "Budget":
        """The budget of a window of `max_context` tokens."""
        return cls(
            max_context,
            system=int(max_context * settings.system_budget_ratio),
            tools=int(max_context * settings.tool_budget_ratio),
            messages=int(max_context * settings.message_budget_ratio),
            threshold=settings.summarization_threshold,
            window_source=source,
            largest_prompt=largest_prompt,
        )

    @property
    def effective_limit(self) -> int:
        """Most tokens of a prompt; the rest of the window is for the answer."""
        limit = int(self.max_context * LIMIT_SHARE)
        return limit if self.largest_prompt is None else min(limit, self.largest_prompt)

    def message_budget(self, system: int, tools: int) -> int:
        """Tokens that messages may take before compaction is due.

        That is their share and what instructions and tools lend, up to the threshold. `system` and
        `tools` are the tokens of these.
        """
        unused = max(0, self.system - system) + max(0, self.tools - tools)
        below_threshold = int(self.threshold * self.effective_limit) - system - tools
        return max(0, min(self.messages + unused, below_threshold))


def history_budget(usage: ContextUsage) -> int:
    """Tokens for earlier turns, or for documents, in a prompt with this usage.

    That is the messages' budget, as far as the limit allows. The current message reduces it only
    where the limit demands that: otherwise each tool result would change the front of the prompt.
    """
    return max(0, min(usage.message_budget, usage.effective_limit - usage.total_tokens))
