"""Words, sentences, and cutting: the one notion of both that search, quoting and summaries share."""

import re
import sqlite3
import unicodedata
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import CJK, content_terms, fold, replace_surrogates, stem, terms, to_index_text

nasty = st.text(st.sampled_from(" \n\t.!?…。！？\"'“”*_[]()>-#|`~:0aAéß漢字한글😀\u0301\u2028\ud800"), max_size=200)


def test_case_and_diacritics_make_no_difference() -> None:
    assert fold("Équipe") == fold("EQUIPE") == "equipe"


def test_a_composed_and_a_decomposed_letter_are_the_same() -> None:
    assert fold("caf\u00e9") == fold("cafe\u0301")


def test_sharp_s_is_double_s() -> None:
    assert fold("Straße") == "strasse"


@settings(deadline=None)
@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_an_apostrophe_keeps_a_word_together() -> None:
    assert terms("don’t") == terms("don't") == ["don't"]


@pytest.mark.parametrize("unseen", ["infor\u00admation", "infor\u200cmation", "infor\u2060mation", "\ufeffinformation"])
def test_what_is_not_seen_is_not_in_a_word(unseen: str) -> None:
    assert terms(unseen) == tokens(to_index_text(unseen)) == ["information"]


def test_vowels_that_are_marks_keep_a_word_of_india_together() -> None:
    assert terms("यह हिन्दी में है।") == ["यह", "हिनदी", "में", "है"]
    assert len(terms("தமிழ் மொழி")) == 2


def test_underscores_and_hyphens_part_words() -> None:
    assert terms("snake_case well-known") == ["snake", "case", "well", "known"]


def test_a_chinese_run_becomes_its_pairs_of_characters() -> None:
    assert terms("任務過濾器") == ["任務", "務過", "過濾", "濾器"]


def test_a_single_chinese_character_is_a_word() -> None:
    assert terms("我 see 你") == ["我", "see", "你"]


def test_japanese_and_korean_are_cut_like_chinese() -> None:
    assert terms("タスク") == ["タス", "スク"]
    assert len(terms("필터링")) >= 2


def test_words_of_a_text_without_words_are_none() -> None:
    assert terms("… — 😀 !?") == []


def test_stopwords_and_single_letters_carry_no_content() -> None:
    assert content_terms("What is a filter, x?") == ["filter"]


def test_a_question_of_stopwords_keeps_them_all() -> None:
    assert content_terms("what is it?") == ["what", "is", "it"]


def test_a_single_digit_is_content() -> None:
    assert content_terms("rule 3") == ["rule", "3"]


@pytest.mark.parametrize(
    ("words", "common"),
    [
        ("filter filters filtered filtering filterings", "filter"),
        ("query queries", "query"),
        ("note notes noted", "not"),
        ("stop stopped stopping", "stop"),
        ("quickly quick", "quick"),
        ("allegedly alleged", "alleg"),
    ],
)
def test_inflected_forms_have_one_stem(words: str, common: str) -> None:
    assert {stem(word) for word in words.split()} == {common}


@pytest.mark.parametrize("word", ["is", "as", "bed", "red", "sing", "lies"[:3], ""])
def test_short_words_are_their_own_stem(word: str) -> None:
    assert stem(word) == word


def test_a_sentence_ends_at_its_mark() -> None:
    assert sentences("One is here. Two is there! Three? Yes.") == ["One is here.", "Two is there!", "Three?", "Yes."]


def test_a_sentence_may_run_over_lines() -> None:
    assert sentences("\n\nA sentence that\ngoes on here.") == ["A sentence that goes on here."]


def test_an_abbreviation_ends_no_sentence() -> None:
    assert sentences("See e.g. Smith et al. by Dr. Jones. Then stop.") == ["See e.g. Smith et al. by Dr. Jones.", "Then stop."]


def test_an_initial_ends_no_sentence() -> None:
    assert sentences("J. R. R. Tolkien wrote it. I read it.") == ["J. R. R. Tolkien wrote it.", "I read it."]


