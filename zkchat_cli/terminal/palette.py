"""Colors that can be read on the terminal's background."""

from collections.abc import Mapping

Palette = Mapping[str, int]
"""A color of xterm's 256 for each style name, with a contrast of at least 4.5 (WCAG AA) to the
background.

A theme decides what the first sixteen colors look like: on a light background green, yellow and
cyan are often unreadable.
"""
DARK: Palette = {"green": 114, "yellow": 221, "red": 210, "cyan": 80, "magenta": 183, "dim": 248}
LIGHT: Palette = {"green": 22, "yellow": 94, "red": 124, "cyan": 24, "magenta": 90, "dim": 240}
EITHER: Palette = {"green": 29, "yellow": 131, "red": 163, "cyan": 63, "magenta": 98, "dim": 243}
"""For an unknown background: equally readable on black and on white."""


def choose_palette(background: str, env: Mapping[str, str]) -> Palette | None:
    """The colors for a `dark` or `light` background; any other word means the one that the
    environment tells.

    None for a terminal without 256 colors, which uses its own sixteen.
    """
    if "256color" not in env.get("TERM", "") and env.get("COLORTERM") not in ("truecolor", "24bit"):
        return None
    # Konsole, rxvt and others set this variable
    _, _, number = env.get("COLORFGBG", "").rpartition(";")
    if background not in ("dark", "light") and number.isdecimal():
        background = "light" if number in ("7", "15") else "dark"
    return {"dark": DARK, "light": LIGHT}.get(background, EITHER)
