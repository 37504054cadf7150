"""Pieces of an excerpt that may be quoted: word for word, never half of something without a mark."""

import json

import pytest
from building import chunk
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat_cli.citations.quotes import QuotableChunk
from zkchat_cli.llm.offline.passages import LONGEST, QuotablePassage, quotable_passages


def quotable(text: str, heading: str | None = None) -> list[tuple[str, str]]:
    return [(piece.text, piece.kind) for piece in quotable_passages(text, heading)]


def test_sentences_items_rows_and_code_are_pieces() -> None:
    text = "First. Second\ngoes on.\n\n- an item\n- [ ] a task\n  that goes on\n\n| a | b |\n| - | - |\n| one | two |\n"
    text += "\n```js\nlet x;\n}\n```\n"
    assert quotable(text) == [
        ("First.", "prose"),
        ("Second goes on.", "prose"),
        ("an item", "item"),
        ("a task that goes on", "item"),
        ("| one | two |", "row"),
        ("let x;", "code"),
    ]


def test_a_piece_knows_its_headings_and_its_place() -> None:
    found = quotable_passages("Over.\n\n# A #\n\n## B\n\nOne. Two.\n\n## C\nThree.\n# D\nFour.", "Before")
    assert found == [
        QuotablePassage("Over.", "prose", ("Before",), 0),
        QuotablePassage("One.", "prose", ("A", "B"), 0),
        QuotablePassage("Two.", "prose", ("A", "B"), 1),
        QuotablePassage("Three.", "prose", ("A", "C"), 0),
        QuotablePassage("Four.", "prose", ("D",), 0),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "![[image.png]]",
        "![alt](image.png)",
        "^block-id",
        "<div>",
        "<!-- a\nremark -->",
        "%%a remark%%",
        "***",
        "| - |",
        "?!",
        "$$",
        "see [3]",
    ],
)
def test_structure_is_nothing_to_quote(text: str) -> None:
    assert quotable_passages(text) == []


def test_links_alone_are_known_as_such() -> None:
    assert quotable("- [[One]], [two](2.md)\n- #tag\n\n| [[A]] | [[B]] |") == [
        ("[[One]], [two](2.md)", "links"),
        ("#tag", "links"),
        ("| [[A]] | [[B]] |", "links"),
    ]


def test_callouts_and_quotes_are_quoted_without_their_marks() -> None:
    assert quotable("> [!info] A title\n> It goes\n> on.\n> - An item.") == [
        ("A title", "prose"),
        ("It goes on.", "prose"),
        ("An item.", "item"),
    ]


def test_a_lead_in_takes_its_items_along() -> None:
    text = "You need:\n\n- air\n- water\nmore water\n\nThis: that."
    assert [said for said, _ in quotable(text)] == ["You need: - air - water", "air", "water more water", "This: that."]


def test_a_lead_in_says_when_there_is_more() -> None:
    text = "You need:\n- " + "much " * 30 + "\n- " + "more " * 40
    assert quotable(text)[0][0].endswith("much …")
    assert quotable("You need:\n- air")[0][0] == "You need: - air"
    assert quotable("You need:\n- air. And patience.")[0][0] == "You need:"


def test_no_quote_spans_a_comment() -> None:
    pieces = [("Said before", "prose"), ("and after it.", "prose"), ("x %%y%% z", "code")]
    assert quotable("Said before <!-- never --> and after it.\n| a <!-- b --> |\n```\nx %%y%% z\n```") == pieces
    assert quotable("An <!-- open remark") == [("An <!-- open remark", "prose")]


def test_what_is_too_long_is_cut_and_marked() -> None:
    (piece,) = quotable_passages("word " * 200)
    assert len(piece.text) <= LONGEST
    assert piece.text.endswith("word…")


@settings(deadline=None, max_examples=200)
@given(st.text(st.sampled_from("aB .:!?\n>-#|`~*[]()<!%1“”漢。\0\t"), max_size=120))
def test_every_piece_stands_in_the_text_word_for_word(text: str) -> None:
    for piece in quotable_passages(text, "H"):
        assert QuotableChunk(chunk(text=text)).locate(piece.text) or not piece.text.strip(" \n.…*`"), json.dumps(text)