def test_a_word_that_ends_like_an_abbreviation_does_end_a_sentence() -> None:
    assert sentences("It is the best. Not the worst.") == ["It is the best.", "Not the worst."]


def test_a_closing_quotation_mark_belongs_to_its_sentence() -> None:
    assert sentences("He said “Stop.” Then he left.") == ["He said “Stop.”", "Then he left."]


def test_a_lower_case_word_continues_a_sentence() -> None:
    assert sentences("Version 1. beta is out.") == ["Version 1. beta is out."]


def test_a_chinese_sentence_needs_no_space_after_it() -> None:
    assert sentences("過濾器很好用。你可以組合它們！好嗎？") == ["過濾器很好用。", "你可以組合它們！", "好嗎？"]


def test_every_list_item_is_a_sentence_of_its_own() -> None:
    assert sentences("- first thing\n- second thing\n  goes on\n1. third\n- [ ] fourth") == [
        "first thing", "second thing goes on", "third", "fourth",
    ]  # fmt: skip


def test_a_quotation_of_several_lines_is_one_paragraph() -> None:
    assert sentences("> A quote that\n> goes on.") == ["A quote that goes on."]


def test_a_callout_is_read_without_its_mark() -> None:
    assert sentences("> [!note] Remember this well\n> It matters.") == ["Remember this well", "It matters."]


@pytest.mark.parametrize(
    "not_prose",
    [
        "# Heading",
        "| a | b |",
        "---",
        "***",
        "<!-- comment -->",
        "![image](x.png)",
        "^block-id",
        "%% hidden %%",
        "```\ncode here\n```",
        "~~~\nx\n~~~",
    ],
)
def test_what_is_no_prose_has_no_sentences(not_prose: str) -> None:
    assert sentences(f"Before it.\n{not_prose}\nAfter it.") == ["Before it.", "After it."]


def test_a_fence_ends_with_as_many_ticks_as_it_began() -> None:
    assert sentences("````\n```\nstill code\n````\nProse again.") == ["Prose again."]


def test_an_unclosed_fence_hides_the_rest() -> None:
    assert sentences("Prose.\n```\ncode\nmore code") == ["Prose."]


def test_a_tilde_does_not_close_a_fence_of_ticks() -> None:
    assert sentences("```\n~~~\ncode\n```\nProse.") == ["Prose."]


def test_punctuation_alone_is_no_sentence() -> None:
    assert sentences("… !!! ---\n\n***x") == ["***x"]


def test_thousands_of_initials_are_no_trouble() -> None:
    assert len(sentences("A. " * 30_000)) == 1


@settings(deadline=None)
@given(nasty)
def test_any_text_has_sentences_that_say_something_on_its_own_lines(text: str) -> None:
    for sentence in sentences(text):
        assert any(c.isalnum() for c in sentence)


@pytest.mark.untraced
@pytest.mark.parametrize("mark", ['"', "(", "*", "[!", ". ", ">", "- ", "- [ ] ", "。", "A.", "e.g. ", "`", "“", "[![", "1. "])
def test_endless_repetition_is_read_at_once(mark: str) -> None:
    *_, last = sentences("Word " + mark * 20_000 + " end")
    assert last.split()[-1] == "end"
    sentences(mark * 20_000)


def test_a_short_text_stays_as_it_is() -> None:
    assert truncate("as it is", 8) == "as it is"


def test_a_long_text_is_cut_at_a_word_and_marked() -> None:
    assert truncate("one two, three", 9) == "one two…"


