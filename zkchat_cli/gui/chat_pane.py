"""The middle pane of the window: the transcript, and below it results, questions and the input."""

from collections.abc import Callable, Iterable

from PySide6 import QtWidgets
from PySide6.QtCore import QMargins

from zkchat_cli.gui.input_box import InputBox
from zkchat_cli.gui.panel import Panel
from zkchat_cli.gui.transcript import TranscriptView
from zkchat_cli.views.text import StyledLine

# What can be done with a hunk of a change; the last button means no
HUNK_BUTTONS = (
    "&Yes",
    "&Edit …",
    "&All of this note",
    "N&one of this note",
    "&Quit",
    "&No",
)
# Rows and columns that a widget takes in the grid: the buttons are at the right of the input, one
# above the other
BOTH_COLUMNS = (1, 2)
BOTH_BUTTONS = (2, 1)


class ChatPane(QtWidgets.QWidget):
    """The widgets of a conversation. The window connects them with the session."""

    def __init__(self) -> None:
        super().__init__()
        self.transcript = TranscriptView()
        self.result = Panel("Result", "&Close")
        self.question = Panel("Question", "&Yes", "&No")
        self.hunk = Panel("Change", *HUNK_BUTTONS)
        self.input = InputBox()
        self.send_button = QtWidgets.QPushButton("Send")
        self.stop_button = QtWidgets.QPushButton("Stop")
        self.stop_button.setToolTip("Stop the answer and keep what came (Escape)")
        self._lay_out()
        self.setTabOrder(self.input, self.send_button)

    def _lay_out(self) -> None:
        """Put one widget above the other, and the buttons at the right of the input."""
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(QMargins())
        above = (self.transcript, self.result, self.question, self.hunk)
        for row, widget in enumerate(above):
            grid.addWidget(widget, row, 0, *BOTH_COLUMNS)
        row = len(above)
        grid.addWidget(self.input, row, 0, *BOTH_BUTTONS)
        grid.addWidget(self.send_button, row, 1)
        grid.addWidget(self.stop_button, row + 1, 1)
        grid.setRowStretch(0, 1)

    def set_busy(self, busy: bool) -> None:
        """Enable one of the two buttons: nothing can be sent while something runs."""
        self.send_button.setEnabled(not busy)
        self.stop_button.setEnabled(busy)

    def ask(
        self, question: str, then: Callable[[], None], lines: Iterable[StyledLine] = ()
    ) -> None:
        """Ask a question about these lines, and call `then` after a yes."""

        def answered(yes: bool) -> None:
            if yes:
                then()
            else:
                self.input.setFocus()

        self.question.ask(question, lines, answered)

    def hide_questions(self) -> None:
        """Hide the questions of a turn that was stopped."""
        self.question.hide()
        self.hunk.hide()

    def edit_text(self, title: str, text: str, edited: Callable[[str | None], object]) -> None:
        """Let the user edit a text in a dialog; `edited` gets it, or None if the user cancels."""
        dialog = QtWidgets.QInputDialog
        new_text, is_confirmed = dialog.getMultiLineText(self, "zkchat", title, text)
        edited(new_text if is_confirmed else None)

    def dismiss(self) -> None:
        """Answer no to the question; if there is none, close the result, or else clear the
        message.
        """
        if self.question.isVisible():
            self.question.answer(yes=False)
        elif self.result.isVisible():
            self.result.hide()
        else:
            self.input.clear()
