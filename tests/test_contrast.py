"""Colors of text have a contrast of at least 4.5 (WCAG 2.2 AA, 1.4.3) on the backgrounds that
people use.

The colors are xterm's from number 16 on, which do not depend on the terminal's theme. The HTML page
has its own test.
"""

import io
import re

import pytest
from rich.color import Color

from zkchat_cli.terminal import input_line
from zkchat_cli.terminal.palette import DARK, EITHER, LIGHT, Palette, choose_palette
from zkchat_cli.terminal.screen import _SGR, Screen
from zkchat_cli.views.text import styled_line

DARK_BACKGROUNDS = ("#000000", "#0c0c0c", "#1e1e1e", "#282c34", "#300a24", "#002b36", "#303030")
"""Of xterm, Windows Terminal, VS Code, One Dark, Ubuntu, Solarized, and a lighter one."""
LIGHT_BACKGROUNDS = ("#ffffff", "#fafafa", "#eeeeee", "#fdf6e3")
"""The last is Solarized's."""


def luminance(color: tuple[int, ...]) -> float:
    linear = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in (part / 255 for part in color)
    ]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def parsed(color: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(color.removeprefix("#")))


@pytest.mark.parametrize(
    ("palette", "backgrounds"),
    [(DARK, DARK_BACKGROUNDS), (LIGHT, LIGHT_BACKGROUNDS), (EITHER, ("#000000", "#ffffff"))],
)
def test_every_color_is_readable_on_its_backgrounds(
    palette: Palette, backgrounds: tuple[str, ...]
) -> None:
    figures = {
        (name, on): contrast(Color.from_ansi(number).get_truecolor(), parsed(on))
        for name, number in palette.items()
        for on in backgrounds
    }
    assert {name: round(figure, 2) for name, figure in figures.items() if figure < 4.5} == {}


def test_every_style_with_a_color_is_in_each_palette() -> None:
    used = set(_SGR)
    for palette in (DARK, LIGHT, EITHER):
        assert used - set(palette) == {"bold"}
        assert palette.keys() == DARK.keys()


def test_the_chosen_row_of_the_completion_menu_is_readable() -> None:
    back, front = re.findall(r"#\w{6}", input_line.STYLE["completion-menu.completion.current"])
    assert contrast(parsed(back), parsed(front)) >= 4.5


@pytest.mark.parametrize(
    ("background", "env", "palette"),
    [
        ("light", {"TERM": "xterm-256color"}, LIGHT),
        ("dark", {"TERM": "xterm", "COLORTERM": "truecolor", "COLORFGBG": "0;15"}, DARK),
        ("auto", {"TERM": "xterm-256color", "COLORFGBG": "0;default;15"}, LIGHT),
        ("auto", {"TERM": "xterm-256color", "COLORFGBG": "15;0"}, DARK),
        ("auto", {"TERM": "xterm-256color"}, EITHER),
        ("light", {"TERM": "linux"}, None),
    ],
)
def test_the_setting_or_the_terminal_says_what_the_background_is(
    background: str, env: dict[str, str], palette: Palette | None
) -> None:
    assert choose_palette(background, env) == palette


def test_a_screen_writes_the_colors_of_its_palette_with_and_without_rich() -> None:
    out = io.StringIO()
    screen = Screen(out, out, color=True, err_is_terminal=False, palette=LIGHT)
    screen.print("ok", "green")
    screen.show(
        [styled_line("quiet", "dim"), styled_line("note", "cyan"), styled_line("why", "comment")]
    )
    assert re.findall(r"38;5;(\d+)m(\w+)", out.getvalue()) == [
        ("22", "ok"),
        ("240", "quiet"),
        ("24", "note"),
        ("240", "why"),
    ]
