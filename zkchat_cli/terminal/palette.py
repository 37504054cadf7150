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


# xterm's colors from 16 on are a cube with these steps, then grays
_FIRST_OF_CUBE = 16
_CUBE_STEPS = (0, 95, 135, 175, 215, 255)
_FIRST_GRAY = 232
_GRAY_BRIGHTNESS = 8
_GRAY_STEP = 10


def color_code(number: int) -> str:
    """One of xterm's colors from 16 on in the form `#5fd787`, which prompt_toolkit takes."""
    if number >= _FIRST_GRAY:
        brightness = _GRAY_BRIGHTNESS + _GRAY_STEP * (number - _FIRST_GRAY)
        return f"#{brightness:02x}{brightness:02x}{brightness:02x}"
    steps = len(_CUBE_STEPS)
    red, rest = divmod(number - _FIRST_OF_CUBE, steps * steps)
    green, blue = divmod(rest, steps)
    return f"#{_CUBE_STEPS[red]:02x}{_CUBE_STEPS[green]:02x}{_CUBE_STEPS[blue]:02x}"


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
