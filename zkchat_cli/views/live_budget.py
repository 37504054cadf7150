"""How full the context window is while a turn runs: what the next prompt will have, as far as it is
known. The status line of the terminal and the window show it.
"""

from zkchat_cli import events
from zkchat_cli.models.prompts import ContextUsage
from zkchat_cli.views.text import CELLS, BudgetBar

# A rough figure for prose: single deltas cannot be counted exactly. After the turn it is exact.
BYTES_PER_TOKEN = 4


class LiveBudget:
    """The budget of a running turn.

    `usage` is the last measured one: that of the prompt between two turns, then that of each call.
    None as long as nothing has been measured.
    """

    def __init__(self, usage: ContextUsage | None = None) -> None:
        self.usage = usage
        self._used = usage.total_tokens if usage is not None else 0
        self._limit = usage.effective_limit if usage is not None else 0
        # Tokens of the answer and of results since then
        self._more = 0.0

    @property
    def more(self) -> int:
        """Tokens of the answer and of tool results that `usage` does not have yet."""
        return round(self._more)

    def update(self, event: events.Event) -> None:
        """Use an event."""
        match event:
            case events.PromptBuilt(usage, _):
                self.usage = usage
                self._use(usage.total_tokens, usage.effective_limit)
            case events.CompactionStarted(_, tokens, limit):
                self._use(tokens, limit)
            case events.CompactionDone(compaction) if compaction.mode != "none":
                self._use(compaction.tokens_after, self._limit)
            case events.TextDelta(text):
                self._more += len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN
            case events.ToolCallFinished(_, run, _):
                self._more += run.tokens

    def _use(self, used: int, limit: int) -> None:
        self._used = used
        self._limit = limit
        self._more = 0.0

    def bar(self, cells: int = CELLS) -> BudgetBar | None:
        """The bar as it is now; None as long as nothing has been measured."""
        if not self._limit:
            return None
        estimated = self._more > 0 or (self.usage is not None and self.usage.estimated)
        return BudgetBar(self._used + self.more, self._limit, cells, estimated=estimated)
