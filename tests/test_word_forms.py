"""Search finds a word in any of its forms, with a typo, and in a compound; phrases are exact."""

from pathlib import Path

import pytest
from notes_folder import NotesFolder

from zkchat_cli.text.words import LANGUAGES, detect_language, stem_words

ENGLISH = {
    "Chores": (
        "The chores are repeated every week, and that is how it should be. Difference of "
        "opinion is not a problem."
    ),
    "Kettle": (
        "This is about the kettle: what it does and how you would clean it. Whistling is what "
        "it does when the water is hot."
    ),
    "Zones": (
        "What is the time in another zone of the world? That is for the clock to say, and you "
        "have to ask it."
    ),
}
GERMAN = {
    "Aufgaben": (
        "Das sind die Aufgaben, die ich in der Woche mit dem Kalender und der Liste erledigen kann."
    ),
    "Häuser": (
        "Die Häuser sind nicht mehr die neuesten, und das ist auch nicht zu ändern, wie man "
        "sich denken kann. Straßenglätte!"
    ),
}


@pytest.mark.parametrize(
    ("files", "query", "found"),
    [
        (ENGLISH, "repeating chore", "Chores.md"),
        (ENGLISH, "cleaned the kettles", "Kettle.md"),
        (ENGLISH, "the kettle's whistle", "Kettle.md"),
        (ENGLISH, "differrence", "Chores.md"),
        (ENGLISH, "kettel", "Kettle.md"),
        (ENGLISH, "ketle", "Kettle.md"),
        (ENGLISH, "timezones", "Zones.md"),
        (GERMAN, "Aufgabe", "Aufgaben.md"),
        (GERMAN, "Haus", "Häuser.md"),
        (GERMAN, "Aufgabenliste", "Aufgaben.md"),
        (GERMAN, "die Straße im Winter", "Häuser.md"),
        (GERMAN, "Glätte", "Häuser.md"),
        (ENGLISH | GERMAN, "neuestes Haus", "Häuser.md"),
        (ENGLISH | GERMAN, "whistles", "Kettle.md"),
        (
            {"Заметки": "Это новый список, и в нём есть всё, что как бы нужно для заметок."},
            "новая заметка",
            "Заметки.md",
        ),
    ],
)
def test_a_word_is_found_in_another_form(
    tmp_path: Path, files: dict[str, str], query: str, found: str
) -> None:
    assert NotesFolder(tmp_path, **files).found(query)[:1] == [found]


@pytest.mark.parametrize("query", ['"kettles"', '"whistle"', "kttl", "chose"])
def test_phrases_are_exact_and_short_words_have_no_typos(tmp_path: Path, query: str) -> None:
    assert NotesFolder(tmp_path, **ENGLISH).found(query) == []


def test_the_form_as_written_counts_more(tmp_path: Path) -> None:
    notes = NotesFolder(
        tmp_path,
        A="We sail with sailors, and sailing is fun.",
        B="We sailed, sails up, on a sail. Fun with the sailors, too.",
    )
    assert notes.found("sailed")[0] == "B.md"
    assert notes.found("sailing")[0] == "A.md"


def test_a_typo_is_none_where_the_vault_has_the_word(tmp_path: Path) -> None:
    notes = NotesFolder(tmp_path, Project="A project, a project.", Protect="How to protect it.")
    assert notes.found("protect") == ["Protect.md"]


def test_forms_follow_the_notes(tmp_path: Path) -> None:
    notes = NotesFolder(tmp_path, **ENGLISH)
    assert notes.found("boiled") == []
    notes.write("Kettle.md", "The kettle boils.")
    notes.vault.refresh()
    assert notes.found("boiled") == ["Kettle.md"]
    notes.check()
    notes.write("Kettle.md", "Die Häuser, die ich mit dem Kessel und der Liste nicht heizen kann.")
    notes.vault.refresh()
    assert notes.found("boiled") == []
    assert notes.found("Haus") == ["Kettle.md"]
    notes.check()


def test_a_chinese_question_finds_a_note_that_shares_single_characters(tmp_path: Path) -> None:
    notes = NotesFolder(
        tmp_path, 睡眠="睡前三小时不要进食。", 学习="晚上看书做笔记。", 工作="晚上开会以后写总结。"
    )
    assert notes.found("夜里睡觉前能吃东西吗")[0] == "睡眠.md"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("how do I sort the list", "english"),
        ("wie kann ich das machen", "german"),
        ("comment est-ce que je fais", "french"),
        ("cómo se hace para que no", "spanish"),
        ("hur kan jag göra det", "swedish"),
        ("как это сделать, если это не так", "russian"),
        ("la la 42", None),
    ],
)
def test_a_language_is_recognized_by_its_frequent_words(text: str, language: str | None) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_a_stemmer(language: str) -> None:
    assert stem_words(["zettel42"], language)
