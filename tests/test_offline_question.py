"""What a message asks for, alone and in a conversation."""

import pytest
from building import prompt_message

from zkchat_cli.llm.offline.question import AnalyzedMessage, analyze_message, refers_to_earlier, word_forms
from zkchat_cli.models import PromptMessage


def asked(*messages: str | PromptMessage) -> AnalyzedMessage:
    """The last message in the light of those before it, by turns the user's and the answers."""
    prompt = [m if isinstance(m, PromptMessage) else prompt_message(("user", "assistant")[i % 2], m) for i, m in enumerate(messages)]
    return analyze_message(prompt, len(prompt) - 1)


ANSWER = "From your notes:\n\n“Beans climb poles.” [3][5]\n\n«A “lone ” mark» [4]\n\n“Say “please” twice.” [7]\n"


def test_filler_words_weigh_little() -> None:
    weights = asked("How do I make compost work?").questions[0].weights
    assert weights["compost"] == 1.0 > weights["mak"] == weights["work"]


def test_chinese_question_words_are_removed() -> None:
    assert set(asked("什么是堆肥？").questions[0].weights) == {"堆肥"}
    assert asked("用 git 和 docker").questions[0].weights["和"] < 1.0
    assert asked("什么").questions[0].weights


def test_emoji_are_words() -> None:
    assert asked("what does 🔺 mean?").questions[0].weights["🔺"] == 1.0


def test_several_questions_are_split() -> None:
    assert [q.text for q in asked("What is compost? Where is the spade?").questions] == ["What is compost?", "Where is the spade?"]
    assert len(asked("What is compost? Why?").questions) == 1
    assert len(asked("What is compost? How do I turn it?").questions) == 1
    assert len(asked("Sun. Rain?\nSnow\nIce\nHail? Fog?").questions) == 1
    assert len(asked("What is sun? What is rain? What is snow? What is hail?").questions) == 1


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


def test_topic_of_a_follow_up() -> None:
    follow = asked("What do tall beans need?", ANSWER, "and in winter?", ANSWER, "why?")
    assert follow.is_follow_up
    assert set(follow.questions[0].weights) == {"winter", "tall", "bean"}
    assert follow.questions[0].query == "winter tall beans"


def test_full_question_ignores_the_topic() -> None:
    assert not asked("What do tall beans need?", ANSWER, "How do filters combine?").is_follow_up
    assert not asked("why?").is_follow_up


def test_additional_question_is_also_searched_without_the_topic() -> None:
    assert asked("What do tall beans need?", ANSWER, "what about lilies?").questions[0].query_without_topic == "lilies"
    assert asked("What do tall beans need?", ANSWER, "how do I cut those?").questions[0].query_without_topic == ""


def test_more_excludes_earlier_quotes() -> None:
    more = asked("What do tall beans need?", ANSWER, "tell me more")
    assert more.wants_more
    assert [s.source for s in more.earlier_quotes] == [3, 4, 7]
    assert not asked("What do tall beans need?", ANSWER, "more about lilies?").wants_more


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


def test_ordinal_in_a_full_question_is_no_reference() -> None:
    assert asked("What do beans need?", ANSWER, "When does the first frost kill tall lilies?").source is None
    assert asked("explain [5]").source is None


def test_topic_comes_from_the_summary_after_a_compaction() -> None:
    told = "2025-05-08:\n- user: What do tall beans need?\n- assistant: “Beans climb poles.” [3]"
    summary = prompt_message("user", f"<conversation-summary>\n{told}\n</conversation-summary>", "summary")
    assert asked(summary, "", "why?").questions[0].query == "tall beans"
    assert asked(summary, "", "tell me more").earlier_quotes[0].source == 3
    other = prompt_message("user", "<conversation-summary>\nThey spoke of tall beans.\n</conversation-summary>", "summary")
    assert "beans" in asked(other, "", "why?").questions[0].query
    nothing = prompt_message("user", "“Beans climb poles.” [3]", "summary")
    assert "poles" in asked(nothing, "", "why?").questions[0].query


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


def test_request_for_a_document_is_no_topic() -> None:
    assert not asked("compare [[A]] and [[B]]", ANSWER, "what about [[C]]?").is_follow_up


def test_forms_of_missing_words() -> None:
    question = asked("How are tasks completed with 堆肥 in css?").questions[0]
    forms = word_forms(question, ("complet", "堆肥", "css")).split()
    assert {"complete", "completes", "completion"} <= set(forms)
    assert not {"completed", "task", "css"} & set(forms)


def test_no_message_has_no_question() -> None:
    assert analyze_message([], -1).questions[0].weights == {}
