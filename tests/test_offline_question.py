"""What a message asks for, alone and in a conversation."""

import pytest
from building import prompt_message

from zkchat_cli.llm.offline.question import AnalyzedMessage, analyze_message, refers_to_earlier
from zkchat_cli.models import PromptMessage


def asked(*messages: str | PromptMessage) -> AnalyzedMessage:
    """The last message in the light of those before it, by turns the user's and the answers."""
    prompt = [m if isinstance(m, PromptMessage) else prompt_message(("user", "assistant")[i % 2], m) for i, m in enumerate(messages)]
    return analyze_message(prompt, len(prompt) - 1)


ANSWER = "From your notes:\n\n“Beans climb poles.” [3][5]\n\n«A “lone ” mark» [4]\n\n“Say “please” twice.” [7]\n"


@pytest.mark.parametrize(
    "text",
    [
        "why?",
        "tell me more",
        "and how do I undo that?",
        "what about dates?",
        "and the second one?",
        "does it climb?",
        "为什么？",
        "还有呢？",
        "[3]",
        "the",
    ],
)
def test_message_refers_to_an_earlier_one(text: str) -> None:
    assert refers_to_earlier(text)


@pytest.mark.parametrize(
    "text",
    [
        "How do filters combine?",
        "Is it possible to combine filters?",
        "And how do I combine filters with dates by hand?",
        "Which filters are there that combine with dates and folders in a query of mine?",
        "堆肥需要什么？",
    ],
)
def test_message_stands_alone(text: str) -> None:
    assert not refers_to_earlier(text)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("and the second one?", 4),
        ("the first?", 3),
        ("the last one", 7),
        ("explain [5]", 5),
        ("第二个呢？", 4),
        ("the fourth one", None),
        ("why?", None),
    ],
)
def test_reference_to_a_quotation(text: str, source: int | None) -> None:
    assert asked("What do tall beans need?", ANSWER, text).source == source


def test_recalled_turns_are_not_the_question() -> None:
    recalled = prompt_message("user", "<recalled-conversation>\n(2025-05-08) user: What is soil?", source_ids=("m1", "m2"))
    messages = [prompt_message("user", "What does compost need?"), recalled, prompt_message("user", "Why?")]
    assert "compost" in analyze_message(messages, 2).questions[0].query


def test_document_as_a_whole_or_a_question_about_it() -> None:
    assert asked("summarise [[Beans]]").about_document
    assert asked("what is in [[Beans#Soil|it]]?").sections == {"soil"}
    assert not asked("what does [[Beans]] say about poles?").about_document
    assert "climbing" not in asked("poles in [[Climbing]]").questions[0].query


def test_request_for_a_summary_in_several_languages() -> None:
    assert asked("Summarise it").wants_summary
    assert asked("总结一下").wants_summary
    assert asked("x " * 3000 + "Fasse das zusammen").wants_summary
    assert asked("summarise our conversation").about_conversation
