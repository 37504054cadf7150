"""Claims and notes in many languages, judged by a careful reader before the code was written, and
the quantities that are read from them.
"""

import pytest
from support_pairs import PAIRS, PAIRS_LATER, JudgedPair, figures_of, judge_pairs, read_pairs

from zkchat_cli.citations.claims.measure import Measure
from zkchat_cli.citations.claims.measure_comparison import MeasureMatch, compare_measures
from zkchat_cli.citations.claims.measures import read_measures
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.spelled_numbers import spelled_number


@pytest.fixture(scope="module")
def judged() -> list[JudgedPair]:
    return judge_pairs(read_pairs(PAIRS))


@pytest.mark.untraced
@pytest.mark.parametrize("english", [True, False], ids=["English", "other languages"])
def test_verdicts_are_right_as_often_as_promised(judged: list[JudgedPair], english: bool) -> None:
    part = [each for each in judged if (each.pair.language == "en") == english]
    contrary = figures_of("does_not_support", part)
    supported = figures_of("supports", part)
    assert min(contrary) >= 0.95
    assert supported.precision >= 0.95
    assert supported.recall >= 0.8


@pytest.mark.untraced
def test_verdicts_on_longer_notes_are_seldom_wrong() -> None:
    later = judge_pairs(read_pairs(PAIRS_LATER))
    contrary = figures_of("does_not_support", later)
    assert (contrary.precision >= 0.95, contrary.recall >= 0.85) == (True, True)
    assert figures_of("supports", later).precision >= 0.95


def test_a_sentence_that_adds_a_fact_is_never_supported(judged: list[JudgedPair]) -> None:
    added = [each for each in judged if each.pair.kind == "addition"]
    assert {each.verdict for each in added} == {"unclear"}


@pytest.mark.parametrize(
    ("language", "written", "value"),
    [
        ("english", "two hundred and fifty-four", 254),
        ("english", "two million three hundred thousand", 2_300_000),
        ("german", "achtundvierzig", 48),
        ("german", "zweihundertfünfzig", 250),
        ("german", "zweieinhalb", 2.5),
        ("french", "quatre-vingt-dix-neuf", 99),
        ("french", "dix-huit", 18),
        ("french", "soixante-quinze", 75),
        ("spanish", "mil novecientos ochenta y cuatro", 1984),
        ("portuguese", "quarenta e oito", 48),
        ("english", "two and three", 2),
    ],
)
def test_numbers_in_words(language: str, written: str, value: float) -> None:
    words = fold(written).replace("-", " ").split()
    found = spelled_number(words, 0, language)
    assert found is not None
    assert found.value == value


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("english", "1.5 km", "1500 m"),
        ("english", "75 minutes", "an hour and a quarter"),
        ("english", "lasts 1 h 15 min", "4,500 seconds"),
        ("english", "20 °C", "68 °F"),
        ("english", "36 km/h", "10 m/s"),
        ("english", "£2,000,000", "2 million pounds"),
        ("english", "64 GB", "65,536 MB"),
        ("english", "half past nine", "9:30"),
        ("english", "6:15 pm", "18:15"),
        ("english", "14 March 2022", "2022-03-14"),
        ("english", "a third", "33 %"),
        ("english", "a dozen eggs", "12 eggs"),
        ("english", "twice", "two times"),
        ("english", "6 litres per minute", "360 litres per hour"),
        ("german", "1.500 Meter", "1,5 km"),
        ("german", "Viertel nach sechs abends", "18:15 Uhr"),
        ("german", "eineinhalb Stunden", "90 Minuten"),
        ("french", "prend deux heures et demie", "150 minutes"),
        ("french", "20 000 euros", "vingt mille euros"),
        ("spanish", "dura una hora y media", "90 minutos"),
        ("portuguese", "uma hora e um quarto", "75 minutos"),
    ],
)
def test_the_same_quantity_is_found_in_other_words(language: str, first: str, second: str) -> None:
    assert match(language, first, second) is MeasureMatch.SAME


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("english", "75 hours", "75 minutes"),
        ("english", "2 mbar", "2 bar"),
        ("english", "48 dollars", "48 euros"),
        ("english", "6:15 am", "18:15"),
        ("english", "4 MW", "4 mW"),
        ("english", "a quarter", "33 %"),
        ("english", "14 May 2022", "14 March 2022"),
        ("french", "mardi", "jeudi"),
    ],
)
def test_another_quantity_is_not_the_same(language: str, first: str, second: str) -> None:
    assert match(language, first, second) is MeasureMatch.UNKNOWN


def test_a_mark_in_a_number_that_may_have_two_meanings_is_not_taken_for_sure() -> None:
    assert match("german", "1.500 Meter", "1,5 Meter") is MeasureMatch.WEAK


def match(language: str, first: str, second: str) -> MeasureMatch:
    return compare_measures(only_measure(language, first), only_measure(language, second))


def only_measure(language: str, text: str) -> Measure:
    [measure] = read_measures(text, language)
    return measure


def test_opposite_bounds_of_one_number_exclude_one_another() -> None:
    assert match("english", "at most 30 days", "at least 30 days") is MeasureMatch.CONTRARY
    assert match("english", "more than 300 members", "310 members") is MeasureMatch.SAME
