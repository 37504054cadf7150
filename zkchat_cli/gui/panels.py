"""The panels of the window: above the input results of commands, errors with the next step, and questions; beside the transcript the
references of the selected turn. The rest of the window can still be read."""

from collections.abc import Callable, Sequence
from html import escape

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QGridLayout, QLineEdit, QListWidget, QPushButton, QSplitter, QToolButton

from zkchat_cli.errors import ZkchatError
from zkchat_cli.exporters import html
from zkchat_cli.gui.styles import StyledBrowser, fixed_font, is_dark, lines_html
from zkchat_cli.views.reference_rows import BROKEN, ReferenceRow
from zkchat_cli.views.text import StyledLine, styled_line

HEIGHT = 190
YES, MORE, NO = "yes", "more", "no"
Answered = Callable[[str, str], None]
"""A function of the answer (one of the three above) and the reason that was typed with it."""


class Panel(QFrame):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.text = StyledBrowser(name)
        self.text.document().setDefaultFont(fixed_font())
        self.grid = QGridLayout(self)
        self.grid.setContentsMargins(2, 2, 2, 2)
        self.grid.addWidget(self.text, 0, 0, 1, 4)
        self.hide()

    def show_html(self, text: str) -> None:
        """Show HTML in a panel of its height, up to HEIGHT."""
        self.text.show_html(text)
        self.text.setAccessibleDescription(self.text.toPlainText())
        self.show()
        self.text.setFixedHeight(min(HEIGHT, int(self.text.document().size().height()) + 8))


class ResultPanel(Panel):
    def __init__(self) -> None:
        super().__init__("Result")
        close = QToolButton()
        close.setText("✕")
        close.setAccessibleName("Close the result")
        close.clicked.connect(self.hide)
        self.grid.addWidget(close, 0, 4)

    def show_outcome(self, notices: Sequence[str], error: ZkchatError | None = None) -> None:
        """Show the notices of a turn, and why it failed."""
        failure = f"<p class='problem'>✗ {escape(error.message)}</p><p>{escape(error.hint)}</p>" if error is not None else ""
        self.show_html((lines_html((), "\n\n".join(notices)) if notices else "") + failure)


class QuestionPanel(Panel):
    """Shows one question with the answers yes and no, and hides when it is answered."""

    def __init__(self) -> None:
        super().__init__("Question")
        self._answered: Answered | None = None
        self.yes, self.more, self.no, self.typed = QPushButton("&Yes"), QPushButton(), QPushButton("&No"), QLineEdit()
        self.typed.setPlaceholderText("No, because …")
        self.typed.setAccessibleName("Why not")
        self.typed.returnPressed.connect(lambda: self.answer(NO))
        for column, (button, answer) in enumerate(((self.yes, YES), (self.more, MORE), (self.no, NO))):
            button.clicked.connect(lambda _=False, answer=answer: self.answer(answer))
            self.grid.addWidget(button, 1, column)
        self.grid.addWidget(self.typed, 2, 0, 1, 4)
        self.grid.setColumnStretch(3, 1)

    def ask(self, text: str, answered: Answered, lines: Sequence[StyledLine] = (), more: str = "") -> None:
        """Ask, and call `answered`. `more` labels a third answer; a question with one also takes the reason of a no."""
        self._answered = answered
        self.show_html(lines_html([styled_line(text, "bold"), *lines]))
        self.more.setText(more)
        self.typed.clear()
        for widget in (self.more, self.typed):
            widget.setVisible(bool(more))
        self.no.setFocus()

    def answer(self, answer: str) -> None:
        answered, self._answered = self._answered, None
        self.hide()
        if answered is not None:
            answered(answer, self.typed.text().strip())


class ReferencePanel(QSplitter):
    """One row for each source of the selected turn, and the passage of the selected one in its note."""

    opened = Signal(str)
    """The key of a row that was double-clicked; empty for a broken link."""
    selected = Signal(str)
    """The key of the selected row, to show its passage."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self.rows: list[ReferenceRow] = []
        self.list = QListWidget()
        self.list.setAccessibleName("References of the selected turn")
        self.list.setWordWrap(True)
        self.list.setAlternatingRowColors(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemActivated.connect(lambda item: self.opened.emit(self.rows[self.list.row(item)].key))
        self.list.currentRowChanged.connect(self._select)
        self.passage = StyledBrowser("Passage in its note")
        self.addWidget(self.list)
        self.addWidget(self.passage)
        self.setSizes([300, 300])

    def show_rows(self, rows: list[ReferenceRow]) -> None:
        if rows == self.rows:
            return
        self.rows = rows
        self.list.blockSignals(True)
        self.list.clear()
        self.list.addItems([row.text for row in rows])
        self.list.blockSignals(False)
        self.passage.clear()
        self._color_rows()

    def _color_rows(self) -> None:
        """Problems are red and documents that no answer cites are grey, as in the exported page."""
        colors = html.colors(dark=is_dark(self.palette()))
        for number, row in enumerate(self.rows):
            name = "misquoted" if row.sign == BROKEN else "" if row.sign else "quiet"
            self.list.item(number).setForeground(QColor(colors[name]) if name else self.palette().text())

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802  Qt's name
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._color_rows()

    def select_number(self, number: str) -> None:
        self.list.setCurrentRow(next((n for n, row in enumerate(self.rows) if row.key == number), -1))

    def _select(self, number: int) -> None:
        row = self.rows[number] if number >= 0 else None
        if row is not None and row.key:
            self.selected.emit(row.key)
        else:
            self.passage.show_html(f"<p class='problem'>{escape(row.where)}: {escape(row.summary)}</p>" if row is not None else "")
