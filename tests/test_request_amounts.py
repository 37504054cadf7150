"""Requests for an average or a sum of what notes have, in five languages."""

from pathlib import Path

import pytest
from conftest import write_notes
from factories import AppFixture, answer_to

from zkchat_cli.text.numbers import read_decimal
from zkchat_cli.text.units import unit_in
from zkchat_cli.vault.note_amounts import find_amounts, read_query

VAULT = {
    "Books/Emma.md": "---\ntype: book\nrating: 5\npages: 1,200\n---\nA comedy.\n",
    "Books/Dune.md": "---\ntype: book\nrating: 4\npages: 600\n---\nA planet.\n",
    "Books/Walden.md": "---\ntype: book\n---\nA pond.\n",
    "Log/2026-10-05.md": "- ran 5 km in 30 minutes\n- cycled 20 km\n- paid 12.50 € for lunch\n",
    "Log/2026-10-20.md": "- ran 7,5 km\n- [ ] run 50 km\n- spent 30 euros on shoes\n",
    "Log/2026-11-03.md": "- ran 6 km\n",
    "Distances.md": "The marathon is 42 km long.\n",
}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("average rating of my books", "Average of rating: 4.5. 2 values, in 2 notes in Books/:"),
        ("durchschnittliche Bewertung meiner Bücher", "Durchschnitt, Bewertung: 4,5. 2 Werte"),
        ("note moyenne de mes livres", "Moyenne, note : 4,5. 2 valeurs, dans 2 notes"),
        ("valoración media de mis libros", "Media de valoración: 4,5. 2 valores, en 2 notas"),
        ("avaliação média dos meus livros", "Média de avaliação: 4,5. 2 valores, em 2 notas"),
        ("total pages of my books", "Total of pages: 1,800. 2 values, in 2 notes in Books/:"),
        ("how many pages do my books have in total?", "Total of pages: 1,800. 2 values"),
    ],
)
def test_property_of_the_notes_of_a_kind_is_averaged_or_added(
    app: AppFixture, message: str, said: str
) -> None:
    assert answer_to(app, message).startswith(said)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("how many km did I run in October 2026?", "Total of km: 12.5. 2 values, in 2 notes"),
        ("how far did I run in October 2026?", "Total of km: 12.5."),
        ("how far did I run in November 2026?", "Total of km: 6. 1 value, in 1 note"),
        ("wie viele Kilometer bin ich im Oktober 2026 gelaufen?", "Summe, Kilometer: 12,5."),
        ("combien de kilomètres ai-je couru en octobre 2026 ?", "Total, kilomètres : 12,5."),
        ("¿cuántos kilómetros corrí en octubre de 2026?", "Total de kilómetros: 12,5."),
        ("quantos quilômetros corri em outubro de 2026?", "Total de quilômetros: 12,5."),
        ("how much did I spend in October 2026?", "Total of €: 42.5. 2 values, in 2 notes"),
        ("total spent in October 2026", "Total of €: 42.5."),
    ],
)
def test_amounts_of_what_was_done_in_a_time_are_added(
    app: AppFixture, message: str, said: str
) -> None:
    assert answer_to(app, message).startswith(said)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("average km of my runs", "Average of km: 6.17. 3 values, in 3 notes:"),
        ("total km of my runs", "Total of km: 18.5."),
        ("durchschnittliche km meiner Läufe", "Durchschnitt, km: 6,17."),
        ("total des km de mes courses", "Total, km : 18,5."),
        ("total de km de mis carreras", "Total de km: 18,5."),
        ("média de km das minhas corridas", "Média de km: 6,17."),
    ],
)
def test_noun_for_what_was_done_needs_no_notes_of_that_kind(
    app: AppFixture, message: str, said: str
) -> None:
    assert answer_to(app, message).startswith(said)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("what is my best rated book?", "Highest rating: 5. 2 values, in 2 notes in Books/:"),
        ("welches Buch hab ich am besten bewertet", "Höchster Wert, rating: 5. 2 Werte"),
        ("quel livre ai-je le mieux noté ?", "Valeur la plus haute, rating : 5."),
        ("cuál es el libro mejor valorado", "Valor más alto de rating: 5."),
        ("qual é o livro melhor avaliado?", "Valor mais alto de rating: 5."),
    ],
)
def test_note_with_the_highest_value_is_told(app: AppFixture, message: str, said: str) -> None:
    answer = answer_to(app, message)
    assert answer.startswith(said)
    assert "- Emma: " in answer
    assert "Dune" not in answer


