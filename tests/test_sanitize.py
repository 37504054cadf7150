"""Sanitized text cannot act on a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.text.hidden_characters import is_hidden
from zkchat_cli.text.sanitize import reveal_invisible, sanitize, sanitize_name

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


@pytest.mark.untraced
def test_no_character_that_does_not_show_is_left_in_a_name_or_unseen_in_a_question() -> None:
    hidden = list(filter(is_hidden, map(chr, range(0x110000))))
    assert len(hidden) > 4_000
    for character in hidden:
        name = f"Road{character}map"
        assert not any(map(is_hidden, sanitize_name(name)))
        shown = reveal_invisible(name)
        assert not any(is_hidden(each) and each not in "\n\t" for each in shown)
        assert shown != "Roadmap"


@pytest.mark.parametrize(
    "name",
    [
        "👩‍❤️‍👨",
        "1️⃣ Start",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        "می‌خواهم",
        "क्‍ष",
        "葛\U000e0100城",
        "ภาษา\u200bไทย",
    ],
)
def test_what_emoji_and_scripts_need_stays(name: str) -> None:
    assert sanitize_name(name) == reveal_invisible(name) == name


def test_many_marks_behind_one_character_are_shown_to_who_approves() -> None:
    assert reveal_invisible("😀" + "\ufe0f\ufe0e" * 9) == "😀\ufe0f<17 unseen characters>"
    assert reveal_invisible("win\u00addow") == "win<U+00AD>dow"
