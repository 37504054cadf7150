"""Comparisons of notes of a kind, of more than two sides, and in a table, in five languages."""

import pytest
from factories import AppFixture, answer_to, report_of

VAULT = {
    "Cars/Clio.md": "---\nseats: 5\nfuel: petrol\n---\nThe Clio is red and rather loud.\n",
    "Cars/Zoe.md": "---\nseats: 4\nfuel: power\n---\nThe Zoe is silent and quite slow.\n",
    "Pets/Rex.md": "Rex is a dog with long brown ears.\n",
    "Pets/Mia.md": "Mia is a cat that sleeps all day.\n",
    "Pets/Kiwi.md": "Kiwi is a parrot that says hello.\n",
    "Phone plans.md": "# Phone plans\n\n| | Small | Large |\n|---|---|---|\n| Price | 9 | 19 |\n"
    "| Data | 5 GB | 60 GB |\n",
}


@pytest.mark.parametrize(
    "message",
    [
        "compare the two cars",
        "compare my two cars",
        "compare the Clio and the Zoe in a table",
        "vergleiche Clio und Zoe in einer Tabelle",
        "compare Clio et Zoe dans un tableau",
        "compara Clio y Zoe en una tabla",
        "compare Clio e Zoe em uma tabela",
    ],
)
def test_notes_are_compared_by_their_properties_and_what_they_say(
    app: AppFixture, message: str
) -> None:
    answer = answer_to(app, message)
    assert "| 5 | petrol |" in answer
    assert "| 4 | power |" in answer
    assert "The Clio is red and rather loud." in answer
    assert "The Zoe is silent and quite slow." in answer


def test_a_comparison_may_become_a_table(app: AppFixture) -> None:
    session = app.session()
    report_of(session.send("compare Clio and Zoe"))
    assert "| 5 | petrol |" in report_of(session.send("as a table")).answer


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("compare Rex, Mia and Kiwi", "Kiwi:"),
        ("compare Rex, Mia and Kiwi in a table", "no properties of all of these for a table"),
        ("Vergleiche Rex, Mia und Kiwi in einer Tabelle", "fehlen Eigenschaften von allen"),
    ],
)
def test_each_of_three_sides_is_told(app: AppFixture, message: str, said: str) -> None:
    answer = answer_to(app, message)
    assert said in answer
    assert all(each in answer for each in ("a dog", "a cat", "a parrot"))


def test_the_two_of_a_kind_that_has_three_notes_are_searched(app: AppFixture) -> None:
    assert report_of(app.session().send("compare the two pets")).request == "lookup"


def test_sides_may_be_the_columns_of_a_table(app: AppFixture) -> None:
    answer = answer_to(app, "compare phone plans small and large")
    assert "“Price | 9 | 19”" in answer
    assert "“Data | 5 GB | 60 GB”" in answer


@pytest.mark.parametrize(
    "message",
    [
        *("compare them", "now compare the two", "vergleiche sie"),
        *("compare-les", "compáralos", "compara-os"),
    ],
)
def test_notes_that_were_listed_are_compared(app: AppFixture, message: str) -> None:
    session = app.session()
    report_of(session.send("list my cars"))
    answer = report_of(session.send(message)).answer
    assert "| 5 | petrol |" in answer
    assert "The Zoe is silent and quite slow." in answer


@pytest.mark.parametrize("before", ["list all notes", "what does Rex look like?", "hello"])
def test_what_cannot_be_compared_is_not_searched(app: AppFixture, before: str) -> None:
    session = app.session()
    report_of(session.send(before))
    report = report_of(session.send("compare them"))
    assert report.answer.startswith("Name two, as in “compare A and B”")
    assert report.level == "nothing"
