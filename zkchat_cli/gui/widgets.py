"""Widgets around the transcript: panels for results of commands, errors and questions, the references of the selected turn, the budget bar.

What they show is HTML in the colors of the exported page, dark or light as the desktop is.
"""

from collections.abc import Callable, Iterable, Sequence
from html import escape

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPainter, QPaintEvent, QPalette

from zkchat_cli.errors import ZkchatError
from zkchat_cli.exporters import html
from zkchat_cli.models import ContextUsage
from zkchat_cli.views.sources import BROKEN, ReferenceRow
from zkchat_cli.views.text import BudgetBar, StyledLine, StyledSpan, styled_line

HEIGHT = 190
BAR_WIDTH = 130
YES, MORE, NO = "yes", "more", "no"
_CLASSES = {"green": "verified", "yellow": "cut", "red": "misquoted", "dim": "quiet", "cyan": "link", "bold": "bold"}
"""The style sheet's class for each style of a view."""
_HUES = {"system": 210, "tools": 270, "summary": 40, "memory": 320, "documents": 175, "recalled": 20, "tool results": 240}


def is_dark(palette: QPalette) -> bool:
    return palette.base().color().lightness() < 128


def fixed_font() -> QFont:
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)


def lines_html(lines: Iterable[StyledLine], text: str = "") -> str:
    """Text and styled lines as preformatted HTML; what the terminal aligns in a second column follows after three spaces."""
    shown = [escape(text)] if text else []
    for line in lines:
        written = ""
        for span in (*line.left, StyledSpan("   "), *line.right) if line.right else line.left:
            classes = "quoted" if span.quoted else " ".join(_CLASSES[word] for word in span.style.split() if word in _CLASSES)
            written += f"<span class='{classes}'>{escape(span.text)}</span>" if classes else escape(span.text)
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
        """Show it with a style sheet in the part of CSS that Qt knows."""
        self._html = text
        c = html.colors(dark=is_dark(self.palette()))
        verdicts = ("verified", "cited", "cut", "misquoted", "missing")
        rules = (
            f"h2 {{ color: {c['quiet']}; font-size: small; margin-top: 14px; margin-bottom: 2px; }}",
            "h3, h4, h5, h6 { font-size: medium; margin-top: 10px; margin-bottom: 4px; }",
            f"a {{ color: {c['link']}; text-decoration: none; }} .sign, .bold {{ font-weight: bold; }}",
            *(f".{name} .sign, span.{name} {{ color: {c[name]}; }}" for name in verdicts),
            f".user .prose, pre {{ background-color: {c['raised']}; }} code, pre {{ font-family: monospace; }}",
            f".call, .note, .unused {{ color: {c['quiet']}; font-size: small; }} blockquote, .quiet {{ color: {c['quiet']}; }}",
            f"table {{ border-collapse: collapse; }} td, th {{ padding: 3px; border: 1px solid {c['line']}; }}",
            f".quoted {{ background-color: {c['marked']}; color: {c['on-marked']}; }}",
            f".link {{ color: {c['link']}; }} .problem {{ color: {c['misquoted']}; font-weight: bold; }}",
            "pre.lines { white-space: pre-wrap; background-color: transparent; }",
        )
        self.document().setDefaultStyleSheet("".join(rules))
        self.setHtml(text)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802  Qt's name
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._html:
            self.restyle()

    def restyle(self) -> None:
        self.show_html(self._html)