def test_note_with_the_lowest_amount_is_told(app: AppFixture) -> None:
    said = answer_to(app, "which book has the fewest pages?")
    assert said.startswith("Lowest pages: 600. 2 values")
    assert "- Dune: " in said


def test_question_for_the_most_of_what_is_no_amount_is_looked_up(app: AppFixture) -> None:
    assert "property" not in answer_to(app, "which book has the most people?")


def test_amounts_of_notes_of_the_kind_are_preferred(app: AppFixture, vault: Path) -> None:
    write_notes(
        vault,
        {
            "Runs/Lake.md": "---\ndistance: 10\n---\nWindy.\n",
            "Runs/Hill.md": "---\ndistance: 4\n---\nSteep.\n",
        },
    )
    assert answer_to(app, "average distance of my runs").startswith("Average of distance: 7.")


def test_notes_with_the_amounts_are_quoted(app: AppFixture) -> None:
    said = answer_to(app, "how many km did I run in October 2026?")
    assert "- 2026-10-05: “ran 5 km in 30 minutes” [2]" in said
    assert "cycled" not in said
    assert "42 km" not in said


def test_property_that_none_of_the_notes_has_is_told(app: AppFixture) -> None:
    assert answer_to(app, "average priority of my books") == (
        "None of these notes has a property priority.\n"
    )


@pytest.mark.parametrize(
    "message",
    [
        "how many km did I swim in October 2026?",
        "what is the sum of the angles in a triangle?",
        "how many legs do spiders have?",
        "how long is the marathon?",
    ],
)
def test_other_questions_are_looked_up(app: AppFixture, message: str) -> None:
    said = answer_to(app, message)
    assert "Total of" not in said
    assert "property" not in said


@pytest.mark.parametrize(
    ("text", "query", "values"),
    [
        ("- ran 5 km\n- walked 3 km\n", "km; ran | run", [5.0]),
        ("- ran 5km\n- ran 5 kmh\n", "km", [5.0]),
        ("- total: 30 km\n- goal 100 km\n- [ ] 8 km\n", "km", []),
        ("- € 12.50 lunch\n- dinner 20€\n", "€ | euro", [12.5, 20.0]),
        ("- read page 5\n- read 12 pages\n", "page | pages", [12.0]),
        ("---\nrating: 4/5\n---\n", "rating", [4.0]),
        ("---\nrating: ★★★☆\n---\n", "rating", [3.0]),
        ("- [rating:: 3]\n", "rating", [3.0]),
        ("---\nrating: good\n---\n", "rating", []),
    ],
)
def test_amounts_are_found_by_property_or_unit(text: str, query: str, values: list[float]) -> None:
    assert [amount.value for amount in find_amounts(text, read_query(query))] == values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12,000 euros", 12000),
        ("1.234", 1234),
        ("0.125", 0.125),
        ("7,5", 7.5),
        ("€ 20", 20),
        ("2026-01-02", None),
        ("1.2.3", None),
        ("five", None),
    ],
)
def test_number_is_read_with_its_marks(text: str, value: float | None) -> None:
    assert read_decimal(text) == value


def test_amounts_below_headings_of_days_are_of_those_days(app: AppFixture, vault: Path) -> None:
    log = "## 3 May 2025\n- ran 3 km\n\n## 4 June 2025\n- ran 4 km\n"
    write_notes(vault, {"Log.md": log, "Runs.md": "- 2025-05-09: ran 9 km\n"})
    assert answer_to(app, "how many km did I run in May 2025?").startswith("Total of km: 12.")


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        ("300 SEK", "SEK"),
        ("NOK 300", "NOK"),
        ("300 kronor", "kr"),
        ("2,5 Liter", "l"),
        ("9000 pasos", "steps"),
        ("80 kilogrammes", "kg"),
        ("12 apples", ""),
    ],
)
def test_unit_of_a_value_is_read(value: str, unit: str) -> None:
    assert unit_in(value) == unit
