"""Neutralising text: whatever comes in, nothing of it can act on a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.text.sanitize import sanitize, sanitize_name

ANYTHING = st.text(st.characters(codec=None), max_size=50) | st.text(st.sampled_from("\x00\x07\x08\x1b\r\n\t\x7f\x85\x9b\u202e\u2028a"))


@given(ANYTHING)
def test_no_control_character_but_newline_and_tab_comes_through(text: str) -> None:
    assert {c for c in sanitize(text) if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")} <= {"\n", "\t"}


@given(ANYTHING)
def test_a_name_stays_on_one_line(text: str) -> None:
    assert not {c for c in sanitize_name(text) if unicodedata.category(c) == "Cc"}


@given(ANYTHING)
def test_neutralising_twice_changes_nothing_more(text: str) -> None:
    assert sanitize(sanitize(text)) == sanitize(text)


@given(ANYTHING)
def test_neutralised_text_can_be_written_as_utf8(text: str) -> None:
    sanitize(text).encode("utf-8")


@pytest.mark.parametrize("text", ["plain", "Grüße, 世界, 👍🏽", "[bold]no markup[/bold]", "<|endoftext|>", "a\n\tb", "e\u0301 café\u00a0"])
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert sanitize(text) == text


def test_what_is_neutralised_can_still_be_seen() -> None:
    assert sanitize("\x1b]0;title\x07 \x9b2J \u202eabc") == "␛]0;title␇ �2J �abc"


def test_windows_line_ends_are_line_ends_and_a_lone_return_is_not() -> None:
    assert sanitize("a\r\nb\rc") == "a\nb␍c"
