"""The pure functions of search: parsing queries, fusing what was found by words and by meaning, and
snippets.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.vault.index.sqlite.words import match_expression
from zkchat_cli.vault.index.word_match import WordMatch
from zkchat_cli.vault.search.fusion import MeaningWeight, fuse
from zkchat_cli.vault.search.query import MOST_WORDS, parse_query
from zkchat_cli.vault.search.snippet import Snippet, snippet

TEXT = (
    "# Compost\n\n- Green and brown\n  layers in turn.\n\n> [!note]\n> It is ready after nine "
    "months."
)


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("tea -green", (("green",),)),
        ('tea -"green tea"', (("green", "tea"),)),
        ("-well-known", (("well", "known"),)),
        ("-don’t", (("don't",),)),
        ("-书评", (("书评",),)),
        ("tea - green", ()),
        ("e-mail", ()),
        ("--green", ()),
        ("-1", ()),
        ('-"" tea', ()),
        ('-"…" tea', ()),
    ],
)
def test_a_hyphen_before_a_word_excludes_it(text, without):
    assert parse_query(text).without == without


def test_a_page_of_text_is_searched_by_its_first_words():
    query = parse_query(" ".join(f"w{n}" for n in range(5000)))
    assert len(query.words) == MOST_WORDS
    assert len(query.order) == 4 * MOST_WORDS
    assert parse_query('"' + "word " * 3000 + '"').phrases == (("word",) * MOST_WORDS,)


@given(st.text())
def test_no_text_injects_a_quotation_mark(text):
    query = parse_query(text)
    for phrase in (*query.phrases, *query.without, query.terms):
        if phrase:
            together = match_expression(WordMatch(((phrase,),)))
            assert together.strip("*").strip('"').count('"') == 0
            any_of_them = WordMatch((tuple((term,) for term in phrase),))
            all_of_them = WordMatch(tuple(((term,),) for term in phrase))
            for match in (any_of_them, all_of_them):
                assert match_expression(match).count('"') == 2 * len(phrase)


@pytest.mark.parametrize(
    ("by_words", "by_meaning", "coverage", "first"),
    [
        # A hit with all words wins over meaning
        ({1: 9.0, 2: 6.0}, {2: 2.0}, 1.0, 1),
        # With few of them it does not
        ({1: 9.0, 2: 6.0}, {2: 2.0}, 0.3, 2),
        ({}, {3: 1.0, 4: 2.0}, 0.0, 4),
        ({1: 9.0, 2: 8.9}, {1: -1.0, 2: 1.0}, 1.0, 2),  # near equal words
        ({1: 9.0}, {}, 0.0, 1),
    ],
)
def test_words_count_as_far_as_they_fit(
    by_words: dict[int, float], by_meaning: dict[int, float], coverage: float, first: int
) -> None:
    assert next(iter(fuse(by_words, by_meaning, MeaningWeight().at(coverage)))) == first


def test_the_line_with_most_words_is_shown():
    assert snippet(TEXT, 10, ["ready", "months"]) == Snippet(
        16, 16, "It is ready after nine months."
    )


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
