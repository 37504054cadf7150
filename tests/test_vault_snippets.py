"""Snippets of search results."""

from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.vault.search.snippets import Snippet, snippet

TEXT = "# Compost\n\n- Green and brown\n  layers in turn.\n\n> [!note]\n> It is ready after nine months."


def test_the_line_with_most_words_is_shown():
    assert snippet(TEXT, 10, ["ready", "months"]) == Snippet(16, 16, "It is ready after nine months.")


def test_a_long_line_is_cut_around_the_word():
    shown = snippet("before " * 100 + "needle " + "after " * 100, 1, ["needle"]).text
    assert "needle" in shown
    assert shown.startswith("…before")
    assert shown.endswith("after…")
    assert len(shown) < 170
    assert snippet("needle " + "after " * 100, 1, ["needle"]).text.startswith("needle after")


@given(st.text(max_size=500), st.integers(1, 9), st.lists(st.text(max_size=5), max_size=3))
def test_any_text_has_a_snippet_on_one_of_its_lines(text, first_line, terms):
    shown = snippet(text, first_line, terms)
    assert first_line <= shown.line <= shown.end_line <= first_line + text.count("\n")
    assert "\n" not in shown.text
    assert len(shown.text) <= 165
