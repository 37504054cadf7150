"""Answers without a model in the language of the question."""

import re
from collections.abc import Mapping

import pytest
from factories import prompt_message

from zkchat_cli.citations.cited_sentences import states_something
from zkchat_cli.llm.offline.answer import quote_answer
from zkchat_cli.llm.offline.named_words import is_noun, phrases_of
from zkchat_cli.llm.offline.question import analyze_question
from zkchat_cli.llm.offline.quotes import QuoteSource
from zkchat_cli.text.answer_phrases import (
    PHRASES,
    AnswerPhrases,
    language_of_question,
    phrases_for,
    with_marks_of,
)
from zkchat_cli.text.note_phrases import NOTE_PHRASES
from zkchat_cli.text.request_phrases import REQUEST_PHRASES
from zkchat_cli.text.words import terms

GERMAN_NOTE = "Ein Komposthaufen braucht Luft und Wasser. Er darf nicht zu nass sein."
ENGLISH_NOTE = "A compost heap needs air and water. It must not get too wet."


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Was braucht ein Komposthaufen?", "german"),
        ("Rezept für Pizza", "german"),
        ("de quoi un compost a-t-il besoin ?", "french"),
        ("Qu'est-ce que la compaction", "french"),
        ("¿Qué necesita el compost?", "spanish"),
        ("como hago pan", "spanish"),
        ("do que a composteira precisa?", "portuguese"),
        ("receita de pão", "portuguese"),
        ("Vergleiche Tee, Kaffee", "german"),
        ("Résume [[Budget]]", "french"),
        ("Résume la page de dépannage de Frigo", "french"),
        ("liste des étiquettes", "french"),
        ("muestra #libro", "spanish"),
        ("mostre #livro", "portuguese"),
        ("summarize [[Die Welt]]", "english"),
        ("Vektordatenbanken", "german"),
        ("configuraciones", "spanish"),
        ("handwritten", None),
        ("what does a heap need?", "english"),
        ("redis sentinel failover", None),
        ("nora's shoe size", "english"),
        ("wie geht's", "german"),
        ("C#", None),
        ("", None),
    ],
)
def test_the_language_of_a_question(question: str, language: str | None) -> None:
    assert language_of_question(question) == language


def test_a_question_that_does_not_tell_is_answered_in_the_language_of_the_notes() -> None:
    german_notes = [GERMAN_NOTE + " Das ist die Regel, und sie ist nicht neu."]
    assert phrases_for("Kompost", german_notes) == PHRASES["german"]
    assert phrases_for("compost", []) == PHRASES["english"]
    assert phrases_for("self-hosted sync server", []) == PHRASES["english"]
    assert phrases_for("what does a heap need?", german_notes) == PHRASES["english"]


def answer_to(question: str, note: str) -> str:
    source = QuoteSource(1, "Kompost.md", "Kompost", None, note)
    return quote_answer(analyze_question([prompt_message("user", question)], 0), [source]).text


def test_the_frame_is_in_the_language_of_the_question_and_the_quotation_in_that_of_the_note() -> (
    None
):
    german = answer_to("Was braucht ein Komposthaufen?", GERMAN_NOTE)
    assert german.startswith("Aus deinen Notizen:\n\n“Ein Komposthaufen braucht Luft")
    spanish = answer_to("¿Qué dicen las notas de compost heap?", ENGLISH_NOTE)
    assert re.match("Según tus notas:|No estoy seguro;", spanish)
    assert "“A compost heap needs air and water." in spanish


def test_the_known_words_of_a_question_are_named_as_phrases() -> None:
    asked = "Fallacies of Quantum computing, and network latency?"
    known = {"fallacies", "computing", "network", "latency"}
    assert phrases_of(known, asked) == "Fallacies, computing, network latency"


@pytest.mark.parametrize("table", [PHRASES, NOTE_PHRASES, REQUEST_PHRASES])
@pytest.mark.parametrize("language", PHRASES)
def test_every_language_has_every_sentence_with_its_words(
    table: Mapping[str, tuple[str, ...]], language: str
) -> None:
    for phrase, english in zip(table[language], table["english"], strict=True):
        assert sorted(re.findall(r"{\w+}", phrase)) == sorted(re.findall(r"{\w+}", english))


@pytest.mark.parametrize("phrases", PHRASES.values(), ids=PHRASES)
def test_how_sure_an_answer_is_states_nothing_that_a_source_could_support(
    phrases: AnswerPhrases,
) -> None:
    for phrase in phrases.silent:
        said = phrase.format(known="redis sentinel", missing="failover", day="3 May")
        assert not states_something(f"{said} Redis › Caches are emptied by hand every day")


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("german", "- „Der Ofen ist alt.“ [1]\n- “Das „Amt“ schweigt.” [2]\n"),
        ("french", "- «\xa0Der Ofen ist alt.\xa0» [1]\n- “Das „Amt“ schweigt.” [2]\n"),
        ("spanish", "- «Der Ofen ist alt.» [1]\n- “Das „Amt“ schweigt.” [2]\n"),
        ("portuguese", "- “Der Ofen ist alt.” [1]\n- “Das „Amt“ schweigt.” [2]\n"),
    ],
)
def test_quotations_have_the_marks_of_the_answers_language(language: str, expected: str) -> None:
    answer = "- “Der Ofen ist alt.” [1]\n- “Das „Amt“ schweigt.” [2]\n"
    assert with_marks_of(language, answer) == expected


@pytest.mark.parametrize(
    ("question", "language", "nouns"),
    [
        ("Wie verschlüssele ich die Festplatte?", "german", {"festplatte"}),
        ("por que a Dora brigou com o síndico", "portuguese", {"dora", "sindico"}),
        ("¿cuánto cuesta la leche?", "spanish", {"leche"}),
        ("combien coûte un vol pour Rome", "french", {"vol", "rome"}),
        ("who bought chairs", "english", {"who", "bought", "chairs"}),
    ],
)
def test_a_verb_is_not_named_as_missing(question: str, language: str, nouns: set[str]) -> None:
    found = {term for term in terms(question) if is_noun(term, question, language)}
    assert nouns <= found
    assert not found & {"verschlussele", "brigou", "cuesta", "coute"}


def test_a_word_for_a_note_says_nothing_about_its_subject() -> None:
    for message in ("Notiz Zahnarzt", "nota Zahnarzt", "fiche Zahnarzt"):
        assert analyze_question([prompt_message("user", message)], 0).subject == {"zahnarzt"}
