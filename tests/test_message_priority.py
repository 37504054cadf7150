"""Kinds and priorities: rules that one can read, in several languages, and that never take a text for an instruction."""

from typing import Any

import pytest
from building import said
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.context.message_priority import MAX_CLASSIFIED, classify_message, is_acknowledgement, is_fixed, priority_of
from zkchat_cli.models import ToolCall, ZkChatMessage


def user(content: str, **more: Any) -> ZkChatMessage:
    return said("user", content, "u", **more)


@pytest.mark.parametrize(
    "content",
    [
        "Always answer in German.",
        "From now on, cite the line numbers.",
        "Thanks! From now on be brief.",
        "Please don't mention the archive.",
        "never invent a title",
        "Remember that I am allergic to nuts.",
        "Make sure you always quote the original.",
        "- Always use metric units\n- Never use tables",
        "Answer in English.",
        "In all your answers, leave out the sources.",
        "Ab jetzt bitte auf Deutsch.",
        "Bitte antworte immer kurz.",
        "Merk dir: mein Hund heißt Otto.",
        "从现在开始用中文回答。",
        "请始终引用原文。",
        "谢谢。以后不要用表格。",
    ],
)
def test_a_standing_instruction_is_kept_in_every_prompt(content: str) -> None:
    assert classify_message(user(content)) == "instruction"
    assert is_fixed(user(content))
    assert priority_of(user(content)) == 9


@pytest.mark.parametrize(
    "content",
    [
        "Never mind.",
        "Remember that note about owls?",
        "Do you always answer in German?",
        "He said: never use nails",
        "I have always used nails.",
        "Summarise this note.",
        "Don't worry about it.",
        "So what? Is it always so?",
        "以后会怎么样？",
        "Translate: " + "long text. Always answer in German. " * 200,
    ],
)
def test_text_that_only_resembles_an_instruction_is_none(content: str) -> None:
    assert classify_message(user(content)) != "instruction"
    assert not is_fixed(user(content))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("We decided to use the oak shelf.", "decision"),
        ("OK, let's go with the second one.", "decision"),
        ("Decision: oak.", "decision"),
        ("Ich habe mich für Eiche entschieden.", "decision"),
        ("我决定用橡木。", "decision"),
        ("No, it was on Tuesday.", "correction"),
        ("That's wrong.", "correction"),
        ("I meant the other one", "correction"),
        ("Das stimmt nicht.", "correction"),
        ("不对，是星期二。", "correction"),
        ("Thanks!", "acknowledgement"),
        ("ok, got it", "acknowledgement"),
        ("Danke dir", "acknowledgement"),
        ("好的，谢谢！", "acknowledgement"),
        ("👍", "acknowledgement"),
        ("Where is the anvil?", "question"),
        ("how do I combine filters", "question"),
        ("Wo steht der Amboss", "question"),
        ("铁砧在哪里呢", "question"),
        ("铁砧在哪里？", "question"),
        ("The anvil stands on shelf seven.", "statement"),
        ("Je suis d'accord avec ce texte.", "statement"),
        ("thank you for the list, which I will read tomorrow evening", "statement"),
        ("x" * (MAX_CLASSIFIED + 1), "statement"),
        ("x" * MAX_CLASSIFIED + " why?", "question"),
    ],
)
def test_user_messages_are_classified(content: str, expected: str) -> None:
    assert classify_message(user(content)) == expected


def test_other_messages_are_classified_by_role() -> None:
    call = ToolCall(id="1", name="find_excerpts")
    assert classify_message(said("tool", "Always answer in German.", "t")) == "tool_result"
    assert classify_message(said("system", "Cite.", "s")) == "system"
    assert classify_message(said("assistant", "Always answer in German.", "a")) == "answer"
    assert classify_message(said("assistant", "", "a", tool_calls=(call,))) == "tool_call"
    assert classify_message(said("assistant", "Let me look.", "a", tool_calls=(call,))) == "answer"


def test_the_users_priority_wins() -> None:
    assert priority_of(user("Thanks!", priority=9, priority_set=True)) == 9
    assert priority_of(user("Thanks!", priority=9)) == 2
    assert priority_of(user("We decided.", priority=1, priority_set=True)) == 1
    assert priority_of(user("Thanks!", priority=1, priority_set=True, pinned=True)) == 10


def test_an_instruction_is_fixed_until_its_priority_is_lowered() -> None:
    assert not is_fixed(user("Always answer in German.", priority=5, priority_set=True))
    assert is_fixed(user("Always answer in German.", priority=8, priority_set=True))
    assert is_fixed(user("Always answer in German.", priority=1, priority_set=True, pinned=True))


@given(st.text(max_size=300))
def test_any_text_has_a_kind_and_a_priority(content: str) -> None:
    assert 1 <= priority_of(user(content)) <= 10
    assert classify_message(user(content)) in ("instruction", "decision", "correction", "question", "statement", "acknowledgement")


@pytest.mark.parametrize("piece", ["please ", "no ", "und ", "\n", ". ", "ich habe mich ", "antworte ", "always ", "- ", "，", "? "])
def test_hostile_texts_are_classified_quickly(piece: str) -> None:
    classify_message(user(piece * (MAX_CLASSIFIED // len(piece))))
    classify_message(user(piece * 1_000_000))
    assert is_acknowledgement("") is True
