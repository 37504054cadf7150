"""Requests as people type them, on a vault in each of five languages: what decides is in the notes,
not in the form of the message.
"""

import pytest
from factories import AppFixture, answer_to, report_of

VAULT = {
    "Books/Dune.md": "---\nauthor: Frank Herbert\nrating: 5\n---\n# Dune\n\nA planet. #book\n",
    "Books/Emma.md": "---\nauthor: Jane Austen\nrating: 4\n---\n# Emma\n\nA comedy. #book\n",
    "Insurances.md": "# Insurances\n\n| name | price |\n|---|---|\n| car | 430 |\n| home | 120 |\n",
    "Fallacies.md": "# Fallacies\n\nThe fallacies are the straw man and the red herring.\n",
    "Starter.md": "- how to feed the starter\n\t- discard half\n\t- add water\n- keep it cool\n",
    "Journal/2026_11_03.md": "- ran 5 km\n- Miller sent the offer\n",
    "Journal/2025_10_05.md": "- planted garlic\n",
    "Journal/2026_11_04.md": "- weighed 77.9 kg\n",
    "Weight.md": "# Weight\n\n- 2026-11-01: 78.2 kg\n- 2026-11-03: 78.0 kg\n",
    "Küche/Tee.md": "# Tee\n\nGrüner Tee zieht zwei Minuten in heißem Wasser.\n",
    "Küche/Kaffee.md": "# Kaffee\n\nKaffee wird bei 220 Grad geröstet.\n",
    "Küche/Brot backen.md": "# Brot backen\n\n1. Den Teig kneten.\n2. Den Teig backen.\n",
    "Cuisine/Thé.md": "# Thé\n\nLe thé vert s’infuse deux minutes.\n",
    "Cuisine/Café.md": "# Café\n\nLe café est torréfié à 220 degrés.\n",
}


def test_question_about_a_day_is_answered_from_its_note(app: AppFixture) -> None:
    assert answer_to(app, "what did i weigh on 4 november 2026?").startswith(
        "From your notes:\n\n“weighed 77.9 kg”"
    )


def test_day_whose_note_does_not_say_it_is_told_with_what_it_has(app: AppFixture) -> None:
    said = answer_to(app, "what did i weigh on 3 november 2026?")
    assert said.startswith("No clear answer in your notes of 2026-11-03. They say:")
    assert "77.9" not in said


def test_line_that_begins_with_the_day_is_of_that_day(app: AppFixture) -> None:
    assert "“2026-11-03: 78.0 kg”" in answer_to(app, "how many kg on 3 november 2026?")


def test_day_without_a_note_is_told(app: AppFixture) -> None:
    said = answer_to(app, "what did i weigh on 5 november 2026?")
    assert said.startswith("None of your notes is from that time.")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("table of books", "| Dune [1] | Frank Herbert | 5 |"),
        ("tabela de books", "| Dune [1] | Frank Herbert | 5 |"),
        ("table of insurances", "| car | 430 [1] |"),
        ("list all books", "2 notes with #book:"),
    ],
)
def test_bare_request_is_one_if_notes_suit_it(app: AppFixture, message: str, said: str) -> None:
    assert said in answer_to(app, message)


@pytest.mark.parametrize("message", ["list all fallacies", "lista de fallacies"])
def test_bare_request_that_no_notes_suit_is_a_look_up(app: AppFixture, message: str) -> None:
    report = report_of(app.session().send(message))
    assert report.request == "lookup"
    assert "straw man" in report.answer


def test_notes_without_a_tag_are_listed(app: AppFixture) -> None:
    said = answer_to(app, "notes not tagged book")
    assert "without #book:" in said
    assert "Dune" not in said
    assert "notes without tags:" in answer_to(app, "which notes have no tags?")


def test_steps_are_those_below_the_item_or_title_that_names_the_task(app: AppFixture) -> None:
    assert "1. “discard half” [1]\n2. “add water” [1]\n" in answer_to(
        app, "how do i feed the starter"
    )
    assert answer_to(app, "wie backe ich brot?").startswith("Schritte aus Brot backen:")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Tee oder Kaffee?", "Kaffee:\n\n- „Kaffee wird bei 220 Grad geröstet.“"),
        ("thé ou café ?", "thé :\n\n- «\xa0Le thé vert s’infuse deux minutes.\xa0»"),
    ],
)
def test_two_names_with_or_are_compared(app: AppFixture, message: str, said: str) -> None:
    assert said in answer_to(app, message)


def test_article_is_no_choice(app: AppFixture) -> None:
    assert report_of(app.session().send("gelöscht o Dune?")).request == "lookup"


def test_summary_of_a_time_lists_its_notes(app: AppFixture) -> None:
    said = answer_to(app, "summarize what I wrote in october 2025")
    assert said == "1 note, in october 2025:\n\n- 2025_10_05: “planted garlic” [1]\n"


def test_one_of_listed_notes_of_a_kind_is_that_of_the_list(app: AppFixture) -> None:
    session = app.session()
    listed = report_of(session.send("list my books")).answer
    assert listed.index("- Dune") < listed.index("- Emma")
    assert "A comedy" in report_of(session.send("the second one")).answer
