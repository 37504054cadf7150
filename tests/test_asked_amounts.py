"""Questions for a number or a price need a passage that has one."""

import pytest

from zkchat_cli.llm.offline.answer import quote_answer
from zkchat_cli.llm.offline.asked_amounts import asks_for_amount, lack_asked_amount
from zkchat_cli.llm.offline.question import analyze_question
from zkchat_cli.llm.offline.quotes import QuoteSource
from zkchat_cli.models.prompts import PromptMessage


@pytest.mark.parametrize(
    "question",
    [
        "how many eggs are in the cake",
        "what does the workshop cost?",
        "Wie viele Stühle haben wir?",
        "was kostet der Kurs",
        "combien de pots faut-il ?",
        "¿cuantas sillas hay?",
        "quanto custa o patinete",
        "瑜伽课多少钱",
    ],
)
def test_a_question_for_an_amount(question: str) -> None:
    assert asks_for_amount(question)
    assert lack_asked_amount(question, ["The chairs are blue.", "Die Stühle sind blau."])


@pytest.mark.parametrize(
    "question",
    [
        "how long does the dough rest",
        "en cuanto a la casa, qué falta?",
        "combien de temps cuit le pain",
        "quanto tempo descansa a massa",
        "quanto mais sol, melhor?",
        "who bought the chairs",
    ],
)
def test_no_question_for_an_amount(question: str) -> None:
    assert not asks_for_amount(question)


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("how many eggs are in the cake", "Beat four eggs."),
        ("Wie viele Stühle haben wir?", "Es sind achtundvierzig Stühle."),
        ("combien de pots faut-il ?", "Il faut 12 pots."),
        ("quanta farinha vai no bolo", "Meia xícara de farinha."),
        ("quanto paguei pela mudança", "O caminhão custou 900."),
        ("was kostet der Kurs", "Der Kurs ist kostenlos."),
        ("瑜伽课多少钱", "一节课 80 元。"),
    ],
)
def test_a_passage_with_the_amount(question: str, passage: str) -> None:
    assert not lack_asked_amount(question, [passage])


def test_a_number_is_no_price() -> None:
    scooter = "O patinete do Davi é azul. Em dez minutos ele já tinha ralado o cotovelo."
    assert lack_asked_amount("quanto custa o patinete do Davi", [scooter])
    source = QuoteSource(1, "Davi.md", "Davi", None, scooter)
    for asked, level in (
        ("quanto custa o patinete do Davi", "most_likely"),
        ("de que cor é o patinete do Davi", "answer"),
    ):
        message = PromptMessage(role="user", content=asked, kind="conversation", tokens=0)
        assert quote_answer(analyze_question([message], 0), [source]).level == level
