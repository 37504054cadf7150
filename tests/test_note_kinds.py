"""Requests for tasks and for notes of a kind and state, and those that continue them, in five
languages.
"""

from pathlib import Path

import pytest
from conftest import write_notes
from factories import AppFixture, answer_to, report_of

from zkchat_cli.llm.offline.follow_ups import resolve_request

VAULT = {
    "Reading/Emma.md": "---\ntype: book\nstatus: finished\nrating: 5\n---\nA comedy.\n",
    "Reading/Dune.md": "---\ntype: book\nstatus: reading\n---\nA planet.\n",
    "Reading/Ulysses.md": "---\ntype: book\nstatus: to read\n---\nA day in Dublin.\n",
    "Library.md": "The library has a book about bees. #library\n",
    "Guides/Swap.md": "---\nstatus: outdated\n---\nAdd swap. #howto\n",
    "Guides/Keys.md": "---\nstatus: stable\n---\nMake keys. See [[Swap]]. #howto\n",
    "Tasks.md": "- [ ] buy lamps\n- [x] sweep the yard\n- TODO paint the fence\n",
}


@pytest.mark.parametrize(
    ("message", "said", "missing"),
    [
        ("which books have I not finished?", "2 notes", "Emma"),
        ("welche Bücher habe ich noch nicht gelesen?", "2 Notizen", "Emma"),
        ("welche bücher sind offen", "2 Notizen", "Emma"),
        ("quels livres n'ai-je pas encore lus ?", "2 notes", "Emma"),
        ("¿qué libros no he terminado?", "2 notas", "Emma"),
        ("quais livros ainda não li?", "2 notas", "Emma"),
        ("how many books have I read?", "1 note", "Dune"),
        ("books without a rating", "2 notes", "Emma"),
        ("which howtos are outdated?", "1 note", "Keys"),
        ("which howtos are outdated or stable?", "2 notes", "Emma"),
        ("books I finished", "1 note", "Dune"),
        ("welche Anleitungen sind veraltet?", "1 Notiz", "Keys"),
        ("notes with #howto that do not mention keys", "1 note", "Keys"),
        ("which guides do not link to anything?", "1 note", "Keys"),
    ],
)
def test_notes_of_a_kind_are_told_by_the_tags_folders_and_properties_of_the_vault(
    app: AppFixture, message: str, said: str, missing: str
) -> None:
    answered = answer_to(app, message)
    assert answered.startswith(said)
    assert missing not in answered


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("tasks that are not done", "Open tasks: 2, in 1 note.\n\n- Tasks: “[ ] buy lamps” [1]"),
        ("welche Aufgaben sind offen?", "Offene Aufgaben: 2, in 1 Notiz."),
        ("quelles tâches ne sont pas terminées ?", "Tâches ouvertes : 2, dans 1 note."),
        ("¿qué tareas están pendientes?", "Tareas pendientes: 2, en 1 nota."),
        ("quais tarefas ainda estão abertas?", "Tarefas abertas: 2, em 1 nota."),
        ("which tasks are done?", "Done tasks: 1, in 1 note.\n\n- Tasks: “[x] sweep the yard” [1]"),
        ("open tasks in the guides", "Your notes have no open task in guides/."),
        ("what is open in the tasks note?", "Open tasks about tasks: 2, in 1 note."),
        ("open tasks about zebras", "Your notes have no open task about zebras."),
    ],
)
def test_tasks_are_quoted_with_how_many_there_are(app: AppFixture, message: str, said: str) -> None:
    assert answer_to(app, message).startswith(said)


@pytest.mark.parametrize("message", ["which vitamins are missing?", "which stars are red?"])
def test_noun_that_names_no_notes_is_searched(app: AppFixture, message: str) -> None:
    report = report_of(app.session().send(message))
    assert not report.answer.startswith("No note")


