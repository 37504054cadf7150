"""The input: several lines, the history of this vault's chats, and completion of /commands, [[notes, #tags and @files."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QCompleter, QPlainTextEdit

from zkchat_cli.completion import Suggestion, can_complete

_MODIFIERS = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier


class InputBox(QPlainTextEdit):
    sent = Signal(str)  # the text when Enter is pressed, even if it cannot be sent now
    remembered = Signal(str)
    completion_wanted = Signal(str, str)  # the text before and the text after the cursor

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Message")
        self.setPlaceholderText("Ask your notes. Enter sends, Alt+Enter starts a line; / [[ # and @ complete.")
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * 5)
        self.history: list[str] = []  # newest first
        self._at = -1
        self._draft = ""
        self._offers: Sequence[Suggestion] = ()
        self._completer = QCompleter(QStringListModel(self), self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.setWidget(self)
        popup = self._completer.popup()
        assert popup is not None
        self._popup = popup
        self._popup.setAccessibleName("Completions")
        self._popup.clicked.connect(lambda index: self._accept(index.row()))
        self._popup.installEventFilter(self)
        self.textChanged.connect(self._ask_for_completions)

    def set_text(self, text: str) -> None:
        self.setPlainText(text)
        self.moveCursor(QTextCursor.MoveOperation.End)

    def offer(self, before: str, offers: Sequence[Suggestion]) -> None:
        """Show the completions of a text, unless the user has typed more since."""
        if before != self._before or not offers or not self.hasFocus():
            self._popup.hide()
            return
        self._offers = offers
        self._completer.setModel(QStringListModel([f"{each.label or each.text}   {each.description}".rstrip() for each in offers], self))
        place = self.cursorRect()
        place.setWidth(min(460, self.width()))
        self._completer.complete(place)
        self._popup.setCurrentIndex(self._completer.completionModel().index(0, 0))

    @property
    def _before(self) -> str:
        """The text before the cursor. Qt counts positions in UTF-16, Python does not."""
        cursor = self.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Start, QTextCursor.MoveMode.KeepAnchor)
        return cursor.selectedText().replace("\u2029", "\n")

    def _ask_for_completions(self) -> None:
        if can_complete(before := self._before):
            self.completion_wanted.emit(before, self.toPlainText()[len(before) :])
        else:
            self._popup.hide()

    def _accept(self, row: int) -> None:
        offer = self._offers[max(0, row)]
        cursor = self.textCursor()
        replaced = self._before[len(self._before) - offer.replaced :]
        cursor.setPosition(cursor.position() - len(replaced.encode("utf-16-le")) // 2, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(offer.text)
        self._popup.hide()

    def eventFilter(self, watched: object, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """While completions are shown, Tab and Enter take one; other keys are typed as usual."""
        if watched is self._popup and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Tab or (event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers()):
                self._accept(self._popup.currentIndex().row())
                return True
            if event.key() == Qt.Key.Key_Escape:
                self._popup.hide()
                return True
        return super().eventFilter(watched, event)  # type: ignore[arg-type]

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        key, modifiers, line = event.key(), event.modifiers() & _MODIFIERS, self.textCursor().blockNumber()
        is_enter = key in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and not modifiers:
            self.sent.emit(self.toPlainText())
        elif is_enter or (key == Qt.Key.Key_J and modifiers == Qt.KeyboardModifier.ControlModifier):
            self.insertPlainText("\n")
        elif key == Qt.Key.Key_Up and line == 0 and self._at + 1 < len(self.history):
            self._recall(self._at + 1)
        elif key == Qt.Key.Key_Down and self._at >= 0 and line == self.blockCount() - 1:
            self._recall(self._at - 1)
        else:
            super().keyPressEvent(event)

    def remember(self, text: str) -> None:
        """Add a sent text to the history, and clear the input."""
        self.history.insert(0, text)
        self.remembered.emit(text)
        self._at, self._draft = -1, ""
        self.clear()

    def _recall(self, at: int) -> None:
        """Show a line of the history, or with -1 what was typed before."""
        if self._at < 0:
            self._draft = self.toPlainText()
        self._at = at
        self.blockSignals(True)
        self.set_text(self.history[at] if at >= 0 else self._draft)
        self.blockSignals(False)
