"""Figures of tokens: the budget bar of the toolbar, `/context` and `context stats`, and what model calls cost."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.views.text import StyledSpan

if TYPE_CHECKING:  # the first prompt is drawn without the models
    from zkchat_cli.models import TokenUsage

CELLS = 20
YELLOW_FROM, RED_FROM = 0.7, 0.9


def short_count(tokens: int) -> str:
    """`812`, `12.1k`, `128k`: short enough for a toolbar."""
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.1f}k" if tokens < 100_000 else f"{tokens / 1000:.0f}k"


class BudgetBar(NamedTuple):
    """`used` of `limit` tokens. Any use at all fills one cell; over the limit the bar is full."""

    used: int
    limit: int
    cells: int = CELLS
    estimated: bool = False

    @property
    def share(self) -> float:
        return self.used / self.limit if self.limit else float(self.used > 0)

    @property
    def color(self) -> str:
        return "green" if self.share < YELLOW_FROM else "yellow" if self.share < RED_FROM else "red"

    @property
    def bar(self) -> str:
        filled = min(self.cells, max(1 if self.used > 0 else 0, round(self.share * self.cells)))
        return "█" * filled + "░" * (self.cells - filled)

    @property
    def percent(self) -> str:
        return f"{min(self.share, 9.99):.0%}"

    @property
    def spans(self) -> tuple[StyledSpan, StyledSpan]:
        """Cells and percentage."""
        return StyledSpan(self.bar, self.color, spoken=""), StyledSpan(f" {self.percent:>4}", spoken=self.percent)

    @property
    def figures(self) -> str:
        return f"{'~' if self.estimated else ''}{short_count(self.used)} / {short_count(self.limit)}"


def usage_text(usage: "TokenUsage", number: Callable[[int], str] = "{:,}".format) -> str:
    """`~1,904 tokens in (812 cached), 88 out`"""
    mark = "~" if usage.estimated else ""
    cached = f" ({number(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    return f"{mark}{number(usage.prompt_tokens)} tokens in{cached}, {mark}{number(usage.completion_tokens)} out"
