"""Questions about one line of a list of lines, such as tasks, in five languages."""

import pytest
from factories import AppFixture, report_of

VAULT = {
    "Council.md": "# Council\n\n## Roof\n\nThe bank lends money for slate.\n\n"
    "- [ ] Ask Miller for an offer\n- [ ] Call the bank about the loan\n"
    "\t- decided on a rate of 3.2 percent\n\t- Ana has the papers\n\n"
    "## Party\n\n- [ ] Rent the tent\n- [x] Send the invitations\n\t- 40 people come\n",
    "Books/Emma.md": "---\nrating: 3\n---\n# Emma\n\nA comedy of manners.\n\n#book\n",
    "Books/Dune.md": "---\nrating: 5\n---\n# Dune\n\nThe spice is on Arrakis.\n\n#book\n",
    "Log.md": "# Log\n\n- 2026-03-01: the attic got a window\n"
    "- 2026-04-02: the attic was painted\n",
    "Odd.md": "# Odd\n\nThe plan is in [[Nowhere]], says Ana.\n",
    **{f"Zoo/{i:02}.md": f"# Zoo {i:02}\n\n- [ ] Feed animal {i:02}\n" for i in range(8)},
}


def last_answer(app: AppFixture, *messages: str) -> str:
    session = app.session()
    return [report_of(session.send(message)).answer for message in messages][-1]


@pytest.mark.parametrize(
    "messages",
    [
        ("open tasks about the council", "what did they decide in the second one?"),
        ("open tasks about the council", "show me the second task"),
        ("offene Aufgaben über Council", "was wurde in der zweiten entschieden?"),
        ("offene Aufgaben über Council", "zeig mir die zweite Aufgabe"),
        ("tâches ouvertes sur council", "qu'a-t-on décidé dans la deuxième ?"),
        ("tareas pendientes sobre council", "¿qué decidieron en la segunda tarea?"),
        ("tarefas abertas sobre council", "o que decidiram na segunda?"),
        ("open tasks about the council", "2"),
    ],
)
def test_task_at_a_place_is_quoted_with_its_section_and_what_its_note_says(
    app: AppFixture, messages: tuple[str, str]
) -> None:
    said = last_answer(app, *messages)
    assert said.startswith("Council › Roof:")
    assert "[ ] Call the bank about the loan • decided on a rate of 3.2 percent" in said
    assert "The bank lends money for slate." in said
    assert "Miller" not in said


def test_the_last_one_is_the_last_that_was_shown(app: AppFixture) -> None:
    assert "Rent the tent" in last_answer(app, "open tasks about the council", "the last one")
    assert "40 people" in last_answer(app, "done tasks", "tell me about the last one")


def test_places_after_more_are_those_of_the_new_page(app: AppFixture) -> None:
    first = last_answer(app, "open tasks", "the second one")
    second = last_answer(app, "open tasks", "more", "the second one")
    listed = last_answer(app, "open tasks", "more").split("\n")
    assert first != second
    assert listed[3].partition("“")[2].partition("”")[0] in second


def test_places_after_the_last_page_are_those_of_that_page(app: AppFixture) -> None:
    said = last_answer(app, "open tasks about the council", "more", "the second one")
    assert "Call the bank about the loan" in said


def test_one_entry_of_a_timeline_is_quoted_first(app: AppFixture) -> None:
    said = last_answer(app, "timeline of the attic", "the second one")
    assert said.startswith("Log:\n\n- “2026-04-02: the attic was painted”")


def test_a_place_behind_the_end_is_told_with_how_many_there_are(app: AppFixture) -> None:
    said = last_answer(app, "open tasks about the council", "the sixth one")
    assert said == "Open tasks about council: 3, in 1 note.\n"


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("average rating of my books", "Outline of Emma"),
        ("broken links", "Odd:\n\n“The plan is in Nowhere, says Ana.”"),
        ("which tags are there?", "2 notes with #book"),
        ("which folders are there?", "8 notes in Zoo/"),
    ],
)
def test_lines_of_other_lists_have_places_too(app: AppFixture, listed: str, said: str) -> None:
    place = "the second one" if listed.startswith("average") else "the first one"
    assert last_answer(app, listed, place).startswith(said)
