"""Text in the window: HTML in the colors of the exported page, dark or light like the desktop."""

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent
from PySide6.QtGui import QFont, QFontDatabase

from zkchat_cli.exporters import html
from zkchat_cli.views.text import StyledLine, StyledSpan

_CLASSES = {
    "green": "verified",
    "yellow": "cut",
    "red": "misquoted",
    "dim": "quiet",
    "cyan": "link",
    "bold": "bold",
}
"""The class in the style sheet for each style of a view."""
_STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
_COLOR = re.compile(r"var\(--([a-z-]+)\)")
# Lightness (0 to 255) below which the desktop's background makes a dark theme
_DARK_BELOW = 128


class StyledBrowser(QtWidgets.QTextBrowser):
    """Shows HTML in the colors of the desktop's theme, also when the theme changes."""

    def __init__(self, name: str) -> None:
        """Make an empty browser; `name` is its name for screen readers."""
        super().__init__()
        self.setAccessibleName(name)
        self.setOpenLinks(False)
        self._html = ""

    def show_html(self, text: str) -> None:
        """Show this HTML instead of what was shown before."""
        self._html = text
        colors = html.colors(dark=self.palette().base().color().lightness() < _DARK_BELOW)
        self.document().setDefaultStyleSheet(_COLOR.sub(lambda found: colors[found[1]], _STYLE))
        self.setHtml(text)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._html:
            self.restyle()

    def restyle(self) -> None:
        """Show the same HTML again, in the current colors."""
        self.show_html(self._html)


def lines_html(lines: Iterable[StyledLine], text: str = "") -> str:
    """Text and styled lines as preformatted HTML.

    What the terminal aligns in a second column follows after three spaces.
    """
    shown = []
    if text:
        shown.append(escape(text))
    for line in lines:
        spans = line.left
        if line.right:
            spans = (*line.left, StyledSpan("   "), *line.right)
        shown.append("".join(map(_span_html, spans)))
    joined = "\n".join(shown)
    return f"<pre class='lines'>{joined}</pre>"


def _span_html(span: StyledSpan) -> str:
    classes = [_CLASSES[word] for word in span.style.split() if word in _CLASSES]
    if span.quoted:
        classes = ["quoted"]
    if not classes:
        return escape(span.text)
    return f"<span class='{' '.join(classes)}'>{escape(span.text)}</span>"


def fixed_font() -> QFont:
    """The desktop's font with characters of equal width."""
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
