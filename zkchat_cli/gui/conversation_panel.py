"""The left pane of the window: the list of conversations, and its search."""

from collections.abc import Iterable
from typing import NamedTuple

from PySide6 import QtWidgets
from PySide6.QtCore import QMargins, QSignalBlocker, Qt, Signal

from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.views.stored_items import display_title, size_and_time

# The role under which an item of the list stores the id of its conversation
_ID = Qt.ItemDataRole.UserRole


class SelectedConversation(NamedTuple):
    """A conversation in the list."""

    id: str
    title: str


class ConversationPanel(QtWidgets.QWidget):
    """A search, and below it the conversations that it finds."""

    # The id of a conversation
    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.search = QtWidgets.QLineEdit()
        self.list = QtWidgets.QListWidget()
        self.search.setPlaceholderText("Search")
        self.search.setAccessibleName("Search conversations")
        self.list.setAccessibleName("Conversations")
        self.list.setWordWrap(True)
        for signal in (self.list.itemActivated, self.list.itemClicked):
            signal.connect(lambda item: self.chosen.emit(item.data(_ID)))
        column = QtWidgets.QVBoxLayout(self)
        column.setContentsMargins(QMargins())
        column.addWidget(self.search)
        column.addWidget(self.list)

    @property
    def selected(self) -> SelectedConversation | None:
        """The conversation that is selected in the list; None if none is."""
        # Qt's annotations lack the None that it returns without a selection
        item: QtWidgets.QListWidgetItem | None = self.list.currentItem()
        if item is None:
            return None
        title, _, _ = item.text().partition("\n")
        return SelectedConversation(item.data(_ID), title)

    def show_conversations(self, found: Iterable[ConversationOverview], current_id: str) -> None:
        """List these conversations, and select the one with this id."""
        with QSignalBlocker(self.list):
            self.list.clear()
            for each in found:
                label = f"{display_title(each)}\n{size_and_time(each)}"
                item = QtWidgets.QListWidgetItem(label, self.list)
                item.setData(_ID, each.id)
                if each.id == current_id:
                    self.list.setCurrentItem(item)
