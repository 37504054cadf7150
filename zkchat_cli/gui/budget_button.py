"""The budget bar: the next prompt's tokens against the window, one segment for each component. A click shows them in full."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton

from zkchat_cli.exporters import html
from zkchat_cli.gui import styles
from zkchat_cli.models import ContextUsage
from zkchat_cli.views.budget_bar import BudgetBar

BAR_WIDTH = 130
_HUES = {"system": 210, "tools": 270, "summary": 40, "memory": 320, "documents": 175, "recalled": 20, "tool results": 240}


class BudgetButton(QAbstractButton):
    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Context budget")
        self._usage: ContextUsage | None = None
        self._more = 0
        self.show_usage(None)

    def show_usage(self, usage: ContextUsage | None, more: int = 0) -> None:
        """`more` are tokens of an answer that is being written; they count as conversation. Without `usage`, the last one stays."""
        self._usage, self._more = usage or self._usage, more
        words = ", ".join(f"{name} {tokens:,}" for name, tokens in self.components.items() if tokens)
        self.setToolTip(f"{words or 'not measured yet'}. Click for the context and the exact prompt.")
        self.setAccessibleDescription(f"{self.figures}: {words}")
        self.updateGeometry()
        self.update()

    @property
    def components(self) -> dict[str, int]:
        """Tokens by component."""
        if self._usage is None:
            return {}
        components = {"system": self._usage.system_tokens, "tools": self._usage.tool_tokens, **self._usage.message_breakdown.model_dump()}
        return {name.replace("_", " "): tokens + (self._more if name == "conversation" else 0) for name, tokens in components.items()}

    @property
    def _bar(self) -> BudgetBar | None:
        usage = self._usage
        return BudgetBar(usage.total_tokens + self._more, usage.effective_limit, estimated=usage.estimated) if usage is not None else None

    @property
    def figures(self) -> str:
        return f"{self._bar.figures} ({self._bar.percent})" if self._bar is not None else "…"

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        return QSize(BAR_WIDTH + self.fontMetrics().horizontalAdvance(self.figures) + 16, self.fontMetrics().height() + 6)

    def paintEvent(self, _: QPaintEvent) -> None:  # noqa: N802  Qt's name
        painter = QPainter(self)
        dark = styles.is_dark(self.palette())
        top, height = self.height() / 2 - 5, 10.0
        painter.fillRect(QRectF(4, top, BAR_WIDTH, height), QColor(html.colors(dark=dark)["line"]))
        if (bar := self._bar) is not None and self._usage is not None:
            at = 4.0
            for name, tokens in self.components.items():
                width = min(BAR_WIDTH * tokens / max(1, self._usage.effective_limit), BAR_WIDTH + 4 - at)
                painter.fillRect(QRectF(at, top, width, height), QColor.fromHsl(_HUES.get(name, 130), 150, 150 if dark else 110))
                at += width
            color = {"green": self.palette().buttonText().color().name(), "yellow": html.colors(dark=dark)["cut"]}
            painter.setPen(QColor(color.get(bar.color, html.colors(dark=dark)["misquoted"])))
        painter.drawText(QRectF(BAR_WIDTH + 10, 0, self.width(), self.height()), Qt.AlignmentFlag.AlignVCenter, self.figures)
        if self.hasFocus():
            painter.setPen(QColor(html.colors(dark=dark)["link"]))
            painter.drawRect(0, 0, self.width() - 1, self.height() - 1)
