"""The panel above the input: the result of a command, an error, or a question with its answers."""

from collections.abc import Callable, Iterable, Sequence
from html import escape

from PySide6 import QtWidgets
from PySide6.QtCore import QMargins

from zkchat_cli.errors import ZkchatError
from zkchat_cli.gui.styled_browser import StyledBrowser, fixed_font, lines_html
from zkchat_cli.views.text import StyledLine, styled_line

# Height in pixels
MAX_HEIGHT = 190
FRAME_HEIGHT = 8
MARGINS = QMargins() + 2


class Panel(QtWidgets.QFrame):
    """HTML above the input, with a button for each answer.

    The last button means no, and so does Escape.
    """

    def __init__(self, name: str, *answers: str) -> None:
        super().__init__()
        self.setFrameShape(QtWidgets.QFrame.Shape.StyledPanel)
        self.text = StyledBrowser(name)
        self.text.document().setDefaultFont(fixed_font())
        self._chosen: Callable[[int], object] = lambda _: None
        self.buttons = [QtWidgets.QPushButton(answer) for answer in answers]
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(MARGINS)
        all_columns = (1, len(answers) + 1)
        grid.addWidget(self.text, 0, 0, *all_columns)
        for column, button in enumerate(self.buttons):
            button.clicked.connect(lambda _=False, number=column: self._choose(number))
            grid.addWidget(button, 1, column)
        grid.setColumnStretch(len(answers), 1)
        self.hide()

    def show_html(self, text: str) -> None:
        """Show HTML; the panel takes its height, up to MAX_HEIGHT."""
        self.text.show_html(text)
        self.text.setAccessibleDescription(self.text.toPlainText())
        self.show()
        needed = int(self.text.document().size().height()) + FRAME_HEIGHT
        self.text.setFixedHeight(min(MAX_HEIGHT, needed))

    def show_outcome(self, notices: Sequence[str], error: ZkchatError | None = None) -> None:
        """Show the notices of a turn, and why it failed."""
        shown = lines_html((), "\n\n".join(notices)) if notices else ""
        if error is not None:
            shown += f"<p class='problem'>✗ {escape(error.message)}</p><p>{escape(error.hint)}</p>"
        self.show_html(shown)

    def ask(
        self, question: str, lines: Iterable[StyledLine], answered: Callable[[bool], object]
    ) -> None:
        """Ask a question about these lines; `answered` is called with True for yes."""
        last = len(self.buttons) - 1
        self.ask_choice(question, lines, lambda number: answered(number != last))

    def ask_choice(
        self, question: str, lines: Iterable[StyledLine], chosen: Callable[[int], object]
    ) -> None:
        """Ask a question about these lines; `chosen` is called with the number of the button."""
        self._chosen = chosen
        self.show_html(lines_html([styled_line(question, "bold"), *lines]))
        self.buttons[-1].setFocus()

    def answer(self, *, yes: bool) -> None:
        """Use this answer to the question, as if its button had been pressed."""
        self._choose(0 if yes else len(self.buttons) - 1)

    def _choose(self, number: int) -> None:
        self.hide()
        self._chosen(number)
