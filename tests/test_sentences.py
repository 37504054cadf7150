"""Where sentences end."""

import pytest

from zkchat_cli.text.sentences import end_mark, ends_as_sentence, first_sentence, split_sentences


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("It is done.", True),
        ("He said “stop!”", True),
        ("做完了。」", True),
        ("**Done.**", True),
        ("Version 2.0 of it", False),
        ("", False),
    ],
)
def test_a_text_may_end_as_a_sentence_does(text: str, ends: bool) -> None:
    assert ends_as_sentence(text) == ends


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("What is v2.0? And v3?", "What is v2.0"),
        ("\n\nA line\nand another", "A line"),
        ("什么是笔记？为什么", "什么是笔记"),
        ("", ""),
    ],
)
def test_the_first_sentence_is_without_its_mark(text: str, first: str) -> None:
    assert first_sentence(text) == first


def test_a_point_in_a_number_ends_no_sentence() -> None:
    assert end_mark("about v2.0 of owls?", 0) == "?"
    assert end_mark("about owls", 0) == ""


def test_closing_marks_belong_to_the_sentence() -> None:
    assert split_sentences("She says “Stop.” Then she goes.") == [
        "She says “Stop.”",
        "Then she goes.",
    ]


def test_a_source_behind_angle_marks_belongs_to_the_sentence() -> None:
    assert split_sentences("It says «Stop here.» [Note].") == ["It says «Stop here.» [Note]."]
