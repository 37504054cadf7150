"""The right pane of the window: the sources of the selected turn, and a passage of one."""

from html import escape

from PySide6 import QtWidgets
from PySide6.QtCore import QSignalBlocker, Qt, Signal

from zkchat_cli.gui.styled_browser import StyledBrowser
from zkchat_cli.views.sources import SourceItem
from zkchat_cli.views.text import plain_text

# Qt's row number for a list without a selection
NO_ROW = -1


class ReferencePanel(QtWidgets.QSplitter):
    """One row for each source of the selected turn, and below the list the selected source's
    passage in its note.
    """

    # Emits the key of a row that was double-clicked; empty for a broken link
    opened = Signal(str)
    # Emits the key of the selected row, so that its passage is shown
    selected = Signal(str)

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self.items: list[SourceItem] = []
        self.list = QtWidgets.QListWidget()
        self.list.setAccessibleName("References of the selected turn")
        self.list.setWordWrap(True)
        self.list.setAlternatingRowColors(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemActivated.connect(
            lambda item: self.opened.emit(self.items[self.list.row(item)].key)
        )
        self.list.currentRowChanged.connect(self._select)
        self.passage = StyledBrowser("Passage in its note")
        self.addWidget(self.list)
        self.addWidget(self.passage)
        self.setSizes([300, 300])

    def show_items(self, items: list[SourceItem]) -> None:
        """Show the sources of another turn."""
        if items == self.items:
            return
        self.items = items
        with QSignalBlocker(self.list):
            self.list.clear()
            self.list.addItems([f"{_item_text(item)}\n{item.verdict}" for item in items])
        self.passage.clear()

    def select_number(self, number: str) -> None:
        """Select the source with this number; none if there is no such source."""
        keys = [item.key for item in self.items]
        self.list.setCurrentRow(keys.index(number) if number in keys else NO_ROW)

    def _select(self, row: int) -> None:
        if row < 0:
            self.passage.show_html("")
            return
        item = self.items[row]
        if item.key:
            self.selected.emit(item.key)
        else:
            self.passage.show_html(f"<p class='problem'>{escape(_item_text(item))}</p>")


def _item_text(item: SourceItem) -> str:
    return "\n".join(plain_text([line]).strip() for line in item.lines)
