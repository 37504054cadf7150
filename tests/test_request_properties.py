"""Requests for notes by their properties, links and due tasks, in five languages: what properties
are called and what links to nothing is in the vault.
"""

from datetime import date, timedelta
from pathlib import Path

import pytest
from conftest import write_notes
from factories import AppFixture, answer_to, report_of

from zkchat_cli.llm.offline.follow_ups import resolve_request
from zkchat_cli.text.due_dates import find_due_period

VAULT = {
    "Books/Emma.md": "---\ntype: book\nrating: 5\n---\nSee [[Dune]] and [[Persuasion]].\n",
    "Books/Dune.md": "---\ntype: book\nrating: 3\n---\nA planet.\n",
    "Books/Walden.md": "---\ntype: book\nrating: 4.5\n---\nA pond. See [[Emma]].\n",
    "People/Ana Ruiz.md": "---\ntype: person\nbirthday: 1990-05-02\n---\nA designer.\n",
    "People/Ben Roth.md": "---\ntype: person\n---\nA baker.\n",
    "Meetings/Kickoff.md": "---\ntype: meeting\nattendees: [Ana Ruiz, Ben Roth]\n---\nPlans.\n",
    "Meetings/Review.md": "---\ntype: meeting\nattendees: [Ben Roth]\n---\nAna was ill.\n",
    "Tasks.md": "- [ ] pay rent 📅 2001-02-03\n- [ ] buy lamps\n- [x] sweep 📅 2001-02-03\n",
    "Later.md": "- TODO renew passport\n  DEADLINE: <2199-05-04 Sat>\n"
    "- [ ] call Ben [due:: 2199-05-06]\n",
}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("books rated 5", "1 note with rating = 5 in Books/:\n\n- Emma"),
        ("books rated at least 4", "2 notes with rating ≥ 4 in Books/:\n\n- Emma"),
        ("books with a rating below 4", "1 note with rating < 4 in Books/:\n\n- Dune"),
        ("Bücher mit mindestens 4 Sternen", "2 Notizen"),
        ("Bücher mit einer Bewertung unter 4", "1 Notiz mit rating < 4 in Books/:\n\n- Dune"),
        ("livres notés 5", "1 note avec rating = 5 dans Books/ :\n\n- Emma"),
        ("libros con al menos 4 estrellas", "2 notas"),
        ("livros avaliados com 5", "1 nota com rating = 5 em Books/:\n\n- Emma"),
    ],
)
def test_value_of_a_property_is_compared(app: AppFixture, message: str, said: str) -> None:
    assert answer_to(app, message).startswith(said)


def test_value_restricts_the_list_before(app: AppFixture) -> None:
    session = app.session()
    report_of(session.send("list all books"))
    said = report_of(session.send("only those rated 3")).answer
    assert "- Dune" in said
    assert "Emma" not in said


@pytest.mark.parametrize(
    "message",
    [
        "people without a birthday",
        "Personen ohne Geburtstag",
        "personnes sans anniversaire",
        "personas sin cumpleaños",
        "pessoas sem aniversário",
    ],
)
def test_property_is_known_by_its_name_in_another_language(app: AppFixture, message: str) -> None:
    said = answer_to(app, message)
    assert "Ben Roth" in said
    assert "Ana Ruiz" not in said


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("people without an email", "None of these notes has a property email."),
        ("Personen ohne Telefonnummer", "Keine dieser Notizen hat eine Eigenschaft Telefonnummer."),
        ("personnes sans adresse", "Aucune de ces notes n'a de propriété adresse."),
        ("personas sin correo", "Ninguna de esas notas tiene la propiedad correo."),
        ("pessoas sem endereço", "Nenhuma dessas notas tem a propriedade endereço."),
    ],
)
def test_property_that_no_note_has_is_told(app: AppFixture, message: str, said: str) -> None:
    assert answer_to(app, message) == f"{said}\n"


@pytest.mark.parametrize(
    "message",
    [
        "which meetings did Ana attend?",
        "meetings with Ana",
        "an welchen Besprechungen hat Ana teilgenommen?",
        "Besprechungen mit Ana",
        "à quelles réunions Ana a-t-elle participé ?",
        "¿a qué reuniones asistió Ana?",
        "de que reuniões a Ana participou?",
    ],
)
def test_meetings_of_a_person_are_those_with_their_name_in_a_property(
    app: AppFixture, message: str
) -> None:
    said = answer_to(app, message)
    assert "- Kickoff" in said
    assert "Review" not in said


@pytest.mark.parametrize(
    "message",
    [
        "notes that nothing links to",
        "which notes are not linked from anywhere?",
        "verwaiste Notizen",
        "notes orphelines",
        "notas huérfanas",
        "notas órfãs",
    ],
)
def test_notes_without_a_link_to_them_are_listed(app: AppFixture, message: str) -> None:
    said = answer_to(app, message)
    assert said.lower().startswith("10 not")
    assert "`zkchat vault list --linked-from=-`" in said
    assert "Emma" not in said
    assert "Dune" not in said


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("which notes link to nothing and nobody links to them", "without links in either"),
        ("welche Notizen sind isoliert?", "ohne Links in irgendeine Richtung"),
        ("quelles notes sont isolées ?", "sans lien dans aucun sens"),
        ("notas aisladas", "sin enlaces en ninguna dirección"),
        ("quais notas estão isoladas?", "sem links em nenhuma direção"),
    ],
)
def test_notes_without_a_link_in_either_direction_are_listed(
    app: AppFixture, message: str, said: str
) -> None:
    answer = answer_to(app, message)
    assert said in answer
    assert "`zkchat vault list --links-to=- --linked-from=-`" in answer
    assert "Emma" not in answer


