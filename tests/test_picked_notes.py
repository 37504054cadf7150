"""Questions about one of the notes that were listed before, in five languages."""

from pathlib import Path

import pytest
from conftest import write_notes
from factories import AppFixture, answer_to, report_of

from zkchat_cli.llm.offline.list_positions import LAST, ListPosition, read_position

VAULT = {
    "Meetings/2026-03-10 House.md": "---\ntype: meeting\n---\nThe front will be painted.\n",
    "Meetings/2026-05-21 School.md": "---\ntype: meeting\n---\nThe trip goes to Bath. It costs"
    " £90.\n",
    "Meetings/2026-10-08 Club.md": "---\ntype: meeting\n---\nMira keeps the cash box.\n",
    "Journal/2026-11-01.md": "Went to the last meeting of the choir.\n",
}
LISTS = {
    "which meetings were there in 2026?": "what did we decide in the last one?",
    "welche Sitzungen gab es 2026?": "was haben wir in der letzten entschieden?",
    "quelles réunions y a-t-il eu en 2026 ?": "qu'avons-nous décidé dans la dernière ?",
    "¿qué reuniones hubo en 2026?": "¿qué decidimos en la última?",
    "quais reuniões houve em 2026?": "o que decidimos na última?",
}


def last_answer(app: AppFixture, *messages: str) -> str:
    session = app.session()
    return [report_of(session.send(message)).answer for message in messages][-1]


@pytest.mark.parametrize("listed", LISTS)
def test_question_about_the_last_one_is_answered_from_the_last_note_of_the_list(
    app: AppFixture, listed: str
) -> None:
    assert "The front will be painted." in last_answer(app, listed, LISTS[listed])


def test_question_about_a_listed_note_is_answered_from_it_alone(app: AppFixture) -> None:
    said = last_answer(
        app, "which meetings were there in 2026?", "what does the trip cost in the second one?"
    )
    assert said.startswith("2026-05-21 School:\n\n“")
    assert "£90" in said
    assert "cash box" not in said


def test_same_question_about_another_note_needs_only_its_place(app: AppFixture) -> None:
    said = last_answer(
        app,
        "which meetings were there in 2026?",
        "what did we decide in the last one?",
        "and in the first one?",
    )
    assert "Mira keeps the cash box." in said


@pytest.mark.parametrize(
    "message",
    [
        "what did we decide in the last meeting?",
        "was haben wir in der letzten Sitzung entschieden?",
        "qu'avons-nous décidé dans la dernière réunion ?",
        "¿qué decidimos en la última reunión?",
        "o que decidimos na última reunião?",
    ],
)
def test_question_about_the_latest_note_of_a_kind_needs_no_list(
    app: AppFixture, message: str
) -> None:
    said = answer_to(app, message)
    assert "Mira keeps the cash box." in said
    assert "painted" not in said


def test_title_above_a_note_that_is_called_otherwise_is_no_part_of_its_outline(
    app: AppFixture, vault: Path
) -> None:
    text = "# Club\n\n## Decisions\n\nThe fair is in June.\n\n## Money\n\nThe fee is £25.\n"
    write_notes(vault, {"Meetings/2026-11-08.md": f"---\ntype: meeting\n---\n{text}"})
    said = answer_to(app, "what did we decide in the last meeting?")
    assert "- Decisions: “The fair is in June.”" in said
    assert "- Club" not in said


@pytest.mark.parametrize(
    ("message", "position"),
    [
        ("the last one", ListPosition(LAST)),
        ("summarize the last one", ListPosition(LAST)),
        ("wer war beim zweiten dabei?", ListPosition(2, "wer war dabei?")),
        ("die letzten", None),
        ("was war in der letzten woche los", None),
        ("what is the first step", None),
        ("what does the third one say about bees", ListPosition(3, "what does say about bees")),
        ("what did Anna say about the last one we bought", None),
        ("the first one I tried was too salty", None),
        ("qu'a-t-on fait la semaine dernière ?", None),
    ],
)
def test_place_in_a_list_is_read(message: str, position: ListPosition | None) -> None:
    assert read_position(message) == position
