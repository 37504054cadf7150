"""Messages of several sentences, one of which is the request."""

import pytest

from zkchat_cli.llm.offline.main_request import main_request


@pytest.mark.parametrize(
    ("message", "request_"),
    [
        ("Hi! I am new here. What is a global filter?", "What is a global filter?"),
        ("Who was at the standup? Just names please.", "Who was at the standup?"),
        ("Ich ziehe bald um. Welche Aufgaben sind offen?", "Welche Aufgaben sind offen?"),
        ("Merci pour ton aide ! Quels livres ai-je lus ?", "Quels livres ai-je lus ?"),
        ("Gracias por la ayuda. ¿Qué notas no tienen enlaces?", "¿Qué notas no tienen enlaces?"),
        ("oi, tudo bem? pode listar as notas?", "pode listar as notas?"),
    ],
)
def test_request_is_found_beside_what_asks_for_nothing(message: str, request_: str) -> None:
    assert main_request(message) == request_


@pytest.mark.parametrize(
    "message",
    [
        "Quel est le loyer ? Et la caution ?",
        "My router drops packets. The light is red. How do I reset it?",
        "Is Dr. Weber in on Monday?",
        "list my books. And count the notes about bees.",
        "The boat is written once at the top of a page. list all to-dos of pages belonging to it",
    ],
)
def test_message_with_several_sentences_that_count_stays_whole(message: str) -> None:
    assert main_request(message) == message
