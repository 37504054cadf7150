"""The references of the selected turn: one row for each source, and the passage of the selected one in its note."""

from html import escape

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QListWidget, QSplitter

from zkchat_cli.exporters import html
from zkchat_cli.gui.styles import StyledBrowser, is_dark
from zkchat_cli.views.reference_rows import BROKEN, ReferenceRow


class ReferencePanel(QSplitter):
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
