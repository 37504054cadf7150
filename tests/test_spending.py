"""Requests for what something has cost in all, in five languages."""

from pathlib import Path

import pytest
from conftest import write_notes
from factories import AppFixture, answer_to, report_of

from zkchat_cli.vault.note_amounts import find_amounts, read_query

VAULT = {
    "Tapwise.md": "A reader.\n\n- 2025-02-05: yearly plan 99.00 €\n- 2026-01-05: reader 25 €\n",
    "2026-05-03.md": "- paid 12.50 € to tapwise\n- spent 30 € on shoes\n- Roof: offer 900 €\n",
    "2026-05-04.md": "- tyres: wanted £70\n",
    "2026-06-03.md": "## Tapwise\n\n- renewed\n  - 14 € by card\n",
    "Roof.md": "The roof leaks.\n",
    "Car.md": (
        "- paid £80 for tyres\n- washer: 20 pounds for the tyres\n- sold the old tyres for £15\n"
    ),
}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("total of what tapwise has cost", "Total of €: 150.5. 4 values, in 3 notes"),
        ("how much did I spend on tapwise in all?", "Total of €: 150.5."),
        ("what has tapwise cost so far?", "Total of €: 150.5."),
        ("total cost of tapwise", "Total of €: 150.5."),
        ("sum of all tapwise payments", "Total of €: 150.5."),
        ("wie viel habe ich insgesamt für Tapwise ausgegeben?", "Summe, €: 150,5. 4 Werte"),
        ("was hat Tapwise bisher gekostet?", "Summe, €: 150,5."),
        ("Summe dessen, was Tapwise gekostet hat", "Summe, €: 150,5."),
        ("combien ai-je dépensé pour Tapwise en tout ?", "Total, € : 150,5. 4 valeurs"),
        ("total de ce que Tapwise a coûté", "Total, € : 150,5."),
        ("¿cuánto me ha costado Tapwise en total?", "Total de €: 150,5. 4 valores, en"),
        ("total de lo que ha costado Tapwise", "Total de €: 150,5."),
        ("quanto gastei com o Tapwise no total?", "Total de €: 150,5. 4 valores, em"),
        ("total do que o Tapwise custou", "Total de €: 150,5."),
        ("total spent on shoes", "Total of €: 30."),
        ("total cost of the tyres", "Total of £: 100. 2 values, in 1 note"),
        ("how much did I pay for tapwise in 2026?", "Total of €: 51.5. 3 values, in 3 notes"),
        ("how much did I spend on tapwise in May 2026?", "Total of €: 12.5."),
    ],
)
def test_amounts_of_lines_about_it_or_below_its_name_are_added(
    app: AppFixture, message: str, said: str
) -> None:
    assert answer_to(app, message).startswith(said)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("how much did I spend on the boat?", "Total of €: 70.5. Total of £: 20. 3 values, in 1 n"),
        ("was hat das Boot insgesamt gekostet?", "Summe, €: 70,5. Summe, £: 20. 3 Werte"),
        ("combien ai-je dépensé pour le bateau en tout ?", "Total, € : 70,5. Total, £ : 20. 3 val"),
        ("¿cuánto me ha costado el barco en total?", "Total de €: 70,5. Total de £: 20. 3 val"),
        ("quanto gastei com o barco no total?", "Total de €: 70,5. Total de £: 20. 3 valores"),
    ],
)
def test_each_currency_has_its_own_sum(
    app: AppFixture, vault: Path, message: str, said: str
) -> None:
    text = (
        "Boat, Boot, bateau, barco:\n\n- paint 50 €\n- a rope for 20 pounds\n- sail 20.50 euros\n"
    )
    write_notes(vault, {"Boat, Boot, bateau, barco.md": text})
    assert answer_to(app, message).startswith(said)


def test_highest_amount_of_each_currency_is_told(app: AppFixture, vault: Path) -> None:
    write_notes(
        vault,
        {
            "Tools/Saw.md": "---\ntype: tool\nprice: € 40\n---\nSharp.\n",
            "Tools/Plane.md": "---\ntype: tool\nprice: £35\n---\nFlat.\n",
            "Tools/Knife.md": "---\ntype: tool\nprice: € 12\n---\nShort.\n",
        },
    )
    said = answer_to(app, "which tool has the highest price?")
    assert said.startswith("Highest price (€): 40. Highest price (£): 35. 3 values")


def test_lines_that_are_added_are_quoted(app: AppFixture) -> None:
    said = answer_to(app, "how much did I spend on tapwise?")
    assert "- Tapwise: “2025-02-05: yearly plan 99.00 €” [1]" in said
    assert "- 2026-06-03: “14 € by card” [3]" in said


def test_whole_sentence_with_an_amount_is_quoted(app: AppFixture, vault: Path) -> None:
    text = (
        "Blue, with a small dent in the left door and 28,450 miles, bought on 5 October 2024 for "
        "the long trips north, for £17,200 from a man who had looked after it."
    )
    write_notes(vault, {"Niro.md": f"{text}\n"})
    said = answer_to(app, "how much did I spend on the niro in all?")
    assert f"- Niro: “{text}” [1]" in said


@pytest.mark.parametrize(
    "message",
    ["how much did I spend on the roof?", "what did I pay for the shoes?", "what do I need in all"],
)
def test_other_questions_are_looked_up(app: AppFixture, message: str) -> None:
    report = report_of(app.session().send(message))
    assert "Total of" not in report.answer


@pytest.mark.parametrize(
    ("text", "query", "values"),
    [
        ("# Boat\n- paint 20 €\n# Car\n- tyres 300 €\n", "€;; boat", [20.0]),
        ("- boat\n  - paint 20 €\n- tyres 300 €\n", "€;; boat", [20.0]),
        ("- boat: paint 20 €\n- boat: offer 90 €\n- boat refund 5 €\n", "€;; boat", [20.0]),
        ("- yearly plan 20 €\n- plan: 30 €\n- planned 40 €\n", "€", [20.0]),
    ],
)
def test_amounts_of_an_item(text: str, query: str, values: list[float]) -> None:
    assert [amount.value for amount in find_amounts(text, read_query(query))] == values
