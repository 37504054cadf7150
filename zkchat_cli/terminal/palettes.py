"""The colors of text on a terminal, with a contrast of at least 4.5 (WCAG AA) to its background.

They are numbers of xterm's 256 colors, which look the same in every terminal; what the first sixteen look like, each theme decides, and on
a light background green, yellow and cyan are often unreadable. They are used only where a terminal says that it has 256 colors.
"""

from collections.abc import Mapping
from types import MappingProxyType

Palette = Mapping[str, int]
"""The number of each color by the name of its style."""
DARK: Palette = MappingProxyType({"green": 114, "yellow": 221, "red": 210, "cyan": 80, "magenta": 183, "dim": 248})
LIGHT: Palette = MappingProxyType({"green": 22, "yellow": 94, "red": 124, "cyan": 24, "magenta": 90, "dim": 240})
EITHER: Palette = MappingProxyType({"green": 29, "yellow": 131, "red": 163, "cyan": 63, "magenta": 98, "dim": 243})
"""For a background that is not known: as readable on black as on white."""
_LEVELS = (0, 95, 135, 175, 215, 255)
_LIGHT_NUMBERS = ("7", "15")


def choose_palette(background: str, env: Mapping[str, str]) -> Palette | None:
    """The colors for a `dark` or `light` background, or for that which the environment tells; None: the terminal's own sixteen."""
    if "256color" not in env.get("TERM", "") and env.get("COLORTERM") not in ("truecolor", "24bit"):
        return None
    known = {"dark": DARK, "light": LIGHT}
    if background in known:
        return known[background]
    number = env.get("COLORFGBG", "").rpartition(";")[2]  # set by Konsole, rxvt and others
    return (LIGHT if number in _LIGHT_NUMBERS else DARK) if number.isdecimal() else EITHER


def rgb(number: int) -> tuple[int, int, int]:
    """Red, green and blue of a color from number 16 on."""
    if number >= 232:
        return (8 + 10 * (number - 232),) * 3
    cube = number - 16
    return _LEVELS[cube // 36], _LEVELS[cube // 6 % 6], _LEVELS[cube % 6]
