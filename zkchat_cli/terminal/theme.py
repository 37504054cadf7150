"""The styles of the terminal by name, for a dark, a light and an unknown background. A style is never the only sign of something.

With an unknown background, only colours are used that can be read on both. zkchat does not ask the terminal for its background: it would
have to wait for terminals that do not answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import rich.theme

_EITHER = {
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
    "code-comment": "dim italic",
    "code-keyword": "magenta",
    "code-name": "bold",
    "code-string": "green",
    "code-number": "cyan",
    "code-deleted": "red",
}
_DARK = {
    "yellow": "bright_yellow",
    "heading1": "bold underline bright_cyan",
    "heading2": "bold bright_cyan",
    "code-keyword": "bright_magenta",
    "code-name": "bright_blue",
    "code-string": "bright_green",
    "code-number": "bright_cyan",
}
_LIGHT = {
    **dict.fromkeys(("cyan", "marker", "code", "note", "citation", "code-name"), "color(25)"),
    **dict.fromkeys(("green", "code-string"), "color(28)"),
    **dict.fromkeys(("yellow", "code-number"), "color(130)"),
    "code-keyword": "color(90)",
    "heading1": "bold underline color(25)",
    "heading2": "bold color(25)",
}
_LIGHT_BACKGROUNDS = ("7", *map(str, range(9, 16)))
"""The light colours in the numbering of `COLORFGBG`, which rxvt, Konsole and others set."""
_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_SGR = {
    **{"bold": "1", "dim": "2", "italic": "3", "underline": "4", "strike": "9"},
    **{name: str(30 + number) for number, name in enumerate(_COLOURS)},
    **{f"bright_{name}": str(90 + number) for number, name in enumerate(_COLOURS)},
}
_SYMBOLS = (
    ("›…✓✗○·•│┊─┼█░", (">", "...", "+", "x", "o", "-", "-", "|", ":", "-", "+", "#", ".")),
    ("“”»«☐☑×→–", ('"', '"', ">>", "<<", "[ ]", "[x]", "x", "->", "-")),
)
_ASCII = str.maketrans({symbol: plain for symbols, plains in _SYMBOLS for symbol, plain in zip(symbols, plains, strict=True)})
_REQUIRED = "›…✓✗○·•│┊─┼█░☐☑»«⠋"


@dataclass(frozen=True, slots=True)
class Theme:
    """Styles by name, in the style language of rich."""

    styles: Mapping[str, str] = field(default_factory=lambda: _EITHER)

    def sgr(self, style: str) -> str:
        """The numbers of the escape sequence for the named styles; the first prompt is drawn with them because rich costs 40 ms."""
        words = " ".join(self.styles.get(name, name) for name in style.split()).split()
        return ";".join(dict.fromkeys(_SGR.get(word) or f"38;5;{word[6:-1]}" for word in words))

    def for_rich(self) -> "rich.theme.Theme":
        """These styles for a rich console."""
        from rich.theme import Theme as RichTheme  # deferred: see `sgr`

        return RichTheme(dict(self.styles))


EITHER, DARK, LIGHT = Theme(_EITHER), Theme({**_EITHER, **_DARK}), Theme({**_EITHER, **_LIGHT})


def choose_theme(setting: str, env: Mapping[str, str]) -> Theme:
    """The theme that `terminal.theme` names; `auto` follows `COLORFGBG`, and without it takes the one for any background."""
    if setting == "auto" and (background := env.get("COLORFGBG")):
        setting = "light" if background.rpartition(";")[2] in _LIGHT_BACKGROUNDS else "dark"
    return {"dark": DARK, "light": LIGHT}.get(setting, EITHER)


def to_ascii(text: str) -> str:
    """The symbols that zkchat draws, in ASCII; all other text unchanged."""
    return text.translate(_ASCII)


def can_encode_symbols(encoding: str | None) -> bool:
    """Whether the symbols that zkchat draws exist in this encoding."""
    try:
        _REQUIRED.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
