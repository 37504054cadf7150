"""Requests for notes of a kind that only their titles or a heading above a list say."""

import pytest
from factories import AppFixture, answer_to, report_of

from zkchat_cli.text.note_titles import kinds_named_by
from zkchat_cli.vault.catalog import NoteSelection

VAULT = {
    "Machine - nas.md": "It runs in the cellar.\n",
    "Machine - router.md": "It is by the door.\n",
    "Machine learning.md": "A machine learns from examples.\n",
    "Máquina: torno.md": "Corta madera.\n",
    "Máquina: sierra.md": "Corta tablas.\n",
    "Standup 2026-03-04.md": "The import works.\n",
    "Standup 2026-03-09.md": "The export works.\n",
    "Homelab.md": "## Servers\n\n- atlas: backups\n- borg: films\n\n## Kabel\n\n- cat6\n",
}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("list my machines", "2 notes with Machine in the title:\n\n- Machine - nas [1]"),
        ("show machines", "2 notes with Machine in the title:"),
        ("which machines do I have?", "2 notes with Machine in the title:"),
        ("montre mes machines", "2 notes avec Machine dans le titre :"),
        ("zeig meine Standups", "2 Notizen mit Standup im Titel:"),
        ("lista mis máquinas", "2 notas con Máquina en el título:\n\n- Máquina: sierra [1]"),
        ("mostra as minhas máquinas", "2 notas com Máquina no título:"),
        ("last two standups", "2 notes with Standup in the title:\n\n- Standup 2026-03-09 [1]"),
    ],
)
def test_titles_say_the_kind_where_no_folder_tag_or_property_does(
    app: AppFixture, message: str, said: str
) -> None:
    assert answer_to(app, message).startswith(said)


@pytest.mark.parametrize(
    "message",
    [
        "the last standup",
        "what did we say in the last standup?",
        "das letzte Standup",
        "le dernier standup",
        "el último standup",
        "o último standup",
    ],
)
def test_newest_note_of_a_kind_that_titles_say_is_shown(app: AppFixture, message: str) -> None:
    said = answer_to(app, message)
    assert "The export works." in said
    assert "import" not in said


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("list my servers", "The items of Homelab › Servers:\n\n- “atlas: backups” [1]\n"),
        ("meine Server", "Die Punkte von Homelab › Servers:"),
        ("meine Kabel", "Die Punkte von Homelab › Kabel:\n\n„cat6“ [1]"),
    ],
)
def test_list_below_a_heading_of_that_name_is_shown(
    app: AppFixture, message: str, said: str
) -> None:
    assert answer_to(app, message).startswith(said)


@pytest.mark.parametrize("message", ["show examples", "the last straw", "list comprehension"])
def test_noun_that_names_no_notes_is_looked_up(app: AppFixture, message: str) -> None:
    assert report_of(app.session().send(message)).request == "lookup"


@pytest.mark.parametrize(
    ("title", "kinds"),
    [
        ("Machine - nas", {"machine", "nas"}),
        ("2026-03-04 Standup", {"standup"}),
        ("Sitzung mit Ana 2026-03-04", {"sitzung", "ana"}),
        ("Recipe: lentil soup", {"recipe"}),
        ("Machine learning", set()),
        ("Machines", set()),
        ("2026-03-04", set()),
    ],
)
def test_kinds_that_a_title_may_name(title: str, kinds: set[str]) -> None:
    assert kinds_named_by(title) == kinds


def test_notes_are_listed_by_the_kind_in_their_titles(app: AppFixture) -> None:
    found = app.vault.catalog.list_notes(NoteSelection(about="title:maquina|standup door"))
    assert found == []
    found = app.vault.catalog.list_notes(NoteSelection(about="door title:machine"))
    assert [note.path for note in found] == ["Machine - router.md"]
