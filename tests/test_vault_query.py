"""Parsing search queries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.vault.search.query import MOST_WORDS, fts_all, fts_any, fts_phrase, parse_query


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
            assert fts_phrase(phrase).strip("*").strip('"').count('"') == 0
            assert fts_any(phrase, {}).count('"') == fts_all(phrase, {}).count('"') == 2 * len(phrase)
