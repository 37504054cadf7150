"""The window's input: Enter sends, completions appear while typing, Up and Down recall lines."""

from collections.abc import Sequence

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QSignalBlocker, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor

from zkchat_cli.completion.typed_text import Suggestion, match_typed

# Number of lines of text that the box has room for
LINES = 5
# Width in pixels
POPUP_WIDTH = 460
# Stands for the place in the history after the newest line: the text that was typed but not sent
DRAFT = -1
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_MODIFIERS = (
    Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.ShiftModifier
    | Qt.KeyboardModifier.ControlModifier
)


class InputBox(QtWidgets.QPlainTextEdit):
    """The message that is being typed, with completions and a history of sent lines."""

    # Emits the text when Enter is pressed, even if it cannot be sent now
    sent = Signal(str)
    # Emits a line that was sent, so that it is stored
    remembered = Signal(str)
    # Emits the text before and the text after the cursor
    completion_wanted = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Message")
        self.setPlaceholderText(
            "Ask your notes. Enter sends, Alt+Enter starts a line; / [[ # and @ complete."
        )
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * LINES)
        # The lines that were sent, newest first
        self.history: list[str] = []
        # The line of the history that is shown, or DRAFT
        self._at = DRAFT
        self._draft = ""
        self._offers: Sequence[Suggestion] = ()
        self._completer = QtWidgets.QCompleter(QStringListModel(self), self)
        self._completer.setCompletionMode(
            QtWidgets.QCompleter.CompletionMode.UnfilteredPopupCompletion
        )
        self._completer.setWidget(self)
        # Qt's own list: a plain one could be edited, and has a scroll bar over its last row
        popup = self._completer.popup()
        assert popup is not None
        self._popup = popup
        self._popup.setAccessibleName("Completions")
        self._popup.clicked.connect(lambda index: self._accept(index.row()))
        self._popup.installEventFilter(self)
        self.textChanged.connect(self._ask_for_completions)

    def set_text(self, text: str) -> None:
        """Replace the text, with the cursor at its end."""
        self.setPlainText(text)
        self.moveCursor(QTextCursor.MoveOperation.End)

    def offer(self, before: str, offers: Sequence[Suggestion]) -> None:
        """Show the completions of a text, unless the user has typed more since."""
        if before != self._before or not offers or not self.hasFocus():
            self._popup.hide()
            return
        self._offers = offers
        labels = [f"{each.label or each.text}   {each.description}".rstrip() for each in offers]
        self._completer.setModel(QStringListModel(labels, self))
        place = self.cursorRect()
        place.setWidth(min(POPUP_WIDTH, self.width()))
        self._completer.complete(place)
        first = self._completer.completionModel().index(0, 0)
        self._popup.setCurrentIndex(first)

    @property
    def _before(self) -> str:
        """The text before the cursor.

        Qt counts positions in UTF-16 units, Python in characters.
        """
        cursor = self.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Start, QTextCursor.MoveMode.KeepAnchor)
        return cursor.selectedText().replace("\u2029", "\n")

    def _ask_for_completions(self) -> None:
        before = self._before
        if match_typed(before) is not None:
            self.completion_wanted.emit(before, self.toPlainText()[len(before) :])
        else:
            self._popup.hide()

    def _accept(self, row: int) -> None:
        offer = self._offers[max(0, row)]
        cursor = self.textCursor()
        before = self._before
        replaced = before[len(before) - offer.replaced :]
        utf16_length = len(replaced.encode("utf-16-le")) // 2
        cursor.setPosition(cursor.position() - utf16_length, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(offer.text)
        self._popup.hide()

    def eventFilter(self, watched: object, event: QEvent) -> bool:  # noqa: N802
        """While completions are shown, Tab and Enter take one; other keys are typed as usual."""
        if (
            watched is self._popup
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and self._handle_popup_key(event)
        ):
            return True
        return super().eventFilter(watched, event)  # type: ignore[arg-type]

    def _handle_popup_key(self, event: QKeyEvent) -> bool:
        """Handle a key that is meant for the completions; returns whether it was."""
        key = event.key()
        if key == Qt.Key.Key_Tab or (key in _ENTER and not event.modifiers()):
            self._accept(self._popup.currentIndex().row())
            return True
        if key == Qt.Key.Key_Escape:
            self._popup.hide()
            return True
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key = event.key()
        modifiers = event.modifiers() & _MODIFIERS
        if key in _ENTER and not modifiers:
            self.sent.emit(self.toPlainText())
        elif key in _ENTER or (
            key == Qt.Key.Key_J and modifiers == Qt.KeyboardModifier.ControlModifier
        ):
            self.insertPlainText("\n")
        elif not self._recall_by_key(key):
            super().keyPressEvent(event)

    def _recall_by_key(self, key: int) -> bool:
        """Show another line of the history if the key wants that; returns whether it did.

        Up does so in the first line of the text, Down in the last one.
        """
        line = self.textCursor().blockNumber()
        if key == Qt.Key.Key_Up and line == 0 and self._at + 1 < len(self.history):
            self._recall(self._at + 1)
            return True
        if key == Qt.Key.Key_Down and self._at >= 0 and line == self.blockCount() - 1:
            self._recall(self._at - 1)
            return True
        return False

    def remember(self, text: str) -> None:
        """Add a sent text to the history, and clear the input."""
        self.history.insert(0, text)
        self.remembered.emit(text)
        self._at = DRAFT
        self._draft = ""
        self.clear()

    def _recall(self, at: int) -> None:
        """Show a line of the history, or for DRAFT what was typed before."""
        if self._at == DRAFT:
            self._draft = self.toPlainText()
        self._at = at
        with QSignalBlocker(self):
            self.set_text(self._draft if at == DRAFT else self.history[at])
