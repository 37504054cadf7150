"""Colours and the HTML of styled lines, in the colours of the exported page, so that dark and light are the same everywhere."""

from collections.abc import Iterable, Mapping
from html import escape

from PySide6.QtGui import QPalette

from zkchat_cli.exporters import html
from zkchat_cli.views.text import StyledLine, StyledSpan

_NAMES = {"green": "verified", "yellow": "cut", "red": "misquoted", "dim": "quiet", "cyan": "link"}
"""The page's colour for each style of a view."""


def is_dark(palette: QPalette) -> bool:
    return palette.base().color().lightness() < 128


def document_style(*, dark: bool) -> str:
    """The style sheet of transcripts, in the part of CSS that Qt knows."""
    c = html.colours(dark=dark)
    verdicts = "".join(f".{name} .sign {{ color: {c[name]}; }}" for name in ("verified", "cited", "cut", "misquoted", "missing"))
    return (
        f"h2 {{ color: {c['quiet']}; font-size: small; margin-top: 14px; margin-bottom: 2px; }}"
        "h3, h4, h5, h6 { font-size: medium; margin-top: 10px; margin-bottom: 4px; }"
        f"a {{ color: {c['link']}; text-decoration: none; }} .sign {{ font-weight: bold; }} {verdicts}"
        f".user .prose {{ background-color: {c['raised']}; }} pre {{ background-color: {c['raised']}; }} "
        "code, pre { font-family: monospace; }"
        f".call, .note, .unused {{ color: {c['quiet']}; font-size: small; }} blockquote {{ color: {c['quiet']}; }}"
        f"td, th {{ padding: 3px; }} mark, .quoted {{ background-color: {c['marked']}; color: {c['on-marked']}; }}"
        f".problem {{ color: {c['misquoted']}; font-weight: bold; }}"
    )


def lines_html(lines: Iterable[StyledLine], *, dark: bool) -> str:
    """Styled lines as preformatted HTML; what the terminal aligns in a second column follows after three spaces."""
    colours = html.colours(dark=dark)
    spans = ((*each.left, StyledSpan("   "), *each.right) if each.right else each.left for each in lines)
    texts = ("".join(_span(span, colours) for span in line) for line in spans)
    return f"<pre style='white-space: pre-wrap'>{chr(10).join(texts)}</pre>"


def _span(span: StyledSpan, colours: Mapping[str, str]) -> str:
    text = escape(span.text)
    if span.quoted:
        return f"<span class='quoted'>{text}</span>"
    words = span.style.split()
    css = "".join(f"color: {colours[_NAMES[word]]};" for word in words if word in _NAMES)
    css += "font-weight: bold;" if "bold" in words else ""
    return f"<span style='{css}'>{text}</span>" if css else text
