"""The dialogs: the context with the exact prompt, and the preview of a compaction."""

from collections.abc import Callable

from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QTabWidget,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from zkchat_cli.gui import styles
from zkchat_cli.models import Compaction
from zkchat_cli.views.compaction import describe_compaction


def fixed_font() -> QFont:
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)


class ContextDialog(QDialog):
    def __init__(self, parent: QWidget, table: str, prompt: str) -> None:
        super().__init__(parent)
        self.setWindowTitle("Context of the next message")
        self.resize(720, 520)
        self.table, self.prompt = QTextBrowser(), QPlainTextEdit(prompt)
        self.table.setAccessibleName("Tokens by component")
        self.table.document().setDefaultStyleSheet(styles.document_style(dark=styles.is_dark(self.palette())))
        self.table.document().setDefaultFont(fixed_font())
        self.table.setHtml(table)
        self.prompt.setAccessibleName("Exact prompt")
        self.prompt.setReadOnly(True)
        self.prompt.setFont(fixed_font())
        tabs = QTabWidget()
        tabs.addTab(self.table, "&Budget")
        tabs.addTab(self.prompt, "&Prompt")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        layout = QVBoxLayout(self)
        layout.addWidget(tabs)
        layout.addWidget(buttons)


class CompactionDialog(QDialog):
    """Shows what a compaction would do before it is made. `preview` gets the instructions, and later `show_preview` its result."""

    def __init__(self, parent: QWidget, preview: Callable[[str], None], compact: Callable[[str], None]) -> None:
        super().__init__(parent)
        self.setWindowTitle("Compact the conversation")
        self.resize(620, 420)
        self._preview = preview
        self.instructions = QLineEdit()
        self.instructions.setPlaceholderText("What the summary must contain (optional)")
        self.instructions.setAccessibleName("Instructions for the summary")
        again = QPushButton("&Preview")
        again.clicked.connect(self.start_preview)
        self.outcome = QLabel()
        self.outcome.setWordWrap(True)
        self.outcome.setAccessibleName("What the compaction would do")
        self.summary = QPlainTextEdit()
        self.summary.setReadOnly(True)
        self.summary.setAccessibleName("Summary")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.compact_button = buttons.addButton("&Compact", QDialogButtonBox.ButtonRole.AcceptRole)
        self.instructions.textChanged.connect(lambda: self.compact_button.setEnabled(False))
        buttons.accepted.connect(self.accept)
        self.accepted.connect(lambda: compact(self.instructions.text().strip()))
        buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.addWidget(self.instructions)
        row.addWidget(again)
        layout = QVBoxLayout(self)
        layout.addLayout(row)
        layout.addWidget(self.outcome)
        layout.addWidget(self.summary)
        layout.addWidget(buttons)

    def start_preview(self) -> None:
        self.outcome.setText("Writing the summary …")
        self.compact_button.setEnabled(False)
        self._preview(self.instructions.text().strip())

    def show_preview(self, compaction: Compaction) -> None:
        self.outcome.setText(describe_compaction(compaction))
        self.summary.setPlainText(compaction.summary or "")
        self.compact_button.setEnabled(compaction.mode != "none")
