"""Requests for the dates of a property in a month or year, in five languages."""

from datetime import date

import pytest
from factories import AppFixture, answer_to, report_of

from zkchat_cli.text.dates import Period
from zkchat_cli.vault.property_dates import find_property_dates

VAULT = {
    "People/Ana.md": "---\nbirthday: 1984-05-12\n---\nLives in Porto.\n",
    "People/Ben.md": "---\ngeburtstag: 02.06.1990\n---\nPlays chess.\n",
    "People/Carla.md": "born:: May 30, 1979\n",
    "Family birthdays.md": "- Dora: 20 May\n- Emil: 24.12.\n",
    "Domain.md": "---\nrenewal: 2027-06-11\n---\nPaid by card.\n",
    "Cake.md": "Bake it on 3 May 2026.\n",
}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("birthdays in May", "Birthdays, in May: 3, in 3 notes.\n\n- Ana: “birthday: 1984-05-12”"),
        ("who has birthday in May?", "Birthdays, in May: 3"),
        ("whose birthday is in May?", "Birthdays, in May: 3"),
        ("people born in May", "Birthdays, in May: 3"),
        ("birthdays in May 2026", "Birthdays, in May 2026: 3"),
        ("who was born in 1990?", "Birthdays, in 1990: 1, in 1 note.\n\n- Ben: “geburtstag: 02."),
        ("all birthdays", "Birthdays: 5, in 4 notes."),
        ("birthdays in March", "Birthdays, in March: none, of 5."),
        ("wer hat im Juni Geburtstag?", "Geburtstage, im Juni: 1, in 1 Notiz.\n\n- Ben: "),
        ("welche Geburtstage sind im Mai?", "Geburtstage, im Mai: 3, in 3 Notizen."),
        ("qui est né en mai ?", "Anniversaires, en mai : 3, dans 3 notes."),
        ("quels sont les anniversaires de mai ?", "Anniversaires, mai : 3, dans 3 notes."),
        ("¿quién cumple años en mayo?", "Cumpleaños, en mayo: 3, en 3 notas."),
        ("¿quién nació en mayo?", "Cumpleaños, en mayo: 3, en 3 notas."),
        ("quem faz anos em maio?", "Aniversários, em maio: 3, em 3 notas."),
        ("quem nasceu em maio?", "Aniversários, em maio: 3, em 3 notas."),
        ("renewals in June 2027", "renewals, in June 2027: 1, in 1 note.\n\n- Domain: “renewal: "),
    ],
)
def test_dates_of_a_property_are_listed_by_month_or_year(
    app: AppFixture, message: str, said: str
) -> None:
    assert answer_to(app, message).startswith(said)


def test_dates_are_in_the_order_of_the_year_and_continue(app: AppFixture) -> None:
    session = app.session()
    said = report_of(session.send("birthdays in May")).answer
    assert said.index("Ana") < said.index("Dora") < said.index("May 30, 1979")
    assert report_of(session.send("and in June?")).answer.startswith("Birthdays, in June: 1")


@pytest.mark.parametrize(
    "message", ["birthday present ideas", "cakes in May", "when was Ana born?"]
)
def test_other_questions_are_looked_up(app: AppFixture, message: str) -> None:
    assert report_of(app.session().send(message)).request in ("lookup", "when")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("birthday: 1984-05-12", (1984, 5, 12)),
        ("- birthday: 12 May 1984", (1984, 5, 12)),
        ("birthday: 12. Mai", (0, 5, 12)),
        ("birthday:: 12 de mayo de 1984", (1984, 5, 12)),
        ("birthday: May 12th, 1984", (1984, 5, 12)),
        ("birthday: 12/05/1984", (1984, 5, 12)),
        ("birthday: 5/13", (0, 5, 13)),
        ("birthday: --05-12", (0, 5, 12)),
        ("# Birthdays\n| Ana | 12.5. |", (0, 5, 12)),
        ("# Birthday party\n- 12 May: cake", None),
        ("birthday: unknown", None),
    ],
)
def test_date_is_read_as_people_write_it(text: str, found: tuple[int, int, int] | None) -> None:
    dates = find_property_dates(text, "", ["birthday", "birthdays"])
    assert [(each.year, each.month, each.day) for each in dates] == ([found] if found else [])


def test_time_at_the_turn_of_the_year() -> None:
    found = find_property_dates("birthday: 1970-01-02", "", ["birthday"])[0]
    turn = Period(date(2026, 12, 30), date(2027, 1, 5))
    assert found.is_in(turn, any_year=True)
    assert not found.is_in(turn, any_year=False)
