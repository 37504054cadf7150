"""Words, sentences, and cutting: the one notion of both that search, quoting and summaries
share.
"""

import re
import sqlite3
import unicodedata
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import (
    CJK,
    content_terms,
    fold,
    is_filler,
    literals,
    stem,
    stem_words,
    terms,
    to_index_text,
)

nasty = st.text(
    st.sampled_from(" \n\t.!?…。！？\"'“”*_[]()>-#|`~:0aAéß漢字한글😀\u0301\u2028\ud800"),
    max_size=200,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("don’t don't", "don't don't"),
        ("snake_case well-known", "snake case well known"),
        (
            "infor\u00admation infor\u200cmation infor\u2060mation \ufeffinformation",
            "information information information information",
        ),
        ("任務過濾器", "任務 務過 過濾 濾器"),
        ("我 see 你", "我 see 你"),
        ("タスク", "タス スク"),
        ("필터링", "필터 터링"),
        ("यह हिन्दी में है।", "यह हिनदी में है"),
        ("… — 😀 !?", ""),
    ],
)
def test_terms_of_a_text(text: str, words: str) -> None:
    assert terms(text) == words.split()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What was the die that we cast?", "die cast"),
        ("Was habe ich über Zettelkästen geschrieben?", "zettelkasten geschrieben"),
        ("Qu'est-ce que j'ai noté sur l'index des livres ?", "note index livres"),
        ("¿Qué he escrito sobre las notas?", "escrito notas"),
        ("Die Hard", "die hard"),
        ("what is it?", "what is it"),
    ],
)
def test_stopwords_are_those_of_the_language_of_the_text(text: str, words: str) -> None:
    assert content_terms(text) == words.split()


def test_fillers_are_known_in_any_form() -> None:
    assert is_filler("explaining", "english")
    assert is_filler("geschriebene", "german")
    assert not is_filler("geschriebene", "english")


@pytest.mark.parametrize(
    ("words", "common", "languages"),
    [
        ("filter filters filtered filtering filterings", "filter", ("english",)),
        ("query queries", "queri", ("english",)),
        ("note notes noted", "note", ("english",)),
        ("stop stopped stopping", "stop", ("english",)),
        ("quickly quick", "quick", ("english",)),
        ("allegedly alleged", "alleg", ("english",)),
        ("новая новый новой", "нов", ("english",)),
        ("haus hauser hauses", "haus", ("german",)),
        ("plans planned haus hauser", "plan haus", ("english", "german")),
    ],
)
def test_inflected_forms_have_one_stem(words: str, common: str, languages: tuple[str, ...]) -> None:
    assert {stem(word, languages) for word in words.split()} == set(common.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is here. Two is there! Three? Yes.", "One is here.|Two is there!|Three?|Yes."),
        ("\n\nA sentence that\ngoes on here.", "A sentence that goes on here."),
        (
            "See e.g. Smith et al. by Dr. Jones. Then stop.",
            "See e.g. Smith et al. by Dr. Jones.|Then stop.",
        ),
        (
            "I am 42. Am 3. Mai waren ca. 50 da (s. Nr. 7). Gut.",
            "I am 42.|Am 3. Mai waren ca. 50 da (s. Nr. 7).|Gut.",
        ),
        ("J. R. R. Tolkien wrote it. I read it.", "J. R. R. Tolkien wrote it.|I read it."),
        ("It is the best. Not the worst.", "It is the best.|Not the worst."),
        ("He said “Stop.” Then he left.", "He said “Stop.”|Then he left."),
        ("Version 1. beta is out.", "Version 1. beta is out."),
        ("過濾器很好用。你可以組合它們！好嗎？", "過濾器很好用。|你可以組合它們！|好嗎？"),
        (
            "- first thing\n- second thing\n  goes on\n1. third\n- [ ] fourth",
            "first thing|second thing goes on|third|[ ] fourth",
        ),
        ("> A quote that\n> goes on.", "A quote that goes on."),
        ("> [!note] Remember this well\n> It matters.", "Remember this well|It matters."),
        ("````\n```\nstill code\n````\nProse again.", "Prose again."),
        ("Prose.\n```\ncode\nmore code", "Prose."),
        ("```\n~~~\ncode\n```\nProse.", "Prose."),
        ("… !!! ---\n\n***x", "***x"),
        ("A. " * 30_000, ("A. " * 30_000).strip()),
    ],
)
def test_sentences_of_a_text(text: str, expected: str) -> None:
    assert sentences(text) == expected.split("|")


