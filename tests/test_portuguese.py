"""Search and answers in a vault in Portuguese, with questions in other forms of the notes' words.

tests/samples/portuguese_notes.txt has the notes, each below `=== path`, and
portuguese_questions.txt a line `question => note => what an answer must quote` for each question.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import write_notes

from zkchat_cli.llm.offline.answer import quote_answer
from zkchat_cli.llm.offline.question import analyze_question
from zkchat_cli.llm.offline.quotes import QuoteSource
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.text.words import fold
from zkchat_cli.vault.vault import Vault

SAMPLES = Path(__file__).parent / "samples"
LEAST_QUOTED = 0.6


class AskedQuestion(NamedTuple):
    text: str
    note: str
    quoted: str


def read_notes() -> dict[str, str]:
    parts = (SAMPLES / "portuguese_notes.txt").read_text(encoding="utf-8").split("=== ")[1:]
    return {path: text for path, _, text in (part.partition("\n") for part in parts)}


def read_questions() -> list[AskedQuestion]:
    lines = (SAMPLES / "portuguese_questions.txt").read_text(encoding="utf-8").splitlines()
    return [AskedQuestion(*line.split(" => ")) for line in lines]


QUESTIONS = read_questions()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_notes(tmp_path_factory.mktemp("pt") / "notes", read_notes())


@pytest.fixture(scope="module")
def by_words(folder: Path) -> Iterator[Vault]:
    vault = Vault.open(folder, folder.parent / "words")
    vault.refresh()
    yield vault
    vault.close()


def mean_reciprocal_rank(vault: Vault) -> float:
    total = 0.0
    for question in QUESTIONS:
        found = list(dict.fromkeys(chunk.relative_path for chunk in vault.search(question.text)))
        if question.note in found:
            total += 1 / (found.index(question.note) + 1)
    return total / len(QUESTIONS)


def test_words_find_the_notes_in_other_forms(by_words: Vault) -> None:
    assert mean_reciprocal_rank(by_words) > 0.95


def test_most_questions_are_answered_with_the_sentence_that_answers(by_words: Vault) -> None:
    quoted = 0
    for question in QUESTIONS:
        found = by_words.search(question.text)
        sources = [
            QuoteSource(number, chunk.relative_path, chunk.title, chunk.heading, chunk.text, number)
            for number, chunk in enumerate(found, 1)
        ]
        message = PromptMessage(role="user", content=question.text, kind="conversation", tokens=0)
        answer = quote_answer(analyze_question([message], 0), sources)
        is_said = fold(question.quoted) in fold(answer.text)
        quoted += is_said and answer.level == "answer"
    assert quoted >= LEAST_QUOTED * len(QUESTIONS)
