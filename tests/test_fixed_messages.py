"""Fixed messages: rules in several languages that never take a text for an instruction."""

from typing import Any

import pytest
from factories import message

from zkchat_cli.context.fixed_messages import is_fixed
from zkchat_cli.models.messages import ZkChatMessage


def user(content: str, **more: Any) -> ZkChatMessage:
    return message("user", content, "u", **more)


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
    assert is_fixed(user(content))


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
    assert not is_fixed(user(content))


def test_the_user_decides_by_pinning_and_unpinning() -> None:
    assert not is_fixed(user("Always answer in German.", pinned=False))
    assert is_fixed(user("Thanks!", pinned=True))
    assert not is_fixed(message("assistant", "Always answer in German.", "a"))
