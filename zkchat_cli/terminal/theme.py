"""What styles look like: names of looks become the numbers that terminals know (SGR). No look is ever the only sign of anything.

Without knowing the background, only colours are used that read on both: the terminal is not asked, because one that does not answer would
have to be waited for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

_EITHER = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "strike": "9",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
    "heading1": "1;4",
    "heading2": "1",
    "heading3": "1;3",
    "frame": "2",
    "marker": "36",
    "code": "36",
    "link": "4",
    "address": "2",
    "note": "36",
    "citation": "36",
    "code-comment": "2;3",
    "code-keyword": "35",
    "code-name": "1",
    "code-string": "32",
    "code-number": "36",
    "code-deleted": "31",
}
_DARK = {
    "yellow": "93",
    "code-keyword": "95",
    "code-name": "94",
    "code-string": "92",
    "code-number": "96",
    "heading1": "1;4;96",
    "heading2": "1;96",
}
_LIGHT = {
    "yellow": "38;5;130",
    "green": "38;5;28",
    "cyan": "38;5;25",
    "marker": "38;5;25",
    "code": "38;5;25",
    "note": "38;5;25",
    "citation": "38;5;25",
    "code-keyword": "38;5;90",
    "code-name": "38;5;25",
    "code-string": "38;5;28",
    "code-number": "38;5;130",
    "heading1": "1;4;38;5;25",
    "heading2": "1;38;5;25",
}
_LIGHT_BACKGROUNDS = ("7", *map(str, range(9, 16)))
"""As `COLORFGBG` (rxvt, Konsole and others set it) numbers them."""
_LIKE = (
    ("›…✓✗○·•│┊─┼█░", (">", "...", "+", "x", "o", "-", "-", "|", ":", "-", "+", "#", ".")),
    ("“”»«☐☑×→–", ('"', '"', ">>", "<<", "[ ]", "[x]", "x", "->", "-")),
)
_ASCII = str.maketrans({sign: plain for signs, plains in _LIKE for sign, plain in zip(signs, plains, strict=True)})
_DRAWN = "›…✓✗○·•│┊─┼█░☐☑»«⠋"


@dataclass(frozen=True, slots=True)
class Theme:
    """The looks of one background, by name."""

    looks: Mapping[str, str] = field(default_factory=lambda: _EITHER)

    def sgr(self, style: str) -> str:
        """The numbers of all looks that `style` names; empty for plain text."""
        return _sgr(style, tuple(self.looks.items()))


@lru_cache(maxsize=512)
def _sgr(style: str, looks: tuple[tuple[str, str], ...]) -> str:
    known = dict(looks)
    return ";".join(dict.fromkeys(known[name] for name in style.split()))


EITHER, DARK, LIGHT = Theme(_EITHER), Theme({**_EITHER, **_DARK}), Theme({**_EITHER, **_LIGHT})


def chosen(setting: str, env: Mapping[str, str]) -> Theme:
    """The theme that `terminal.theme` names; `auto` is what the environment says of the background, or fits any."""
    if setting == "auto" and (told := env.get("COLORFGBG")):
        setting = "light" if told.rpartition(";")[2] in _LIGHT_BACKGROUNDS else "dark"
    return {"dark": DARK, "light": LIGHT}.get(setting, EITHER)


def in_ascii(text: str) -> str:
    """The signs that zkchat draws, in ASCII; all other text as it is."""
    return text.translate(_ASCII)


def can_say(encoding: str | None) -> bool:
    """Whether what zkchat draws can be written in this encoding."""
    try:
        _DRAWN.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
