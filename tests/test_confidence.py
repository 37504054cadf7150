"""How sure an answer in quotations is: by what distinguishes the question, not by what it shares
with the notes.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import Program, write_notes
from factories import prompt_message

from zkchat_cli.llm.offline.answer import quote_answer
from zkchat_cli.llm.offline.confidence import (
    ConfidenceSignals,
    foreign_words,
    missing_word,
    subject_size,
)
from zkchat_cli.llm.offline.question import analyze_question
from zkchat_cli.llm.offline.quotes import QuoteSource
from zkchat_cli.llm.offline.ranking import RankedPassages, rank_passages
from zkchat_cli.models.notes import Similarities

NOTES = {
    "Pottery.md": (
        "# Pottery\n\nClay dries for a week before the first firing. Glaze comes on after it.\n\n"
        "## Kiln\n\nThe kiln reaches 1,240 degrees after nine hours; open it below 80.\n"
    ),
    "Beekeeping.md": (
        "# Beekeeping\n\nA hive needs a new queen every second year.\n\n"
        "## Winter\n\nFeed fifteen kilos of sugar syrup before the end of September.\n"
    ),
    "Bicycle.md": (
        "# Bicycle\n\nOil the chain after each ride in the rain. The brake pads last a winter.\n"
    ),
}


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(
        write_notes(tmp_path / "notes", NOTES),
        tmp_path / "home",
        {"ZKCHAT_SEMANTIC__PROVIDER": "builtin"},
    )


@pytest.mark.parametrize(
    ("question", "beginning", "nearest"),
    [
        ("raku 5 Pottery", "something on Pottery, but nothing on raku", "Pottery.md"),
        ("varroa treatment of a hive", "something on hive, but nothing on varroa", "Beekeeping.md"),
        (
            "which derailleur for my bicycle chain",
            "something on bicycle chain, but nothing on derailleur",
            "Bicycle.md",
        ),
    ],
)
def test_a_question_near_the_notes_is_told_what_they_do_not_have(
    program: Program, question: str, beginning: str, nearest: str
) -> None:
    reply = program("ask", question, "--json").json
    assert reply["level"] == "most_likely"
    assert reply["answer"].startswith(f"Your notes have {beginning}. Nearest:\n\n")
    assert reply["citations"][0]["relative_path"] == nearest


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("how hot does the kiln get?", "1,240 degrees"),
        ("how much syrup do the bees get before winter", "fifteen kilos"),
    ],
)
def test_a_question_that_the_notes_answer_is_answered(
    program: Program, question: str, quoted: str
) -> None:
    reply = program("ask", question, "--json").json
    assert reply["level"] == "answer"
    assert quoted in reply["answer"]


def test_a_name_that_the_notes_do_not_have_makes_no_answer_of_what_is_near(
    program: Program,
) -> None:
    reply = program("ask", "how hot does the Skutt kiln get?", "--json").json
    assert reply["level"] == "most_likely"
    assert "something on kiln, but nothing on Skutt. Nearest:" in reply["answer"]


def test_the_missing_word_is_the_most_foreign_one_that_no_passage_has() -> None:
    question = analyze_question([prompt_message("user", "raku pottery glaze")], 0)
    cosines = {
        "raku pottery glaze": 0.5,
        "pottery glaze": 0.6,
        "raku glaze": 0.4,
        "raku pottery": 0.7,
    }
    foreign = foreign_words(
        question, "Glaze it.", lambda _, texts: [cosines[text] for text in texts]
    )
    assert [(each.word, round(each.loss, 3)) for each in foreign] == [
        ("glaze", -0.2),
        ("raku", -0.1),
        ("pottery", 0.1),
    ]
    missing = missing_word(foreign, frozenset(("raku", "pottery")))
    assert missing is not None
    assert missing.word == "raku"
    # Without "pottery" the question is farther away
    assert missing_word(foreign, frozenset(("pottery",))) is None


def test_a_name_with_a_dot_is_one_word_of_a_subject() -> None:
    question = analyze_question([prompt_message("user", "next.js push for expo")], 0)
    assert len(question.subject) == 5
    assert subject_size(question) == 3


def test_each_signal_raises_the_probability() -> None:
    signals = ConfidenceSignals(similarity=0.5, covered=0.5, lead=0.1, least_loss=-0.03, worth=1.0)
    # 1 / (1 + e^-x) with x = -5.42 + .88 * .5 + 1.11 * .5 + 6.31 * .1 - 1.83 * .03 + 4.22
    assert math.isclose(signals.probability(), 0.5917, abs_tol=0.001)
    for name in signals._fields:
        higher = signals._replace(**{name: getattr(signals, name) + 0.1})
        assert higher.probability() > signals.probability()


def ask(query: str, text: str, title: str, similarities: Similarities) -> RankedPassages:
    question = analyze_question([prompt_message("user", query)], 0)
    return rank_passages(question, [QuoteSource(1, f"{title}.md", title, None, text)], similarities)


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("export a game to the web in godot 5", "godot 5"),
        ("godot 4.9 web export", "4.9"),
        ("how does godot 4.1 export", "godot 4.1"),
    ],
)
def test_a_version_that_the_notes_do_not_have_is_missing_though_its_parts_are_not(
    query: str, missing: str
) -> None:
    text = "Godot 4 exports to the web in 5 steps. Levels are tiles, 9 by 9. Krita 4.1 draws them."
    ranked = ask(query, text, "Godot", lambda _, texts: [0.9] * len(texts))
    assert not ranked.is_answer
    assert ranked.confidence.missing == missing


@pytest.mark.parametrize(
    "query", ["export to the web in godot 4", "godot 9 tiles", "how does krita 4.1 draw"]
)
def test_a_version_in_the_notes_and_a_number_that_counts_are_not_missing(query: str) -> None:
    text = "Godot 4 exports to the web in 5 steps. Levels are tiles, 9 by 9. Krita 4.1 draws them."
    assert ask(query, text, "Godot", lambda _, texts: [0.9] * len(texts)).is_answer


@pytest.mark.parametrize(
    ("query", "is_answer"),
    [
        ("what does a berth in Harlingen cost", True),
        ("what does a berth in Ramsgate cost", False),
        ("what does berth 36 cost", False),
        ("what does a berth cost without Ramsgate", True),
    ],
)
def test_a_name_or_number_of_the_question_must_be_in_the_note_that_answers(
    query: str, is_answer: bool
) -> None:
    def similar(_: str, texts: Sequence[str]) -> list[float]:
        return [0.9 if "berth" in text else 0.2 for text in texts]

    question = analyze_question([prompt_message("user", query)], 0)
    fees = QuoteSource(1, "Fees.md", "Harlingen", None, "A berth costs 540 euros a year.")
    other = QuoteSource(2, "Log.md", "Log", None, "Ramsgate was reached after dark, at mile 36.", 1)
    assert rank_passages(question, [fees, other], similar).is_answer is is_answer


@pytest.mark.parametrize(
    "query",
    [
        "nora's shoe size",
        "what is the dose of mum's tablet",
        "password of the portal",
        "size of dr. pell's shoes",
        "Passwort vom Portal",
        "wie lautet das Passwort vom Portal",
        "cuál es la contraseña del portal",
        "quel est le code du portail",
        "qual é a senha do portal",
        "shoes in 2019",
        "who did not buy shoes?",
        "wer hat keine Schuhe",
        "qui n'a pas de chaussures",
        "quién no compró zapatos",
        "quem não comprou sapatos",
        "shoes or sandals, which are lighter",
        "Brooks vs Asics",
        "Brooks oder Asics",
        "are the running shoes lighter than leather boots",
        "phone number of mum's portal",
        "heel drop of the running shoes",
        "size of nora's running shoes",
    ],
)
def test_a_near_passage_is_no_answer_without_the_parts_that_are_asked_for(query: str) -> None:
    text = (
        "Nora has learned to swim in the lido this year.\n\n"
        "The running shoes are of size 39, and Brooks made them in 2021.\n\n"
        "Mum's portal is shut on Sundays, says the council."
    )
    ranked = ask(query, text, "Running", lambda _, texts: [0.9] * len(texts))
    assert not ranked.is_answer
    assert not ranked.confidence.is_close


@pytest.mark.parametrize(
    "query",
    [
        "nora's shoe size",
        "size of nora's shoes",
        "what is the name of Nora's shoes",
        "shoes in 2021",
        "which shoes does Nora wear if it does not rain",
        "what's the size of Brooks",
        "what was the title of the shoes",
        "Brooks or running shoes",
        "are the shoes better than Brooks",
        "what size is there other than 39",
    ],
)
def test_a_passage_with_all_parts_that_are_asked_for_answers(query: str) -> None:
    text = "Nora runs in shoes of size 39 that Brooks made in 2021, when it does not rain."
    ranked = ask(query, text, "Running", lambda _, texts: [0.9] * len(texts))
    assert ranked.is_answer


@pytest.mark.parametrize(
    ("similarity", "level", "beginning"),
    [
        (0.3, "most_likely", "Not sure; the nearest I found:"),
        (0.5, "most_likely", "Closest in your notes:"),
        (0.9, "answer", "From your notes:"),
    ],
)
def test_the_beginning_of_an_answer_claims_as_much_as_is_known(
    similarity: float, level: str, beginning: str
) -> None:
    question = analyze_question([prompt_message("user", "how hot does the kiln get")], 0)
    source = QuoteSource(1, "Kiln.md", "Pottery", None, "The oven reaches 1,240 degrees.")
    answer = quote_answer(
        question, [source], similarities=lambda _, texts: [similarity] * len(texts)
    )
    assert answer.level == level
    assert answer.text.startswith(f"{beginning}\n\n")


def test_a_year_is_never_told_to_be_nowhere_because_notes_of_it_need_not_say_it() -> None:
    question = analyze_question([prompt_message("user", "kiln backlog of May 2024")], 0)
    source = QuoteSource(1, "Kiln.md", "Pottery", None, "The backlog of the kiln is 40 plates.")
    answer = quote_answer(question, [source], similarities=lambda _, texts: [0.9] * len(texts))
    assert answer.text.startswith("Not sure; the nearest I found:")


def test_a_short_question_clearly_nearer_without_a_word_is_not_answered() -> None:
    def similar(_: str, texts: Sequence[str]) -> list[float]:
        return [0.8 if "failover" in text else 0.9 for text in texts]

    text = "A Redis cluster needs three nodes, and each node a port."
    assert ask("redis cluster nodes", text, "Redis", similar).is_answer
    ranked = ask("redis cluster failover", text, "Redis", similar)
    assert not ranked.is_answer
    assert ranked.confidence.missing == "failover"


def test_a_word_that_fits_the_names_above_a_passage_is_not_missing() -> None:
    def similar(compared: str, texts: Sequence[str]) -> list[float]:
        names_bees = compared.startswith("Beekeeping")
        return [0.9 if names_bees or "bees" not in text else 0.8 for text in texts]

    text = "Fifteen kilos of syrup are enough for a winter."
    assert ask("syrup for bees in winter", text, "Beekeeping", similar).is_answer


def test_name_of_a_folder_is_not_called_unknown(tmp_path: Path) -> None:
    notes = {
        "Journal/2026-01-08.md": "The scan of the knee was fine.\n",
        "Journal/2026-11-28.md": "On call all Saturday, the knee hurt.\n",
    }
    program = Program(
        write_notes(tmp_path / "notes", notes),
        tmp_path / "home",
        {"ZKCHAT_SEMANTIC__PROVIDER": "builtin"},
    )
    question = "journal scan of the shoulder"
    reply = program("ask", question, "--json").json
    assert "nothing on journal" not in reply["answer"]