class Panel(QtWidgets.QFrame):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.setFrameShape(QtWidgets.QFrame.Shape.StyledPanel)
        self.text = StyledBrowser(name)
        self.text.document().setDefaultFont(fixed_font())
        self.grid = QtWidgets.QGridLayout(self)
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
        close = QtWidgets.QToolButton()
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
        self._answered: Callable[[str, str], object] = lambda *_: None
        self.yes, self.more, self.no = (QtWidgets.QPushButton(label) for label in ("&Yes", "", "&No"))
        self.typed = QtWidgets.QLineEdit()
        self.typed.setPlaceholderText("No, because …")
        self.typed.setAccessibleName("Why not")
        self.typed.returnPressed.connect(lambda: self.answer(NO))
        for column, (button, answer) in enumerate(((self.yes, YES), (self.more, MORE), (self.no, NO))):
            button.clicked.connect(lambda _=False, answer=answer: self.answer(answer))
            self.grid.addWidget(button, 1, column)
        self.grid.addWidget(self.typed, 2, 0, 1, 4)
        self.grid.setColumnStretch(3, 1)

    def ask(self, text: str, answered: Callable[[str, str], object], lines: Sequence[StyledLine] = (), more: str = "") -> None:
        """Ask, and call `answered` with YES, MORE or NO and the reason that was typed. `more` labels a third answer; only a question with
        one takes a reason."""
        self._answered = answered
        self.show_html(lines_html([styled_line(text, "bold"), *lines]))
        self.more.setText(more)
        self.typed.clear()
        for widget in (self.more, self.typed):
            widget.setVisible(bool(more))
        self.no.setFocus()

    def answer(self, answer: str) -> None:
        self.hide()
        self._answered(answer, self.typed.text().strip())


class ReferencePanel(QtWidgets.QSplitter):
    """One row for each source of the selected turn, and the passage of the selected one in its note."""

    opened = Signal(str)  # the key of a row that was double-clicked; empty for a broken link
    selected = Signal(str)  # the key of the selected row, to show its passage

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self.rows: list[ReferenceRow] = []
        self.list = QtWidgets.QListWidget()
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


class BudgetButton(QtWidgets.QAbstractButton):
    """The next prompt's tokens against the window, one segment for each component."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Context budget")
        self.components: dict[str, int] = {}  # tokens by component
        self._usage: ContextUsage | None = None
        self._bar = BudgetBar(0, 0)

    def show_usage(self, usage: ContextUsage | None, more: int = 0) -> None:
        """`more` are tokens of an answer that is being written; they count as conversation. Without `usage`, the last one stays."""
        self._usage = usage = usage or self._usage
        if usage is None:
            return
        counts = {"system": usage.system_tokens, "tools": usage.tool_tokens, **usage.message_breakdown.model_dump()}
        self.components = {name.replace("_", " "): tokens for name, tokens in counts.items()}
        self.components["conversation"] += more
        self._bar = BudgetBar(usage.total_tokens + more, usage.effective_limit, estimated=usage.estimated)
        self.setText(f"{self._bar.figures} ({self._bar.percent})")
        words = ", ".join(f"{name} {tokens:,}" for name, tokens in self.components.items() if tokens)
        self.setToolTip(f"{words}. Click for the context and the exact prompt.")
        self.setAccessibleDescription(f"{self.text()}: {words}")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        return QSize(BAR_WIDTH + self.fontMetrics().horizontalAdvance(self.text()) + 16, self.fontMetrics().height() + 6)

    def paintEvent(self, _: QPaintEvent) -> None:  # noqa: N802  Qt's name
        painter, dark = QPainter(self), is_dark(self.palette())
        colors = html.colors(dark=dark)
        at, top, height = 4.0, self.height() / 2 - 5, 10.0
        painter.fillRect(QRectF(at, top, BAR_WIDTH, height), QColor(colors["line"]))
        for name, tokens in self.components.items():
            width = min(BAR_WIDTH * tokens / max(1, self._bar.limit), BAR_WIDTH + 4 - at)
            painter.fillRect(QRectF(at, top, width, height), QColor.fromHsl(_HUES.get(name, 130), 150, 150 if dark else 110))
            at += width
        figures = {"green": self.palette().buttonText().color().name(), "yellow": colors["cut"], "red": colors["misquoted"]}
        painter.setPen(QColor(figures[self._bar.color]))
        painter.drawText(QRectF(BAR_WIDTH + 10, 0, self.width(), self.height()), Qt.AlignmentFlag.AlignVCenter, self.text())
        if self.hasFocus():
            painter.setPen(QColor(colors["link"]))
            painter.drawRect(0, 0, self.width() - 1, self.height() - 1)
