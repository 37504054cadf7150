"""Notes of a kind that are chosen by what they are about, by when something was done with them, or
by their place in time, in five languages.
"""

import pytest
from factories import AppFixture, answer_to

VAULT = {
    "Books/Emma.md": "---\nfinished: 2024-03\n---\nA comedy.\n",
    "Books/Dune.md": "---\nfinished: 2023-11-02\n---\nA planet.\n",
    "Books/Ulysses.md": "---\nstatus: shelved\n---\nA day in Dublin.\n",
    "Meetings/2024-01-09 Board call.md": "The lease was signed.\n",
    "Meetings/2024-02-06 Board call.md": "The lease was paid.\n",
    "Meetings/2024-02-20 Choir.md": "We sing Bach.\n",
    "Diary/2023-05-01.md": "Planted beans.\n",
    "Diary/2024-05-02.md": "Planted peas.\n",
    "Diary/2024-06-03.md": "Picked peas.\n",
    "App/Release notes/App 1.md": "The first one. #app\n",
    "App/Release notes/App 2.md": "The second one. #app\n",
}


@pytest.mark.parametrize(
    ("message", "said", "unsaid"),
    [
        ("how many board call meetings were there and when?", "2 notes about board call", "Choir"),
        ("list all board call meetings", "2024-01-09 Board call", "Choir"),
        ("list all release notes of the app", "2 notes", "Board"),
        ("which books have the status shelved?", "1 note", "Dune"),
        ("welche Bücher haben den Status shelved?", "1 Notiz", "Dune"),
        ("which books did I finish in 2024?", "Emma: “finished: 2024-03”", "Dune"),
        ("welche Bücher habe ich 2024 gelesen?", "Emma: „finished: 2024-03“", "Dune"),
        ("quels livres ai-je lus en 2024 ?", "finished: 2024-03", "Dune"),
        ("¿qué libros leí en 2024?", "Emma: «finished: 2024-03»", "Dune"),
        ("que livros li em 2024?", "Emma: “finished: 2024-03”", "Dune"),
        ("what did I write in my diary in May 2024?", "Planted peas.", "Picked"),
        ("was habe ich im Mai 2024 in meinem Tagebuch notiert?", "Planted peas.", "Picked"),
        ("qu'ai-je écrit dans mon journal en mai 2024 ?", "Planted peas.", "Picked"),
        ("¿qué escribí en mi diario en mayo de 2024?", "Planted peas.", "Picked"),
        ("o que escrevi no meu diário em maio de 2024?", "Planted peas.", "Picked"),
        ("my oldest diary entry of 2024", "Planted peas.", "beans"),
        ("the first meeting", "The lease was signed.", "paid"),
    ],
)
def test_notes_of_a_kind_are_chosen(app: AppFixture, message: str, said: str, unsaid: str) -> None:
    answer = answer_to(app, message)
    assert said in answer
    assert unsaid not in answer


def test_words_before_a_kind_that_no_note_has_are_searched(app: AppFixture) -> None:
    assert "Meetings/" not in answer_to(app, "how many zebra meetings were there?")


def test_notes_of_a_kind_with_their_properties_are_a_table(app: AppFixture) -> None:
    answer = answer_to(app, "list all my books with their finished dates")
    assert "| 2024-03 |" in answer
