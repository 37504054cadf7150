"""Tasks about something: what is in their line, above them, or in the names and tags of their note,
in five languages.
"""

import pytest
from factories import AppFixture, answer_to

from zkchat_cli.vault.note_tasks import correct_words

VAULT = {
    "Council.md": "# Council\n\n- [ ] Water the garden\n\n## Garden party\n\n- [ ] Rent a tent\n\n"
    "## Roof\n\n- [ ] Ask Miller\n",
    "Spring.md": "---\ntags: [garden]\n---\n# Spring\n\n- [ ] Order seeds\n- [x] Prune the tree\n",
    "Garden/Pond.md": "# Pond\n\n- [ ] Clean the pump\n",
    "Journal/2026_11_03.md": "- Garden\n\t- TODO Sharpen the spade\n- Office\n\t- TODO Call Ann\n",
    "Umzug.md": "# Umzug\n\n- [ ] Kartons besorgen\n",
    "Jardin.md": "# Jardin\n\n- [ ] Tailler les rosiers\n",
    "Mudanza.md": "# Mudanza\n\n- [ ] Pedir cajas\n",
    "Horta.md": "# Horta\n\n- [ ] Plantar alface\n",
}


@pytest.mark.parametrize("task", ["Water", "tent", "seeds", "pump", "spade"])
def test_the_subject_may_be_in_the_line_above_it_or_in_the_names_of_the_note(
    app: AppFixture, task: str
) -> None:
    said = answer_to(app, "open tasks about the garden")
    assert said.startswith("Open tasks about garden: 5, in 4 notes.")
    assert task in said


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("garden tasks", "about garden: 5,"),
        ("open tasks about the gardn", "about Garden: 5,"),
        ("Aufgaben zum Umzug", "Kartons besorgen"),
        ("offene Aufgaben zum Umzgu", "Offene Aufgaben über Umzug: 1"),
        ("que reste-t-il à faire au jardin ?", "Tailler les rosiers"),
        ("tareas pendientes de la mudansa", "Tareas pendientes sobre Mudanza: 1"),
        ("tarefas da horta", "Plantar alface"),
        ("how many tasks about the roof are there?", "about roof: 1,"),
        ("done tasks about the garden", "Prune the tree"),
    ],
)
def test_tasks_about_a_subject_are_listed(app: AppFixture, message: str, said: str) -> None:
    assert said in answer_to(app, message)


def test_where_no_task_is_about_it_the_notes_are_asked(app: AppFixture) -> None:
    assert "Open tasks" not in answer_to(app, "tasks of the parliament")


@pytest.mark.parametrize(
    ("text", "corrected"),
    [("mudansa", "Mudança"), ("gardn party", "Garden party"), ("car", "car"), ("zebra", "zebra")],
)
def test_a_word_that_no_text_has_is_corrected_by_one_edit(text: str, corrected: str) -> None:
    assert correct_words(text, ["Mudança de casa", "Garden party", "cat"]) == corrected