def test_orphans_are_listed_by_the_command(app: AppFixture) -> None:
    assert "Walden" in answer_to(app, "notes that nothing links to")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("broken links", "Broken links: 1, in 1 note.\n\n- Emma: [[Persuasion]] [1]\n"),
        ("how many broken links do I have?", "Broken links: 1, in 1 note."),
        ("welche Links sind kaputt?", "Defekte Links: 1, in 1 Notiz."),
        ("liens cassés", "Liens rompus : 1, dans 1 note."),
        ("enlaces rotos", "Enlaces rotos: 1, en 1 nota."),
        ("links quebrados", "Links quebrados: 1, em 1 nota."),
    ],
)
def test_links_to_nothing_are_listed(app: AppFixture, message: str, said: str) -> None:
    assert answer_to(app, message).startswith(said)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("overdue tasks", "Open tasks past the due date: 1, in 1 note.\n\n- Tasks: “[ ] pay rent"),
        ("what is overdue?", "Open tasks past the due date: 1, in 1 note."),
        ("überfällige Aufgaben", "Offene Aufgaben mit verstrichener Frist: 1, in 1 Notiz."),
        ("tâches en retard", "Tâches ouvertes en retard : 1, dans 1 note."),
        ("tareas vencidas", "Tareas pendientes con plazo vencido: 1, en 1 nota."),
        ("tarefas atrasadas", "Tarefas abertas com prazo vencido: 1, em 1 nota."),
        ("tasks due on 2199-05-04", "Open tasks due 2199-05-04: 1, in 1 note."),
        ("tasks due in May 2199", "Open tasks due in May 2199: 2, in 1 note."),
        ("tasks with a due date", "Open tasks with a due date: 3, in 2 notes."),
        ("tasks due tomorrow", "Your notes have no open task due tomorrow."),
        (
            "was ist morgen fällig?",
            "In deinen Notizen ist keine offene Aufgabe mit Fälligkeit morgen.",
        ),
    ],
)
def test_tasks_are_told_by_the_day_on_which_they_are_due(
    app: AppFixture, message: str, said: str
) -> None:
    assert answer_to(app, message).startswith(said)


def test_deadline_below_a_task_is_shown_with_it(app: AppFixture) -> None:
    assert "- 2199-05-04. Later: “TODO renew passport" in answer_to(app, "tasks due in May 2199")


def test_due_tasks_of_the_nearest_days(app: AppFixture, vault: Path) -> None:
    tomorrow = (date.today() + timedelta(days=1)).isoformat()
    write_notes(vault, {"Soon.md": f"- [ ] water plants 📅 {tomorrow}\n"})
    assert "water plants" in answer_to(app, "¿qué vence mañana?")


@pytest.mark.parametrize(
    ("written", "first", "last"),
    [
        ("today", "2026-11-30", "2026-11-30"),
        ("morgen", "2026-12-01", "2026-12-01"),
        ("cette semaine", "2026-11-30", "2026-12-06"),
        ("la próxima semana", "2026-12-07", "2026-12-13"),
        ("na semana que vem", "2026-12-07", "2026-12-13"),
        ("this month", "2026-11-01", "2026-11-30"),
        ("next month", "2026-12-01", "2026-12-31"),
        ("in the next 3 days", "2026-11-30", "2026-12-02"),
        ("nos próximos dias", "2026-11-30", "2026-12-06"),
        ("on Friday", "2026-12-04", "2026-12-04"),
        ("bis Freitag", "0001-01-01", "2026-12-04"),
        ("in May 2027", "2027-05-01", "2027-05-31"),
    ],
)
def test_what_is_due_lies_ahead(written: str, first: str, last: str) -> None:
    period = find_due_period(written, date(2026, 11, 30))
    assert period is not None
    assert (period.first.isoformat(), period.last.isoformat()) == (first, last)


def test_other_words_are_no_day() -> None:
    assert find_due_period("diligence", date(2026, 11, 30)) is None


@pytest.mark.parametrize(
    ("messages", "fields"),
    [
        (["films rated 4", "and only those with 5"], {"property": "rating: = 5"}),
        (["Filme mit mindestens 4 Sternen", "nur die mit 5"], {"property": "rating: = 5"}),
        (["films notés 4", "seulement ceux avec plus de 4"], {"property": "rating: > 4"}),
    ],
)
def test_number_takes_the_place_of_the_one_before(
    messages: list[str], fields: dict[str, object]
) -> None:
    request = resolve_request(messages[-1], messages[:-1])
    assert {name: getattr(request, name) for name in fields} == fields


def test_books_of_an_author_have_the_name_in_a_property(app: AppFixture, vault: Path) -> None:
    write_notes(vault, {"Books/Persuasion.md": "---\ntype: book\nautor: Jane Austen\n---\nBath.\n"})
    said = answer_to(app, "books by Jane Austen")
    assert said.startswith("1 note")
    assert "- Persuasion" in said
