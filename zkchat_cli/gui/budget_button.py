"""The budget bar: the next prompt's tokens against the window, one segment for each component. A click shows them in full."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton

from zkchat_cli.exporters import html
from zkchat_cli.gui import styles
from zkchat_cli.models import ContextUsage
from zkchat_cli.views.token_usage import BudgetBar

BAR_WIDTH = 130
_HUES = {"system": 210, "tools": 270, "summary": 40, "memory": 320, "documents": 175, "recalled": 20, "tool results": 240}


class BudgetButton(QAbstractButton):
    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Context budget")
        self.components: dict[str, int] = {}
        """Tokens by component."""
        self._usage: ContextUsage | None = None
        self._bar = BudgetBar(0, 0)

    def show_usage(self, usage: ContextUsage | None, more: int = 0) -> None:
        """`more` are tokens of an answer that is being written; they count as conversation. Without `usage`, the last one stays."""
        self._usage = usage = usage or self._usage
        if usage is None:
            return
        parts = {"system": usage.system_tokens, "tools": usage.tool_tokens, **usage.message_breakdown.model_dump()}
        self.components = {name.replace("_", " "): tokens for name, tokens in parts.items()}
        self.components["conversation"] += more
        self._bar = BudgetBar(usage.total_tokens + more, usage.effective_limit, estimated=usage.estimated)
        self.setText(f"{self._bar.figures} ({self._bar.percent})")
        words = ", ".join(f"{name} {tokens:,}" for name, tokens in self.components.items() if tokens)
        self.setToolTip(f"{words}. Click for the context and the exact prompt.")
        self.setAccessibleDescription(f"{self.text()}: {words}")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        return QSize(BAR_WIDTH + self.fontMetrics().horizontalAdvance(self.text()) + 16, self.fontMetrics().height() + 6)

    def paintEvent(self, _: QPaintEvent) -> None:  # noqa: N802  Qt's name
        painter, dark = QPainter(self), styles.is_dark(self.palette())
        colors = html.colors(dark=dark)
        at, top, height = 4.0, self.height() / 2 - 5, 10.0
        painter.fillRect(QRectF(at, top, BAR_WIDTH, height), QColor(colors["line"]))
        for name, tokens in self.components.items():
            width = min(BAR_WIDTH * tokens / max(1, self._bar.limit), BAR_WIDTH + 4 - at)
            painter.fillRect(QRectF(at, top, width, height), QColor.fromHsl(_HUES.get(name, 130), 150, 150 if dark else 110))
            at += width
        figures = {"green": self.palette().buttonText().color().name(), "yellow": colors["cut"], "red": colors["misquoted"]}
        painter.setPen(QColor(figures[self._bar.color]))
        painter.drawText(QRectF(BAR_WIDTH + 10, 0, self.width(), self.height()), Qt.AlignmentFlag.AlignVCenter, self.text())
        if self.hasFocus():
            painter.setPen(QColor(colors["link"]))
            painter.drawRect(0, 0, self.width() - 1, self.height() - 1)