@given(nasty)
def test_every_sentence_has_a_letter_or_digit(text: str) -> None:
    for sentence in sentences(text):
        assert any(c.isalnum() for c in sentence)


@pytest.mark.untraced
@pytest.mark.parametrize(
    "mark",
    ['"', "(", "*", "[!", ". ", ">", "- ", "- [ ] ", "。", "A.", "e.g. ", "`", "“", "[![", "1. "],
)
def test_endless_repetition_takes_linear_time(mark: str) -> None:
    *_, last = sentences("Word " + mark * 20_000 + " end")
    assert last.split()[-1] == "end"
    sentences(mark * 20_000)


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("as it is", 8, "as it is"),
        ("a\n\n b\tc", 10, "a b c"),
        ("one two, three", 9, "one two…"),
        ("x" * 10_000, 10, "x" * 9 + "…"),
        # Not before a comma, nor after it
        ("笔记是思考的工具，也是记忆的延伸。", 9, "笔记是思考的工具…"),
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
        ("한국어 문장입니다", 6, "한국어 문…"),
    ],
)
def test_truncation_never_splits_a_character(text: str, limit: int, shown: str) -> None:
    assert truncate(text, limit) == shown


@given(nasty, st.integers(1, 50))
def test_a_truncated_text_is_a_prefix_that_fits(text: str, limit: int) -> None:
    shown = truncate(text, limit)
    assert len(shown) <= limit
    assert " ".join(text.split()).startswith(shown.removesuffix("…"))


def tokens(text: str) -> list[str]:
    """The words that FTS5's tokenizer `ascii` finds in a text, in order."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5 (text, content='', tokenize='ascii')")
        db.execute("INSERT INTO t (rowid, text) VALUES (1, ?)", (text,))
        db.execute("CREATE VIRTUAL TABLE words USING fts5vocab (t, instance)")
        return [term for (term,) in db.execute("SELECT term FROM words ORDER BY offset")]


def expected_words(text: str) -> list[str]:
    """The words of a text, with those like "don't" in two, its literals, and the last characters
    of its CJK runs.
    """
    found = [part for term in terms(text) for part in term.split("'")]
    runs = re.findall(rf"[{CJK}]{{2,}}", fold(text))
    return [*found, *literals(text), *sorted({run[-1] for run in runs})]


@given(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
        st.text(
            st.sampled_from("aBZ09_'’ʼ-.–“\n\t\x00é\u0301ß½①ﬁ交换ｶﾞ한я\u200b\u2028😀"), max_size=60
        ),
    )
)
def test_indexed_words_are_the_terms_of_any_text(text: str) -> None:
    assert tokens(to_index_text(text)) == expected_words(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("don't2", "don t2"),
        ("rock'n'roll5", "rock'n roll5"),
        ("l’été7", "l ete7"),
        ("don't 2", "don't 2"),
    ],
)
def test_a_digit_behind_an_apostrophe_splits_a_word_as_the_index_does(
    text: str, words: str
) -> None:
    assert terms(text) == words.split()
    assert tokens(to_index_text(text)) == expected_words(text)


def test_a_line_with_no_more_than_typography_is_indexed_as_it_is_in_ascii() -> None:
    """Else an index that exists loses track of the words of its notes, unless its version is
    raised.
    """
    assert tokens(to_index_text("“Il faut” de l’H2O…")) == ["il", "faut", "de", "l", "h2o"]


@pytest.mark.untraced
def test_no_combining_character_of_any_script_survives_folding() -> None:
    for at in range(0x110000):
        if unicodedata.combining(chr(at)):
            assert not any(map(unicodedata.combining, fold(f"a{chr(at)}b"))), hex(at)


def test_a_word_of_a_thousand_letters_is_not_stemmed() -> None:
    assert stem_words(["walking", "x" * 1000 + "ing"]) == ["walk", "x" * 1000 + "ing"]
