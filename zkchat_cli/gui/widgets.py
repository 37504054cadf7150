"""Widgets around the transcript: the input, panels for results of commands, errors and questions,
the references of the selected turn, and the budget bar.

What they show is HTML in the colors of the exported page, dark or light as the desktop is.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QSignalBlocker, QStringListModel, Qt, Signal
from PySide6.QtGui import QFont, QFontDatabase, QKeyEvent, QTextCursor

from zkchat_cli.completion import Suggestion, match_typed
from zkchat_cli.errors import ZkchatError
from zkchat_cli.exporters import html
from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.models.prompts import ContextUsage
from zkchat_cli.views.sources import SourceItem
from zkchat_cli.views.stored_items import display_title, size_and_time
from zkchat_cli.views.text import CELLS, BudgetBar, StyledLine, StyledSpan, plain_text, styled_line

HEIGHT = 190
_CLASSES = {
    "green": "verified",
    "yellow": "cut",
    "red": "misquoted",
    "dim": "quiet",
    "cyan": "link",
    "bold": "bold",
}
"""The style sheet's class for each style of a view."""
_COLORS = (
    "royalblue",
    "mediumpurple",
    "goldenrod",
    "orchid",
    "teal",
    "coral",
    "seagreen",
    "tomato",
)
"""The colors of the components in the budget bar, in their order."""
_ID = Qt.ItemDataRole.UserRole
_MODIFIERS = (
    Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.ShiftModifier
    | Qt.KeyboardModifier.ControlModifier
)
_STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
_COLOR = re.compile(r"var\(--([a-z-]+)\)")


def fixed_font() -> QFont:
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)


def lines_html(lines: Iterable[StyledLine], text: str = "") -> str:
    """Text and styled lines as preformatted HTML; what the terminal aligns in a second column
    follows after three spaces.
    """
    shown = [escape(text)] if text else []
    for line in lines:
        written = ""
        for span in (*line.left, StyledSpan("   "), *line.right) if line.right else line.left:
            classes = (
                "quoted"
                if span.quoted
                else " ".join(_CLASSES[word] for word in span.style.split() if word in _CLASSES)
            )
            written += (
                f"<span class='{classes}'>{escape(span.text)}</span>"
                if classes
                else escape(span.text)
            )
        shown.append(written)
    return f"<pre class='lines'>{chr(10).join(shown)}</pre>"


class StyledBrowser(QtWidgets.QTextBrowser):
    """HTML in the colors of the desktop's theme, also when that changes."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setOpenLinks(False)
        self._html = ""

    def show_html(self, text: str) -> None:
        self._html = text
        colors = html.colors(dark=self.palette().base().color().lightness() < 128)
        self.document().setDefaultStyleSheet(_COLOR.sub(lambda found: colors[found[1]], _STYLE))
        self.setHtml(text)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._html:
            self.restyle()

    def restyle(self) -> None:
        self.show_html(self._html)


class Panel(QtWidgets.QFrame):
    """HTML above the input, with buttons for the answers to it: the last one is what Escape
    gives.
    """

    def __init__(self, name: str, *answers: str) -> None:
        super().__init__()
        self.setFrameShape(QtWidgets.QFrame.Shape.StyledPanel)
        self.text = StyledBrowser(name)
        self.text.document().setDefaultFont(fixed_font())
        self._answered: Callable[[bool], object] = lambda _: None
        self.buttons = [QtWidgets.QPushButton(answer) for answer in answers]
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(2, 2, 2, 2)
        grid.addWidget(self.text, 0, 0, 1, len(answers) + 1)
        for column, button in enumerate(self.buttons):
            button.clicked.connect(
                lambda _=False, yes=button is not self.buttons[-1]: self.answer(yes=yes)
            )
            grid.addWidget(button, 1, column)
        grid.setColumnStretch(len(answers), 1)
        self.hide()

    def show_html(self, text: str) -> None:
        """Show HTML in a panel of its height, up to HEIGHT."""
        self.text.show_html(text)
        self.text.setAccessibleDescription(self.text.toPlainText())
        self.show()
        self.text.setFixedHeight(min(HEIGHT, int(self.text.document().size().height()) + 8))

    def show_outcome(self, notices: Sequence[str], error: ZkchatError | None = None) -> None:
        """Show the notices of a turn, and why it failed."""
        failure = (
            f"<p class='problem'>✗ {escape(error.message)}</p><p>{escape(error.hint)}</p>"
            if error is not None
            else ""
        )
        self.show_html((lines_html((), "\n\n".join(notices)) if notices else "") + failure)

    def ask(
        self, question: str, lines: Iterable[StyledLine], answered: Callable[[bool], object]
    ) -> None:
        self._answered = answered
        self.show_html(lines_html([styled_line(question, "bold"), *lines]))
        self.buttons[-1].setFocus()

    def answer(self, *, yes: bool) -> None:
        self.hide()
        self._answered(yes)


class ConversationPanel(QtWidgets.QWidget):
    """A search, and below it the conversations that it finds."""

    chosen = Signal(str)  # the id of a conversation

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
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.search)
        column.addWidget(self.list)

    @property
    def selected(self) -> tuple[str, str] | None:
        """The id and the title of the selected conversation."""
        item = self.list.currentItem()
        return (item.data(_ID), item.text().partition("\n")[0]) if item is not None else None

    def show_conversations(self, found: Iterable[ConversationOverview], current_id: str) -> None:
        with QSignalBlocker(self.list):
            self.list.clear()
            for each in found:
                item = QtWidgets.QListWidgetItem(
                    f"{display_title(each)}\n{size_and_time(each)}", self.list
                )
                item.setData(_ID, each.id)
                if each.id == current_id:
                    self.list.setCurrentItem(item)


class ReferencePanel(QtWidgets.QSplitter):
    """One row for each source of the selected turn, and the passage of the selected one in its
    note.
    """

    # The key of a row that was double-clicked; empty for a broken link
    opened = Signal(str)
    # The key of the selected row, to show its passage
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
        if items == self.items:
            return
        self.items = items
        with QSignalBlocker(self.list):
            self.list.clear()
            self.list.addItems([f"{_item_text(item)}\n{item.verdict}" for item in items])
        self.passage.clear()

    def select_number(self, number: str) -> None:
        self.list.setCurrentRow(
            next((n for n, item in enumerate(self.items) if item.key == number), -1)
        )

    def _select(self, number: int) -> None:
        if number >= 0 and self.items[number].key:
            self.selected.emit(self.items[number].key)
        else:
            self.passage.show_html(
                f"<p class='problem'>{escape(_item_text(self.items[number]))}</p>"
                if number >= 0
                else ""
            )


def _item_text(item: SourceItem) -> str:
    return "\n".join(plain_text([line]).strip() for line in item.lines)


class BudgetLabel(QtWidgets.QLabel):
    """The next prompt's tokens against the window, with cells in the color of each component. The
    bar is a link.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.setAccessibleName("Context budget")
        self.components: dict[str, int] = {}  # tokens by component
        self._usage: ContextUsage | None = None

    def show_usage(self, usage: ContextUsage | None, more: int = 0) -> None:
        """`more` are tokens of an answer that is being written; they count as conversation. Without
        `usage`, the last one stays.
        """
        self._usage = usage = usage or self._usage
        if usage is None:
            return
        counts = [
            ("system", usage.system_tokens),
            ("tools", usage.tool_tokens),
            *usage.message_breakdown.items(),
        ]
        self.components = {name.replace("_", " "): tokens for name, tokens in counts}
        self.components["conversation"] += more
        bar = BudgetBar(usage.total_tokens + more, usage.effective_limit, estimated=usage.estimated)
        cells = "".join(
            f"<font color='{color}'>{'█' * round(CELLS * tokens / max(1, bar.limit))}</font>"
            for color, tokens in zip(_COLORS, self.components.values(), strict=True)
        )
        empty = bar.bar.count("░") * "░"
        figures = f"{bar.figures} ({bar.percent})"
        color = {"yellow": "darkorange", "red": "crimson"}.get(bar.color, "grey")
        self.setText(
            f"<a href='context' style='text-decoration: none'>{cells}<font "
            f"color='{color}'>{empty}</font></a> {figures}"
        )
        words = ", ".join(
            f"{name} {tokens:,}" for name, tokens in self.components.items() if tokens
        )
        self.setToolTip(f"{words}. Click for the context and the exact prompt.")
        self.setAccessibleDescription(f"{figures}: {words}")


