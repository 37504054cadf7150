"""A message that only names another day asks the question before about that day."""

from pathlib import Path

import pytest
from conftest import write_notes
from factories import AppFixture, report_of

from zkchat_cli.llm.offline.follow_ups import whole_question

JOURNAL = {
    "2026-11-03.md": "- weighed 78.0 kg\n",
    "2026-11-04.md": "- weighed 77.9 kg\n",
    "2026-11-05.md": "- weighed 78.4 kg\n",
    "2026-12-24.md": "- cut the tree\n- baked a pie\n- sang\n",
}


@pytest.mark.parametrize(
    ("question", "follow_up", "whole"),
    [
        ("what did I eat on 3 May?", "and on the 4th?", "what did I eat on 4 May?"),
        ("what did I eat on 2026-05-03?", "the 14th", "what did I eat on 2026-05-14?"),
        ("what did I eat in May?", "and in June?", "what did I eat in June?"),
        ("Was aß ich am 3.5.2026?", "und am 4.?", "Was aß ich am 4.5.2026?"),
        ("Was aß ich am 3. Mai?", "und am 12.?", "Was aß ich am 12. Mai?"),
        ("qu'ai-je mangé le 3 mai ?", "et le 4 ?", "qu'ai-je mangé le 4 mai ?"),
        ("¿qué comí el 3 de mayo?", "¿y el 4?", "¿qué comí el 4 de mayo?"),
        ("o que comi em 3 de maio?", "e no dia 4?", "o que comi em 4 de maio?"),
        ("what did I eat in May?", "and June?", "what did I eat in June?"),
        ("what did I eat in May 2025?", "and in June?", "what did I eat in June 2025?"),
        ("what did I eat in 2025?", "what about June?", "what did I eat in June 2025?"),
        ("what did I eat in May 2025?", "and in 2026?", "what did I eat in 2026?"),
        ("Was aß ich im Mai 2025?", "und im Juni?", "Was aß ich im Juni 2025?"),
        ("qu'ai-je mangé en mai 2025 ?", "et juin ?", "qu'ai-je mangé en juin 2025 ?"),
        ("¿qué comí en mayo de 2025?", "¿y en junio?", "¿qué comí en junio de 2025?"),
        ("o que comi em maio de 2025?", "e em junho?", "o que comi em junho de 2025?"),
        ("who is Ada?", "and in May?", "who is Ada in May?"),
        ("wer kam zum Essen?", "und im Mai 2025?", "wer kam zum Essen im Mai 2025?"),
        ("qui est venu ?", "et en mai ?", "qui est venu en mai ?"),
        ("¿qué dijo Ada?", "¿y en mayo?", "¿qué dijo Ada en mayo?"),
        ("o que disse Ada?", "e em maio?", "o que disse Ada em maio?"),
    ],
)
def test_another_day_takes_the_place_of_the_one_in_the_question(
    question: str, follow_up: str, whole: str
) -> None:
    assert whole_question(follow_up, [question]) == whole


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("who is Ada?", "and on the 4th?"),
        ("what did I eat in May?", "and on the 4th?"),
        ("what did I eat on 3 May?", "and Ada?"),
        ("who is Ada?", "and May?"),
        ("list my meetings", "and in May?"),
        ("what did I eat on 3 May?", "and on the 99th?"),
        ("what did I eat on 3 May?", "what did I drink on 4 May?"),
    ],
)
def test_other_messages_stay_as_they_are(question: str, message: str) -> None:
    assert whole_question(message, [question]) == message


@pytest.fixture
def vault(vault: Path) -> Path:
    return write_notes(vault, JOURNAL)


def test_days_are_asked_for_one_after_the_other(app: AppFixture) -> None:
    session = app.session()
    said = [
        report_of(session.send(message)).answer
        for message in ("what did i weigh on 3 november 2026?", "and on the 4th?", "and the 5th?")
    ]
    assert "“weighed 78.0 kg”" in said[0]
    assert "“weighed 77.9 kg”" in said[1]
    assert "“weighed 78.4 kg”" in said[2]


def test_only_note_of_a_day_is_told_with_its_lines(app: AppFixture) -> None:
    said = report_of(app.session().send("what did I do on 24 December 2026?")).answer
    assert "- 2026-12-24: “cut the tree” [1]\n" in said
    assert "- 2026-12-24: “baked a pie” [1]\n" in said


def test_look_up_is_asked_again_for_one_month_after_the_other(app: AppFixture, vault: Path) -> None:
    write_notes(
        vault,
        {
            "2026-06-02.md": "- Ada mended the roof\n",
            "2026-07-02.md": "- Ada mended the door\n",
            "2026-08-02.md": "- picked apples\n",
        },
    )
    session = app.session()
    said = [
        report_of(session.send(message)).answer
        for message in ("what did Ada mend?", "and in June 2026?", "and July?", "and in August?")
    ]
    assert said[1] == "From your notes:\n\n“Ada mended the roof” [2]\n"
    assert said[2] == "From your notes:\n\n“Ada mended the door” [1]\n"
    assert said[3].startswith("No clear answer in your notes of 2026-08. They say:\n\n“picked")


@pytest.mark.parametrize(
    ("question", "follow_up", "said"),
    [
        ("wer pflückte Äpfel?", "und im Juni 2026?", "Keine deiner Notizen ist aus dieser Zeit."),
        ("qui a cueilli des pommes ?", "et en juin 2026 ?", "Aucune de vos notes ne date"),
        ("¿quién recogió las manzanas?", "¿y en junio de 2026?", "Ninguna de tus notas es"),
        ("quem colheu as maçãs?", "e em junho de 2026?", "Nenhuma das suas notas é"),
    ],
)
def test_month_without_notes_is_told(
    app: AppFixture, question: str, follow_up: str, said: str
) -> None:
    session = app.session()
    report_of(session.send(question))
    assert report_of(session.send(follow_up)).answer.startswith(said)