@pytest.mark.parametrize(
    ("messages", "fields"),
    [
        (["what did I write in March?", "and in April?"], {"dates": "in April"}),
        (["notes about bees", "only those with #book"], {"about": "bees", "tag": "book"}),
        (["notes about bees", "as a table"], {"kind": "table", "about": "bees"}),
        (
            ["compare podman and docker", "in a table"],
            {"kind": "compare", "left": "podman", "right": "docker", "what": "table"},
        ),
        (
            ["compare a Vivo e a Claro", "numa tabela"],
            {"kind": "compare", "left": "Vivo", "right": "Claro", "what": "table"},
        ),
        (["notes about bees", "how many are there?"], {"kind": "count", "about": "bees"}),
        (["notes about bees", "the second one"], {"kind": "outline", "pick": 2, "about": "bees"}),
        (["notes about bees", "thanks", "open it"], {"kind": "outline", "pick": 1}),
        (["notes about bees", "the second one", "and in May?"], {"kind": "list", "pick": 0}),
        (["notes about bees", "the oldest three"], {"oldest": True, "limit": 3}),
        (["which guides are stable?", "and outdated?"], {"noun": "guides", "state": "outdated"}),
        (["Notizen über Bienen", "und im April?"], {"about": "Bienen", "dates": "im April"}),
        (["Notizen über Bienen", "nur die mit #buch"], {"tag": "buch"}),
        (["Notizen über Bienen", "die zweite"], {"pick": 2}),
        (["notes sur les abeilles", "et en avril ?"], {"dates": "en avril"}),
        (["notes sur les abeilles", "la deuxième"], {"pick": 2}),
        (["notas sobre abejas", "y en abril?"], {"dates": "en abril"}),
        (["notas sobre abejas", "como tabla"], {"kind": "table"}),
        (["notas sobre abelhas", "e em abril?"], {"dates": "em abril"}),
        (["notas sobre abelhas", "só as com #livro"], {"tag": "livro"}),
        (["notes about bees", "what about penguins?"], {"kind": "lookup"}),
        (["notes about bees", "how do I feed them?"], {"kind": "how_to"}),
        (["who is Ada?", "the second one"], {"kind": "more", "pick": 2}),
        (["what did I write on 3 May?", "and on the 4th?"], {"kind": "list", "dates": "on 4 May"}),
        (
            ["qu'ai-je fait le 3 mai ?", "qu'ai-je fait le 4 mai ?"],
            {"dates": "le 4 mai", "state": ""},
        ),
    ],
)
def test_follow_up_changes_the_request_before(
    messages: list[str], fields: dict[str, object]
) -> None:
    request = resolve_request(messages[-1], messages[:-1])
    assert {name: getattr(request, name) for name in fields} == fields


def test_conversation_about_a_list(app: AppFixture) -> None:
    session = app.session()
    said = [
        report_of(session.send(message)).answer
        for message in (
            "which books have I not finished?",
            "the second one",
            "as a table",
            "how many are there?",
        )
    ]
    assert said[0].startswith("2 notes with type: book without status: finished:\n\n- Dune [1]")
    assert "A day in Dublin." in said[1]
    assert "| Ulysses" in said[2]
    assert said[3].startswith("2 notes")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("notes about a book but not about bees", "about book, but not about bees"),
        ("Notizen über planet aber nicht über bees", "über planet, aber nicht über bees"),
        ("notes sur planet mais pas sur bees", "sur « planet », mais pas sur bees"),
        ("notas sobre planet pero no sobre bees", "sobre planet, pero no sobre bees"),
        ("notas sobre planet mas não sobre bees", "sobre planet, mas não sobre bees"),
    ],
)
def test_what_notes_are_not_about_follows_a_but(app: AppFixture, message: str, said: str) -> None:
    assert said in answer_to(app, message)


@pytest.mark.parametrize(
    "message",
    [
        "the latest guide",
        "die neueste Anleitung",
        "le guide le plus récent",
        "la guía más reciente",
        "o guia mais recente",
    ],
)
def test_one_note_is_wanted_by_its_age_and_shown_with_its_lines(
    app: AppFixture, vault: Path, message: str
) -> None:
    write_notes(vault, {"Guides/Roof.md": "---\ndate: 2099-01-01\n---\nTiles. #howto\n"})
    said = answer_to(app, message)
    assert "Roof" in said
    assert "Tiles." in said
    assert "Swap" not in said


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("my last note", "newest"),
        ("meine letzte Notiz", "newest"),
        ("ma dernière note", "newest"),
        ("mi última nota", "newest"),
        ("minha última nota", "newest"),
        ("the oldest note", "oldest"),
    ],
)
def test_singular_asks_for_one_note(message: str, field: str) -> None:
    request = resolve_request(message, [])
    assert request.pick == 1
    assert getattr(request, field)


@pytest.mark.parametrize(
    "message", ["my last notes", "meine letzten Notizen", "mes dernières notes", "notas recientes"]
)
def test_plural_asks_for_several_notes(message: str) -> None:
    assert resolve_request(message, []).pick == 0


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("which meetings were there in 2026", "2 notes with type: meeting | reunião, in 2026:"),
        ("welche Sitzungen gab es 2026", "2 Notizen mit type: meeting | reunião, 2026:"),
        (
            "quelles réunions y a-t-il eu en 2026 ?",
            "2 notes avec type: meeting | reunião, en 2026 :",
        ),
        ("¿qué reuniones hubo en 2026?", "2 notas con type: meeting | reunião, en 2026:"),
        ("quais reunioes houve em 2026?", "2 notas com type: meeting | reunião, em 2026:"),
    ],
)
def test_kind_that_has_names_in_two_languages_is_one(
    app: AppFixture, vault: Path, message: str, said: str
) -> None:
    write_notes(
        vault,
        {
            "2026-03-10.md": "---\ntype: meeting\n---\nThe roof.\n",
            "2026-05-21.md": "---\ntype: reunião\n---\nO telhado.\n",
            "2025-05-21.md": "---\ntype: meeting\n---\nThe door.\n",
        },
    )
    assert answer_to(app, message).startswith(said)
