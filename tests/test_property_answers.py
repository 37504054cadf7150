"""Questions for a property of a note that they name, in five languages."""

from pathlib import Path

import pytest
from conftest import write_notes
from factories import AppFixture, answer_to, report_of

VAULT = {
    "People/Tante Helga.md": "---\ntype: Person\ngeburtstag: 1951-12-03\nstadt: Passau\n---\n"
    "Schwester meiner Mutter. Hat im Mai geheiratet.\n",
    "People/Jonas.md": "---\ntype: Person\ngeburtstag: 1988-04-17\nstadt: Leipzig\n---\n"
    "Mein Bruder. Zum Geburtstag kam Tante Helga.\n",
    "Books/Emma.md": "---\nauthor: Jane Austen\n---\nA comedy about a matchmaker.\n",
    "Recipes/Chai.md": "---\ntiempo: 15\n---\nTea with milk.\n",
    "Recipes/Soup.md": "---\ntiempo: 50\n---\nPeas and mint.\n",
}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("wann hat Tante Helga Geburtstag?", "Tante Helga: „geburtstag: 1951-12-03“"),
        ("when was Jonas born?", "Jonas: “geburtstag: 1988-04-17”"),
        ("where does Jonas live?", "Jonas: “stadt: Leipzig”"),
        ("c'est quand l'anniversaire de tante Helga ?", "Tante Helga: «\xa0geburtstag: 1951-12-03"),
        ("cuánto dura la receta Chai", "Chai: «tiempo: 15»"),
        ("¿quién escribió Emma?", "Emma: «author: Jane Austen»"),
        ("quem escreveu Emma?", "Emma: “author: Jane Austen”"),
    ],
)
def test_property_of_a_named_note_is_the_whole_answer(
    app: AppFixture, message: str, said: str
) -> None:
    answer = answer_to(app, message)
    assert said in answer
    assert answer.count("[") == 1


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("people who live in Leipzig", "1 note with stadt: Leipzig in People/:\n\n- Jonas [1]"),
        ("Personen aus Leipzig", "1 Notiz mit stadt: Leipzig in People/:"),
        ("recipes under an hour", "2 notes with tiempo < 60 in Recipes/:"),
        ("recipes with mint", "1 note about mint in Recipes/:\n\n- Soup [1]"),
    ],
)
def test_notes_of_a_kind_are_chosen_by_a_place_a_duration_and_what_is_in_them(
    app: AppFixture, message: str, said: str
) -> None:
    assert answer_to(app, message).startswith(said)


def test_german_noun_is_no_person_where_a_property_only_looks_like_one(
    app: AppFixture, vault: Path
) -> None:
    write_notes(
        vault,
        {
            "Rezepte/Curry.md": "---\nportionen: 3\n---\nLinsen in Kokosmilch.\n",
            "Rezepte/Brot.md": "---\nportionen: 8\n---\nMehl und Salz.\n",
        },
    )
    assert "- Curry [1]" in answer_to(app, "Zeig mir Rezepte mit Kokosmilch")


def test_question_for_more_than_a_property_is_looked_up(app: AppFixture) -> None:
    answer = answer_to(app, "who came to the birthday of Jonas?")
    assert "Zum Geburtstag kam Tante Helga." in answer


def test_who_was_at_a_listed_meeting_is_told_by_its_property(app: AppFixture, vault: Path) -> None:
    write_notes(
        vault,
        {
            "2026-03-10.md": "---\ntype: meeting\nattendees: [Ana, Ben]\n---\nThe roof.\n",
            "2026-05-21.md": "---\ntype: meeting\nattendees: [Cleo]\n---\nThe door.\n",
        },
    )
    session = app.session()
    report_of(session.send("which meetings were there in 2026?"))
    said = report_of(session.send("who was at the last one?")).answer
    assert said.startswith("2026-03-10: “attendees: [Ana, Ben]”")


def test_columns_of_a_table_are_found_without_accents_and_the_kind_is_none(
    app: AppFixture, vault: Path
) -> None:
    write_notes(
        vault,
        {
            "Rayuela.md": "---\ntipo: libro\nvaloración: 4\n---\nParís.\n",
            "Nada.md": "---\ntipo: libro\nvaloración: 5\n---\nBarcelona.\n",
        },
    )
    assert "| nota | valoración |" in answer_to(
        app, "hazme una tabla con los libros y su valoracion"
    )
    assert "| nota | valoración |" in answer_to(app, "hazme una tabla de mis libros")


def test_summary_of_a_journal_in_a_month_lists_its_notes(app: AppFixture, vault: Path) -> None:
    write_notes(
        vault,
        {
            "Journal/2026-10-04.md": "Six kilometres along the lake.\n",
            "Journal/2026-10-18.md": "Nine kilometres.\n",
            "Journal/2026-11-06.md": "Snow.\n",
        },
    )
    said = answer_to(app, "summarize my journal from October 2026")
    assert said.startswith("2 notes in Journal/, from October 2026:")


def test_property_of_two_notes_is_quoted_once_with_both_titles(
    app: AppFixture, vault: Path
) -> None:
    write_notes(
        vault,
        {
            "Plants/Fig.md": "---\nwater: every Friday evening\n---\nOn the balcony.\n",
            "Plants/Fern.md": "---\nwater: every Friday evening\n---\nIn the hall.\n",
        },
    )
    said = answer_to(app, "is there anything to water in the evening on a Friday?")
    quoted = "“water: every Friday evening” [1][2]"
    assert f"Fig, Fern: {quoted}" in said or f"Fern, Fig: {quoted}" in said


def test_property_that_a_look_up_quotes_says_of_which_note_it_is(app: AppFixture) -> None:
    said = answer_to(app, "is anybody of us from the Passau area?")
    assert "Tante Helga: “stadt: Passau”" in said
