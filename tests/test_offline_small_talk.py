"""Messages that need no search: they get one short sentence, or an answer from the conversation."""

import pytest

from zkchat_cli.llm.offline.small_talk import reply_to_small_talk
from zkchat_cli.text.request_phrases import REQUEST_PHRASES

QUESTIONS = ("What is [soil]?", "And “beans”?")
ANSWERS = ("“Earth.” [1]", "“Plants.” [2]")


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        *(
            (text, "You're welcome.\n")
            for text in (
                "thanks!",
                "Thank you so much, that's it for today",
            )
        ),
        ("Danke dir!", "Gern geschehen.\n"),
        ("merci beaucoup", "Je vous en prie.\n"),
        ("¡Hola!", "¡Hola! Pregúntame lo que quieras sobre tus notas.\n"),
        *(
            (text, "All right.\n")
            for text in ("ok cool", "good to know", "lol ok", "makes sense", "great, that works")
        ),
        *(
            (text, "Hello! Ask me about anything in your notes.\n")
            for text in ("hi!", "Good evening and hello")
        ),
        *(
            (text, "Olá! Pergunte o que quiser sobre as suas notas.\n")
            for text in ("Olá!", "oi", "Bom dia")
        ),
        ("Guten Tag", "Hallo! Frag mich, was du in deinen Notizen suchst.\n"),
        ("bye", "Goodbye!\n"),
        ("谢谢你！", "不客气。\n"),
        *(
            (text, f"{REQUEST_PHRASES[language].introduction}\n")
            for text, language in (
                ("what can you do for me?", "english"),
                ("are you still there?", "english"),
                ("Was kannst du?", "german"),
                ("Que peux-tu faire ?", "french"),
                ("¿Quién eres?", "spanish"),
                ("O que você pode fazer?", "portuguese"),
            )
        ),
        ("what did I ask you first?", "Your first question was: What is soil?\n"),
        ("Was habe ich dich zuerst gefragt?", "Deine erste Frage war: What is soil?\n"),
        ("qu'ai-je demandé ?", "Vous avez demandé :\n\n- What is soil?\n- And beans?\n"),
        ("Wiederhole bitte deine Antwort", ANSWERS[1]),
        ("what have we talked about so far?", "You asked:\n\n- What is soil?\n- And beans?\n"),
        ("please repeat your first answer", ANSWERS[0]),
        ("say that again", ANSWERS[1]),
    ],
)
def test_small_talk(text: str, reply: str) -> None:
    assert reply_to_small_talk(text, QUESTIONS, ANSWERS) == reply


@pytest.mark.parametrize(
    "text",
    [
        "",
        "thanks, and how do I undo it?",
        "what did I say about soil?",
        "is it good?",
        "good soil",
        "repeat a task",
        "what did I ask the gardener?",
        "Was habe ich über Erde geschrieben?",
        "感谢信怎么写",
        "how do I say thanks in French",
    ],
)
def test_question_about_the_notes_is_no_small_talk(text: str) -> None:
    assert reply_to_small_talk(text, QUESTIONS, ANSWERS) is None


def test_first_message_has_nothing_before_it() -> None:
    assert reply_to_small_talk("what did I ask first?", (), ()) == "This is your first message.\n"
    assert reply_to_small_talk("please repeat", (), ()) == "I have not answered anything yet.\n"
