"""The budget in the window's status bar."""

from PySide6 import QtWidgets
from PySide6.QtCore import Qt

from zkchat_cli.models.prompts import ContextUsage
from zkchat_cli.views.text import CELLS, BudgetBar, compaction_words

_COLORS = (
    "royalblue",
    "mediumpurple",
    "goldenrod",
    "orchid",
    "teal",
    "coral",
    "seagreen",
    "tomato",
)
"""The colors of the components in the budget bar, in the order of the components."""
_EMPTY_COLORS = {"green": "grey", "yellow": "darkorange", "red": "crimson"}
"""The color of the empty cells, for each color of the bar in the terminal."""


class BudgetLabel(QtWidgets.QLabel):
    """The next prompt's tokens compared with the window, with cells in the color of each component.

    The bar is a link.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.setAccessibleName("Context budget")
        # Tokens by component
        self.components: dict[str, int] = {}
        self._usage: ContextUsage | None = None

    def show_usage(self, usage: ContextUsage | None, more: int = 0) -> None:
        """Show the usage of a prompt.

        `more` are tokens of an answer that is being written; they count as conversation. Without
        `usage`, the last one stays.
        """
        self._usage = usage = usage or self._usage
        if usage is None:
            return
        self.components = _components(usage)
        self.components["conversation"] += more
        bar = BudgetBar(usage.total_tokens + more, usage.effective_limit, estimated=usage.estimated)
        figures = f"{bar.figures} ({bar.percent})"
        words = ""
        if usage.compaction.due:
            by_itself = usage.compaction.runs_first
            words = compaction_words(bar.used, usage.compaction.at, by_itself=by_itself)
        if words:
            figures += f", {words}"
        self.setText(f"{self._bar_html(bar)} {figures}")
        parts = ", ".join(
            f"{name} {tokens:,}" for name, tokens in self.components.items() if tokens
        )
        self.setToolTip(f"{parts}. Click for the context and the exact prompt.")
        self.setAccessibleDescription(f"{figures}: {parts}")

    def _bar_html(self, bar: BudgetBar) -> str:
        cells = ""
        for color, tokens in zip(_COLORS, self.components.values(), strict=True):
            count = round(CELLS * tokens / max(1, bar.limit))
            cells += f"<font color='{color}'>{'█' * count}</font>"
        empty = "░" * bar.bar.count("░")
        return (
            f"<a href='context' style='text-decoration: none'>{cells}"
            f"<font color='{_EMPTY_COLORS[bar.color]}'>{empty}</font></a>"
        )


def _components(usage: ContextUsage) -> dict[str, int]:
    """Tokens of each component, by the name that is shown."""
    components = {"system": usage.system_tokens, "tools": usage.tool_tokens}
    for name, tokens in usage.message_breakdown.items():
        components[name.replace("_", " ")] = tokens
    return components
