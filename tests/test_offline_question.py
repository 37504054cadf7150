"""What a message asks for, alone and in a conversation."""

import pytest
from factories import prompt_message

from zkchat_cli.llm.offline.question import (
    AnalyzedQuestion,
    analyze_question,
    asks_for_summary,
    refers_to_earlier,
)


def asked(*questions: str) -> AnalyzedQuestion:
    """The last question after those before it."""
    return analyze_question(
        [prompt_message("user", text) for text in questions], len(questions) - 1
    )


def test_what_is_no_date_is_searched_as_words() -> None:
    assert asked("who was on:call after:2024-05?").searches == ("who was on call after:2024-05?",)


@pytest.mark.parametrize(
    ("text", "refers"),
    [
        *(
            (text, True)
            for text in (
                "why?",
                "tell me more",
                "and how do I undo that?",
                "what about dates?",
                "does it climb?",
                "为什么？",
                "the",
            )
        ),
        *(
            (text, True)
            for text in (
                "only for some folders?",
                "can I switch that off?",
                "is it dangerous to turn it on?",
                "both?",
            )
        ),
        ("How do filters combine?", False),
        ("And what is a literature note?", False),
        ("Und was kostet ein Zettelkasten?", False),
        ("Und was mit Holz?", True),
        ("In which folder are the settings?", False),
        *(
            (text, True)
            for text in (
                "and how do I title one?",
                "and how often?",
                "and inside code blocks?",
                "what was his plugin called?",
            )
        ),
        ('on which weekday does "this week" begin', False),
        ("what should I plan for this week in the garden?", False),
        ("find the tasks that are due today", False),
        ("And how do I combine filters with dates by hand?", False),
        ("Which filters are there that combine with dates and folders in a query of mine?", False),
        ("堆肥需要什么？", False),
    ],
)
def test_message_refers_to_an_earlier_one(text: str, refers: bool) -> None:
    assert refers_to_earlier(text) == refers


def test_recalled_turns_are_not_the_question() -> None:
    recalled = prompt_message(
        "user", "<recalled-conversation>\n(2025-05-08) user: What is soil?", "recalled"
    )
    messages = [
        prompt_message("user", "What does compost need?"),
        recalled,
        prompt_message("user", "Why?"),
    ]
    assert "compost" in analyze_question(messages, 2).searches[0]


def test_question_that_stands_alone_is_searched_as_it_is() -> None:
    assert asked("What is soil?", 'Which "filters" hide -x?').searches == ("Which filters hide x?",)


def test_follow_up_is_searched_with_the_words_of_one_question_before_and_as_it_is() -> None:
    assert asked(
        "What is a heap?", "What does compost need?", "thanks!", "Why is it so?"
    ).searches == ("compost", "Why is it so?")
    assert asked("What is a heap?", "and only in May?", "and worms?").searches == (
        "may worms",
        "and worms?",
    )


def test_document_as_a_whole_or_a_question_about_it() -> None:
    assert asked("summarise [[Beans]]").about_document
    assert not asked("what does [[Beans]] say about poles?").about_document


def test_name_of_a_document_is_searched_but_its_sentences_need_not_contain_it() -> None:
    question = asked("What belongs into [[Notes/Fleeting thoughts#Inbox|it]]?")
    assert question.text == question.searches[0] == "What belongs into Fleeting thoughts Inbox?"
    assert question.subject == {"belongs"}


def test_follow_up_has_the_name_of_the_document_that_the_question_before_is_about() -> None:
    assert (
        asked("How high do [[Beans]] grow?", "and how often?").searches[0]
        == "high beans grow often"
    )
    assert "beans" not in asked("How high do [[Beans]] grow?", "and [[Peas]]?").searches[0]


def test_request_for_a_summary_in_several_languages() -> None:
    for text in ("Summarise it", "总结一下", "x " * 3000 + "Fasse das zusammen"):
        assert asks_for_summary(text)


@pytest.mark.parametrize(
    ("text", "searches", "about_period"),
    [
        ("What did I do last week?", ("What did I do last week?",), True),
        ("what happened yesterday?", ("what happened yesterday?",), True),
        ("was ist letzte Woche passiert?", ("was ist letzte Woche passiert?",), True),
        ("who did I meet yesterday", ("who did I meet yesterday", "yesterday"), False),
        ("find tasks that are due today", ("find tasks that are due today",), False),
    ],
)
def test_question_about_a_time_and_more_is_also_searched_by_its_date_alone(
    text: str, searches: tuple[str, ...], about_period: bool
) -> None:
    question = asked("What is soil?", text)
    assert (question.searches, question.about_period, question.is_follow_up) == (
        searches,
        about_period,
        False,
    )
