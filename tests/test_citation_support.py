"""Whether a cited note says what the sentence says: by words, numbers, names and negations."""

import pytest
from factories import chunk

from zkchat_cli.citations.sources import CitableSources
from zkchat_cli.citations.support import (
    Evidence,
    judge_by_meaning,
    judge_support,
    score_support,
)
from zkchat_cli.citations.verify import verify_citations

HOUSE = chunk(
    1,
    "The house in Bergen was painted red in 1950 and cost 14,200 euros. Anna bought it "
    "from her two uncles.\n"
    "The ice on the lake is not safe to walk on before January.\n\n"
    "- The heat pump uses about 5,100 kWh of electricity in a year\n- It was installed on "
    "2021-03-04 by Olsen\n"
    "- Windows that include a frame are replaced\n- Windows that do not include a frame "
    "are replaced later",
    relative_path="House.md",
)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The house in Bergen was painted red in 1950.", "supports"),
        ("Painted red in 1950, the house in Bergen cost 14200 euros.", "supports"),
        ("Olsen installed the heat pump on 4/3/2021.", "unclear"),
        ("The heat pump uses roughly 5,000 kWh of electricity in a year.", "supports"),
        ("Anna bought it from her 2 uncles.", "supports"),
        (f"The house in Bergen was painted red in {'1' * 5000}.", "does_not_support"),
        ("The house in Bergen cost 14,300 euros.", "does_not_support"),
        ("Anna bought it from her 5 uncles.", "does_not_support"),
        ("The house in Oslo was painted red in 1950.", "does_not_support"),
        ("The heat pump was installed by Hansen on 2021-03-04.", "unclear"),
        ("The ice on the lake is safe to walk on before January.", "does_not_support"),
        ("The house in Bergen was never painted red in 1950.", "does_not_support"),
        ("Windows that include a frame are replaced.", "supports"),
        (
            "Compost needs plenty of water and air, and should be turned every month.",
            "does_not_support",
        ),
        ("Kompost braucht viel Wasser und Luft.", "unclear"),
        ("A home in Norway got a new colour after the war, and Anna owns it.", "unclear"),
        ("What did the house in Bergen cost in 1999?", "unclear"),
        ("...", "unclear"),
    ],
)
def test_a_sentence_and_its_source(sentence: str, expected: str) -> None:
    assert judge_support(sentence, [Evidence(HOUSE)]) == expected


def test_chinese_sentences_are_compared_by_their_characters() -> None:
    source = Evidence(
        chunk(1, "这栋房子在1950年刷成红色，花费14200欧元。", relative_path="房子.md")
    )
    assert judge_support("房子在1950年刷成红色。", [source]) == "supports"
    assert judge_support("房子在1960年刷成红色。", [source]) == "does_not_support"
    assert judge_support("堆肥需要空气和水分才能成熟。", [source]) == "does_not_support"


def test_meaning_tells_only_what_is_about_something_else() -> None:
    def judged(*cosines: float) -> str:
        return judge_by_meaning(
            "They sailed north.", ["The roof is new."], lambda *_: list(cosines) or None
        )

    assert (judged(0.1, 0.2), judged(0.1, 0.5), judged()) == (
        "does_not_support",
        "unclear",
        "unclear",
    )
    assert judge_by_meaning("They sailed north.", [], lambda *_: [0.0]) == "unclear"


def support(answer: str) -> list[tuple[int, str | None]]:
    other = chunk(
        2,
        "The garden has 12 apple trees and a shed of 30 square metres.",
        relative_path="Garden.md",
    )
    return [
        (c.number, c.support)
        for c in verify_citations(answer, CitableSources([HOUSE, other])).citations
    ]


def test_the_sources_of_a_sentence_are_judged_together() -> None:
    both = "The house cost 14,200 euros, and the garden has a shed of 30 square metres"
    assert (
        support(f"{both} [1][2].") == [(1, "supports"), (2, "supports")]
        or support(f"{both} [1][2].")[0][1] != "does_not_support"
    )
    # A note that does not know the shed says nothing else about it
    assert support(f"{both} [1].") == [(1, "unclear")]


def test_the_worst_sentence_of_a_citation_counts() -> None:
    assert support(
        "The house in Bergen was painted red in 1950 [1]. The house in Bergen was painted "
        "red in 1960 [1]."
    ) == [(1, "does_not_support")]


def test_what_states_nothing_or_has_no_source_is_not_judged() -> None:
    assert support("See [1]. The house in Bergen was painted green in 1950 [7].") == [
        (1, None),
        (7, None),
    ]
    assert support("| house | 1999 [1] |\n|---|---|") == [(1, None)]


def test_a_verified_quotation_of_two_sentences_supports_itself() -> None:
    note = chunk(
        1,
        "Use months with care. A month without that day is skipped. The day is not moved. "
        "So March follows.",
    )
    quote = "A month without that day is skipped. The day is not moved."
    [citation] = verify_citations(f"The note says: “{quote}” [1]", CitableSources([note])).citations
    assert (citation.verdict, citation.support) == ("verified", "supports")
    [citation] = verify_citations(
        f"“{quote}” is no longer true for leap years [1].", CitableSources([note])
    ).citations
    assert citation.support != "supports"


def test_what_no_source_has_lowers_the_score_of_a_sentence() -> None:
    sentences = [
        "The house in Bergen was painted red in 1950.",
        "The house in Bergen was painted red by a famous painter.",
        "The house in Bergen was painted red in 1934 by Edvard Holm.",
    ]
    scores = [score_support(sentence, [Evidence(HOUSE)]) for sentence in sentences]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


def test_many_numbers_that_no_source_has_are_not_supported() -> None:
    invented = "Olsen's 37 heat pumps in Oslo and Tromso ran for 4,380 hours at 71 percent in 2019."
    assert judge_support(invented, [Evidence(HOUSE)]) == "does_not_support"
