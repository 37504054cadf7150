"""The dialogs: the context with the exact prompt, and the preview of a compaction."""

from collections.abc import Callable

from PySide6 import QtWidgets
from PySide6.QtGui import QFont, QFontDatabase

from zkchat_cli.gui.styles import StyledBrowser
from zkchat_cli.models import Compaction
from zkchat_cli.views.compaction import describe_compaction


def fixed_font() -> QFont:
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)


class ContextDialog(QtWidgets.QDialog):
    def __init__(self, parent: QtWidgets.QWidget, table: str, prompt: str) -> None:
        super().__init__(parent)
        self.setWindowTitle("Context of the next message")
        self.resize(720, 520)
        self.table, self.prompt = StyledBrowser("Tokens by component"), QtWidgets.QPlainTextEdit(prompt)
        self.table.document().setDefaultFont(fixed_font())
        self.table.show_html(table)
        self.prompt.setAccessibleName("Exact prompt")
        self.prompt.setReadOnly(True)
        self.prompt.setFont(fixed_font())
        tabs = QtWidgets.QTabWidget()
        tabs.addTab(self.table, "&Budget")
        tabs.addTab(self.prompt, "&Prompt")
        QtWidgets.QVBoxLayout(self).addWidget(tabs)


class CompactionDialog(QtWidgets.QDialog):
    """Shows what a compaction would do before it is made. `preview` gets the instructions, and later `show_preview` its result."""

    def __init__(self, parent: QtWidgets.QWidget, preview: Callable[[str], None], compact: Callable[[str], None]) -> None:
        super().__init__(parent)
        self.setWindowTitle("Compact the conversation")
        self.resize(620, 420)
        self._preview = preview
        self.instructions = QtWidgets.QLineEdit()
        self.instructions.setPlaceholderText("What the summary must contain (optional)")
        self.instructions.setAccessibleName("Instructions for the summary")
        again = QtWidgets.QPushButton("&Preview")
        again.clicked.connect(self.start_preview)
        self.outcome = QtWidgets.QLabel()
        self.outcome.setWordWrap(True)
        self.outcome.setAccessibleName("What the compaction would do")
        self.summary = QtWidgets.QPlainTextEdit()
        self.summary.setReadOnly(True)
        self.summary.setAccessibleName("Summary")
        buttons = QtWidgets.QDialogButtonBox(QtWidgets.QDialogButtonBox.StandardButton.Cancel)
        self.compact_button = buttons.addButton("&Compact", QtWidgets.QDialogButtonBox.ButtonRole.AcceptRole)
        self.instructions.textChanged.connect(lambda: self.compact_button.setEnabled(False))
        buttons.accepted.connect(self.accept)
        self.accepted.connect(lambda: compact(self.instructions.text().strip()))
        buttons.rejected.connect(self.reject)
        row = QtWidgets.QHBoxLayout()
        row.addWidget(self.instructions)
        row.addWidget(again)
        layout = QtWidgets.QVBoxLayout(self)
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