class InputBox(QtWidgets.QPlainTextEdit):
    # The text when Enter is pressed, even if it cannot be sent now
    sent = Signal(str)
    remembered = Signal(str)
    # The text before and the text after the cursor
    completion_wanted = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Message")
        self.setPlaceholderText(
            "Ask your notes. Enter sends, Alt+Enter starts a line; / [[ # and @ complete."
        )
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * 5)
        self.history: list[str] = []  # newest first
        self._at = -1
        self._draft = ""
        self._offers: Sequence[Suggestion] = ()
        self._completer = QtWidgets.QCompleter(QStringListModel(self), self)
        self._completer.setCompletionMode(
            QtWidgets.QCompleter.CompletionMode.UnfilteredPopupCompletion
        )
        self._completer.setWidget(self)
        # Qt's own: a plain list could be edited, and has a scroll bar over its last row
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
        self._completer.setModel(
            QStringListModel(
                [f"{each.label or each.text}   {each.description}".rstrip() for each in offers],
                self,
            )
        )
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
        if match_typed(before := self._before) is not None:
            self.completion_wanted.emit(before, self.toPlainText()[len(before) :])
        else:
            self._popup.hide()

    def _accept(self, row: int) -> None:
        offer = self._offers[max(0, row)]
        cursor = self.textCursor()
        replaced = self._before[len(self._before) - offer.replaced :]
        cursor.setPosition(
            cursor.position() - len(replaced.encode("utf-16-le")) // 2,
            QTextCursor.MoveMode.KeepAnchor,
        )
        cursor.insertText(offer.text)
        self._popup.hide()

    def eventFilter(self, watched: object, event: QEvent) -> bool:  # noqa: N802
        """While completions are shown, Tab and Enter take one; other keys are typed as usual."""
        if (
            watched is self._popup
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
        ):
            if event.key() == Qt.Key.Key_Tab or (
                event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers()
            ):
                self._accept(self._popup.currentIndex().row())
                return True
            if event.key() == Qt.Key.Key_Escape:
                self._popup.hide()
                return True
        return super().eventFilter(watched, event)  # type: ignore[arg-type]

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key = event.key()
        modifiers = event.modifiers() & _MODIFIERS
        line = self.textCursor().blockNumber()
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
        self._at = -1
        self._draft = ""
        self.clear()

    def _recall(self, at: int) -> None:
        """Show a line of the history, or with -1 what was typed before."""
        if self._at < 0:
            self._draft = self.toPlainText()
        self._at = at
        with QSignalBlocker(self):
            self.set_text(self.history[at] if at >= 0 else self._draft)
