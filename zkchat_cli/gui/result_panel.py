"""What commands say, and errors with the next step: a panel in the window, not a dialog that has to be closed first."""

from html import escape

from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton

from zkchat_cli.errors import ZkchatError
from zkchat_cli.gui.dialogs import fixed_font
from zkchat_cli.gui.styles import StyledBrowser, lines_html
from zkchat_cli.slash.base import CommandResult

WIDTH = 90
"""Columns for results that depend on the width."""


class ResultPanel(QFrame):
    def __init__(self) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.text = StyledBrowser("Result")
        self.text.document().setDefaultFont(fixed_font())
        close = QToolButton()
        close.setText("✕")
        close.setAccessibleName("Close the result")
        close.clicked.connect(self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2, 2, 2, 2)
        layout.addWidget(self.text)
        layout.addWidget(close)
        self.setMaximumHeight(190)
        self.hide()

    def show_error(self, error: ZkchatError) -> None:
        hint = f"<p>{escape(error.hint)}</p>" if error.hint else ""
        self._show(f"<p class='problem'>✗ {escape(error.message)}</p>{hint}")

    def show_notice(self, message: str) -> None:
        self._show(lines_html((), message))

    def show_result(self, result: CommandResult) -> None:
        lines = result.render(WIDTH) if result.render is not None else result.lines
        if result.text or lines:
            self._show(lines_html(lines, result.text))

    def _show(self, html: str) -> None:
        self.text.show_html(html)
        self.text.setAccessibleDescription(self.text.toPlainText())
        self.show()