def test_a_long_word_is_cut_within() -> None:
    assert truncate("x" * 10_000, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("笔记是思考的工具，也是记忆的延伸。", 9, "笔记是思考的工具…"),  # not before a comma, nor after it
        ("笔记是思考的工具，也是记忆的延伸。", 10, "笔记是思考的工具…"),
        ("类似anki的间隔重复", 5, "类似…"),
        ("anki 类似的间隔重复", 8, "anki 类似…"),
        ("ノートは「考える」ための道具", 6, "ノートは…"),
        ("the cafe\u0301s of Paris", 12, "the cafe\u0301s…"),
        ("e\u0301" * 10, 4, "e\u0301…"),
        ("e" + "\u0301" * 10, 4, "…"),
        ("👩\u200d👩\u200d👧" * 3, 8, "👩\u200d👩\u200d👧…"),
        ("👍🏽👍🏽👍🏽", 4, "👍🏽…"),
        ("❤\ufe0f❤\ufe0f❤\ufe0f", 4, "❤\ufe0f…"),
        ("🇨🇭🇩🇪🇫🇷", 4, "🇨🇭…"),
        ("\ud83d\ude00\ud83d\ude00", 2, "…"),
        ("\ud800\udc00\ud800\udc00", 2, "…"),
        ("\udbff\udfff\udbff\udfff", 2, "…"),
        ("한국어 문장입니다", 6, "한국어 문…"),
    ],
)
def test_what_is_cut_stays_whole_characters(text: str, limit: int, shown: str) -> None:
    assert truncate(text, limit) == shown


@settings(deadline=None)
@given(nasty, st.integers(1, 50))
def test_what_is_shortened_is_how_the_text_begins(text: str, limit: int) -> None:
    shown = truncate(text, limit)
    assert len(shown) <= limit
    assert " ".join(text.split()).startswith(shown.removesuffix("…"))


def test_line_breaks_become_spaces() -> None:
    assert truncate("a\n\n b\tc", 10) == "a b c"


@settings(deadline=None)
@given(st.text(), st.integers(1, 50))
def test_what_is_shortened_fits(text: str, limit: int) -> None:
    assert len(truncate(text, limit)) <= limit


def test_halves_of_surrogate_pairs_are_replaced() -> None:
    assert replace_surrogates("a\ud800b") == "a\ufffdb"


@settings(deadline=None)
@given(st.text(st.characters(), max_size=50))
def test_encodable_text_can_be_written(text: str) -> None:
    replace_surrogates(text).encode()


@given(st.text(st.sampled_from("aZ09_' -.\n\té交"), max_size=40))
def test_plain_text_is_cut_like_any_other(text: str) -> None:
    plain = text.encode("ascii", "ignore").decode()
    beside_others = terms(f"{plain} é")  # one accent, and the text takes the general way
    assert terms(plain) == beside_others[:-1]


def tokens(text: str) -> list[str]:
    """The words that FTS5's tokenizer `ascii` finds in a text, in order."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5 (text, content='', tokenize='ascii')")
        db.execute("INSERT INTO t (rowid, text) VALUES (1, ?)", (text,))
        db.execute("CREATE VIRTUAL TABLE words USING fts5vocab (t, instance)")
        return [term for (term,) in db.execute("SELECT term FROM words ORDER BY offset")]


def parted(text: str) -> list[str]:
    """The words of a text, with those like "don't" in two, and the last characters of its CJK runs."""
    found = [part for term in terms(text) for part in term.split("'")]
    runs = re.findall(rf"[{CJK}]{{2,}}", fold(text))
    return [*found, *sorted({run[-1] for run in runs})]


@pytest.mark.parametrize(
    "text",
    [
        "Don't panic — it’s “naïve” snake_case 3.11!",
        "消息队列, a line\nand Équipe’s next\nplain one",
        "cafe\u0301 STRASSE Straße İstanbul ΣΊΣΥΦΟΣ",
        "a\x00b\u200bc\xa0d\u2028e",
        "①²½ ﬁne Ｗｉｄｅ",
    ],
)
def test_the_words_of_an_index_are_those_of_the_text(text: str) -> None:
    assert tokens(to_index_text(text)) == parted(text)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
        st.text(st.sampled_from("aBZ09_'’ʼ-.–“\n\t\x00é\u0301ß½①ﬁ交换ｶﾞ한я\u200b\u2028😀"), max_size=60),
    )
)
def test_the_words_of_an_index_are_those_of_any_text(text: str) -> None:
    assert tokens(to_index_text(text)) == parted(text)


def test_no_combining_character_of_any_script_survives_folding() -> None:
    for at in range(0x110000):
        if unicodedata.combining(chr(at)):
            assert not any(map(unicodedata.combining, fold(f"a{chr(at)}b"))), hex(at)
