"""Sanitized text cannot act on a terminal."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.text.sanitize import sanitize, sanitize_name

ANYTHING = st.text(st.characters(codec=None), max_size=50) | st.text(
    st.sampled_from("\x00\x07\x08\x1b\r\n\t\x7f\x85\x9b\u202e\u2028a")
)


@given(ANYTHING)
def test_only_newline_and_tab_are_left_of_the_control_characters(text: str) -> None:
    assert {c for c in sanitize(text) if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")} <= {
        "\n",
        "\t",
    }


@given(ANYTHING)
def test_a_name_stays_on_one_line(text: str) -> None:
    assert not {c for c in sanitize_name(text) if unicodedata.category(c) == "Cc"}


def test_control_characters_stay_visible() -> None:
    assert sanitize("\x1b]0;title\x07 \x9b2J \u202eabc") == "␛]0;title␇ �2J �abc"


def test_windows_line_ends_are_line_ends_and_a_lone_return_is_not() -> None:
    assert sanitize("a\r\nb\rc") == "a\nb␍c"
