"""The styles of the terminal by name, readable on a dark and on a light background. A style is never the only sign of something."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import rich.theme

STYLES = {
    "heading1": "bold underline",
    "heading2": "bold",
    "heading3": "bold italic",
    "frame": "dim",
    "marker": "cyan",
    "code": "cyan",
    "link": "underline",
    "address": "dim",
    "note": "cyan",
    "citation": "cyan",
}
_SGR = {
    **{"bold": "1", "dim": "2", "italic": "3", "underline": "4", "strike": "9"},
    **{"red": "31", "green": "32", "yellow": "33", "magenta": "35", "cyan": "36"},
}


def sgr(style: str) -> str:
    """The numbers of the escape sequence for a style; the first prompt is drawn with them because rich costs 40 ms."""
    return ";".join(_SGR[word] for word in style.split())


def rich_theme() -> "rich.theme.Theme":
    """The styles for a rich console."""
    from rich.theme import Theme  # deferred: see `sgr`

    return Theme(STYLES)
