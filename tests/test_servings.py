"""Recipes for a number of people, upcoming birthdays, and one note with all words of a subject."""

import pytest
from factories import AppFixture, answer_to

VAULT = {
    "Recipes/Soup.md": "---\nserves: 4\n---\nBoil it.\n",
    "Recipes/Cake.md": "---\nserves: 8\n---\nBake it.\n",
    "Ana.md": "---\nbirthday: 1990-05-02\n---\nA designer.\n",
    "2024-02-03 Review of the harbour flood.md": "# Review\n\nThe pumps were too small.\n",
    "Pumps.md": "The harbour got new pumps after the flood. The review was short.\n",
}


@pytest.mark.parametrize(
    "message",
    [
        "which recipes serve 4?",
        "recipes for 4 people",
        "Rezepte für 4 Personen",
        "recettes pour 4 personnes",
        "recetas para 4 personas",
        "receitas para 4 pessoas",
    ],
)
def test_recipes_are_chosen_by_how_many_they_serve(app: AppFixture, message: str) -> None:
    answer = answer_to(app, message)
    assert "- Soup [1]" in answer
    assert "Cake" not in answer


@pytest.mark.parametrize("message", ["upcoming birthdays", "kommende Geburtstage"])
def test_upcoming_birthdays_are_those_of_the_next_days(app: AppFixture, message: str) -> None:
    assert "90" in answer_to(app, message)


def test_one_note_with_all_words_of_a_subject_is_outlined(app: AppFixture) -> None:
    answer = answer_to(app, "summarize the review of the harbour flood")
    assert answer.startswith("Outline of 2024-02-03 Review of the harbour flood")
