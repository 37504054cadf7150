"""The style sheet of all text in the window, dark and light, in the colors of the exported page."""

from collections.abc import Iterable
from html import escape

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QTextBrowser

from zkchat_cli.exporters import html
from zkchat_cli.views.text import StyledLine, StyledSpan

_NAMES = {"green": "verified", "yellow": "cut", "red": "misquoted", "dim": "quiet", "cyan": "link", "bold": "bold"}
"""The style sheet's class for each style of a view."""


def is_dark(palette: QPalette) -> bool:
    return palette.base().color().lightness() < 128


def fixed_font() -> QFont:
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)


def document_style(*, dark: bool) -> str:
    """A style sheet in the part of CSS that Qt knows."""
    c = html.colors(dark=dark)
    verdicts = ("verified", "cited", "cut", "misquoted", "missing")
    return "".join(
        (
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
    )


class StyledBrowser(QTextBrowser):
    """HTML in the colors of the desktop's theme, also when that changes."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setOpenLinks(False)
        self._html = ""

    def show_html(self, text: str) -> None:
        self._html = text
        self.document().setDefaultStyleSheet(document_style(dark=is_dark(self.palette())))
        self.setHtml(text)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802  Qt's name
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._html:
            self.restyle()

    def restyle(self) -> None:
        self.show_html(self._html)


def lines_html(lines: Iterable[StyledLine], text: str = "") -> str:
    """Text and styled lines as preformatted HTML; what the terminal aligns in a second column follows after three spaces."""
    spans = ((*each.left, StyledSpan("   "), *each.right) if each.right else each.left for each in lines)
    shown = [*([escape(text)] if text else []), *("".join(map(_span, line)) for line in spans)]
    return f"<pre class='lines'>{chr(10).join(shown)}</pre>"


def _span(span: StyledSpan) -> str:
    classes = "quoted" if span.quoted else " ".join(_NAMES[word] for word in span.style.split() if word in _NAMES)
    return f"<span class='{classes}'>{escape(span.text)}</span>" if classes else escape(span.text)
