"""What the text of a search means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.vault.search.query import MOST_WORDS, SearchQuery, all_of, any_of, parse_query, quoted, word


def test_words_may_occur_without_stopwords_and_once_each():
    assert parse_query("How do I combine filters and Filters?").words == ("combine", "filters")


def test_stopwords_alone_are_looked_for():
    assert parse_query("what is it").words == ("what", "is", "it")


def test_a_phrase_is_not_among_the_words_but_among_the_terms():
    query = parse_query('tea "the green leaf"')
    assert (query.words, query.phrases, query.terms) == (("tea",), (("the", "green", "leaf"),), ("tea", "the", "green", "leaf"))


def test_the_order_has_everything_that_is_asked_for():
    assert parse_query('some "green tea" -black tag:x please').order == ("some", "green", "tea", "please")


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


@pytest.mark.parametrize(
    ("text", "tags", "paths"),
    [
        ("tag:x", ("x",), ()),
        ("tag:#Projekt/Übung/", ("projekt/ubung",), ()),
        ('tag:"two words"', ("two words",), ()),
        ("Path:/Folder/Sub/", (), ("folder/sub",)),
        ('path:"A folder" tag:y', ("y",), ("a folder",)),
        ('path:"unclosed', (), ("unclosed",)),
        ('tag:"" path:/', (), ()),
        ("metatag:x", (), ()),
        ("tag:x tag:X", ("x",), ()),
    ],
)
def test_tag_and_path_are_filters(text, tags, paths):
    query = parse_query(text)
    assert (query.tags, query.paths) == (tags, paths)


def test_without_its_phrases_a_query_asks_for_their_words():
    assert parse_query('tea "green leaf" -black tag:x').loose == SearchQuery(
        ("tea", "green", "leaf"), (), (("black",),), ("x",), (), ("tea", "green", "leaf")
    )


@pytest.mark.parametrize("text", ['"a phrase"', "tea -green", "tea tag:x", "tea path:x", "tag:x", ""])
def test_only_words_make_a_plain_query(text):
    assert not parse_query(text).is_plain
    assert parse_query("green tea").is_plain


@pytest.mark.parametrize(
    ("text", "empty"), [("", True), ("-green", True), ("…", True), ("tag:x", False), ("path:x", False), ('"the"', False)]
)
def test_what_only_excludes_asks_for_nothing(text, empty):
    assert parse_query(text).is_empty == empty


def test_a_page_of_text_is_asked_for_by_its_first_words():
    query = parse_query(" ".join(f"w{n}" for n in range(5000)))
    assert len(query.words) == MOST_WORDS
    assert len(query.order) == 4 * MOST_WORDS
    assert parse_query('"' + "word " * 3000 + '"').phrases == (("word",) * MOST_WORDS,)


def test_words_become_expressions_of_the_index():
    assert quoted(["green", "tea"]) == '"green tea"'
    assert any_of(["green", "书"]) == '"green" OR "书"*'
    assert all_of(["don't", "tea"]) == '"don\'t" AND "tea"'


@pytest.mark.parametrize(("term", "expression"), [("书", '"书"*'), ("书评", '"书评"'), ("я", '"я"'), ("a", '"a"')])
def test_one_chinese_character_is_the_beginning_of_a_pair(term, expression):
    assert word(term) == quoted([term]) == expression


@given(st.text())
def test_no_text_brings_a_quotation_mark_of_its_own_into_an_expression(text):
    query = parse_query(text)
    for phrase in (*query.phrases, *query.without, query.terms):
        if phrase:
            assert quoted(phrase).strip("*").strip('"').count('"') == 0
            assert any_of(phrase).count('"') == all_of(phrase).count('"') == 2 * len(phrase)


def test_a_hyphen_before_a_filter_turns_it_round():
    query = parse_query('tea -tag:#Drink/ -path:"Old things" -Tag:x')
    assert (query.words, query.without, query.tags, query.paths) == (("tea",), (), (), ())
    assert (query.without_tags, query.without_paths) == (("drink", "x"), ("old things",))
    assert (query.is_filtered, query.is_plain, query.is_empty) == (True, False, False)
    assert parse_query("-tag:x -path:y").is_empty
