"""What commands say, and errors with the next step: a panel in the window, not a dialog that has to be closed first."""

from html import escape

from PySide6.QtWidgets import QFrame, QHBoxLayout, QTextBrowser, QToolButton

from zkchat_cli.errors import ZkchatError
from zkchat_cli.gui import styles
from zkchat_cli.gui.dialogs import fixed_font
from zkchat_cli.slash.base import CommandResult

WIDTH = 90
"""Columns for results that depend on the width."""
HEIGHT = 190


class ResultPanel(QFrame):
    def __init__(self) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.text = QTextBrowser()
        self.text.setAccessibleName("Result")
        self.text.setOpenExternalLinks(False)
        self.text.document().setDefaultFont(fixed_font())
        close = QToolButton()
        close.setText("✕")
        close.setAccessibleName("Close the result")
        close.clicked.connect(self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2, 2, 2, 2)
        layout.addWidget(self.text)
        layout.addWidget(close)
        self.setMaximumHeight(HEIGHT)
        self.hide()

    def show_error(self, error: ZkchatError) -> None:
        hint = f"<p>{escape(error.hint)}</p>" if error.hint else ""
        self._show(f"<p class='problem'>✗ {escape(error.message)}</p>{hint}")

    def show_notice(self, message: str, hint: str = "") -> None:
        self._show(f"<p>{escape(message)}</p><p>{escape(hint)}</p>")

    def show_result(self, result: CommandResult) -> None:
        lines = result.render(WIDTH) if result.render is not None else result.lines
        text = f"<pre style='white-space: pre-wrap'>{escape(result.text)}</pre>" if result.text else ""
        if text or lines:
            self._show(text + (styles.lines_html(lines, dark=styles.is_dark(self.palette())) if lines else ""))

    def _show(self, html: str) -> None:
        self.text.document().setDefaultStyleSheet(styles.document_style(dark=styles.is_dark(self.palette())))
        self.text.setHtml(html)
        self.text.setAccessibleDescription(self.text.toPlainText())
        self.show()
