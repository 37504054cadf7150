"""Where models write the source of a quotation, the marks that they quote with, and what is no
quotation and no citation.
"""

import pytest
from factories import chunk

from zkchat_cli.citations.sources import CitableSources
from zkchat_cli.citations.verify import verify_citations

SOURCES = CitableSources(
    [
        chunk(
            1,
            "# Weekly minutes\nThe house was painted red in 1950. Anna keeps the keys of the barn.",
            relative_path="Minutes.md",
            title="Minutes",
        ),
        chunk(
            3, "The pump needs oil twice a year.", relative_path="Pump care.md", title="Pump care"
        ),
    ]
)
RED = "The house was painted red in 1950"
BLUE = "The house was painted blue in 1950"
KEYS = "Anna keeps the keys of the barn"


def verdicts(answer: str) -> str:
    citations = verify_citations(answer, SOURCES).citations
    return ", ".join(f"{each.number} {each.verdict}" for each in citations)


@pytest.mark.parametrize(
    "answer",
    [
        "> {}\n\nSource: [1]",
        "> {}.\n\nSource: [1]",
        "> {}.\n\n(Minutes [1])",
        "> {}.\n\n— Minutes [1]",
        "> {}.\n\nSo the minutes say [1].",
        "> {}.\n\nThis is from the minutes [1].",
        "> {}.\n\nQuelle: [1]",
        "> {}.\n\n来源：[1]",
        "> {}\n[1]",
        "**Minutes [1]:** “{}”",
        "Minutes [1] – “{}”",
        "The minutes [1] say:\n\n- “{}”",
        "The minutes [1] say:\n\n1. “{}”",
        "## Minutes [1]\n\n“{}”",
        "## From the minutes [1]\n\nThey say that “{}”, and no more.",
        "| [1] | “{}” |",
        "| Minutes [1] | 1950 | “{}” |",
        "| “{}” | [1] |",
        "”{}” [1]",
        "’{}’ [1]",
        '“{}" [1]',
        '"{}” [1]',
        "❝{}❞ [1]",
        "〝{}〞 [1]",
        "〝{}〟 [1]",
        ",,{}'' [1]",
        "``{}'' [1]",
        '„{}" [1]',
        "&quot;{}&quot; [1]",
        "&ldquo;{}&rdquo; [1]",
        "&laquo;{}&raquo; [1]",
        "&#8220;{}&#8221; [1]",
        "«\u00a0{}\u00a0» [1]",
        "＂{}＂ [1]",
    ],
)
def test_a_quotation_is_checked_wherever_its_source_is_written(answer: str) -> None:
    assert verdicts(answer.format(RED)) == "1 verified"
    assert verdicts(answer.format(BLUE)) == "1 misquoted"


def test_all_quotations_of_an_introduced_list_are_checked() -> None:
    answer = f"The minutes [1] say:\n\n- “{RED}”\n- “{BLUE}”\n- and “{KEYS}”"
    assert verdicts(answer) == "1 verified, 1 misquoted, 1 verified"


@pytest.mark.parametrize("mark", ["“", "«", "„", '"'])
def test_paragraphs_that_are_opened_and_not_closed_continue_a_quotation(mark: str) -> None:
    closing = {"“": "”", "«": "»", "„": "“", '"': '"'}[mark]
    answer = f"So it says:\n\n{mark}{BLUE}.\n\n{mark}{KEYS}.{closing} [1]"
    assert verdicts(answer) == "1 misquoted, 1 verified"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # A paragraph below a block quotation that cites something else
        (f"> {BLUE}\n\nHowever, pumps need oil from time to time [3].", "3 cited"),
        (f"“{RED}” [1]. \n\n## Pumps\n\nThey need “some kind of oil”.", "1 verified"),
        # Names, titles and coined words
        ("“Pump care” says so [1].", "1 cited"),
        ("“Weekly minutes” has it [1].", "1 verified"),
        ("“minutes-2024.md” has it [1].", "1 cited"),
        ("This is “productivity-hacking” [1].", "1 cited"),
        # Intervals, formulas and addresses
        ("x is in [0, 1] here, and the house is red [1].", "1 cited"),
        ("a number from the interval [1, 3], and the house is red [1].", "1 cited"),
        ("x ∈ [1, 3] and the house is red [1].", "1 cited"),
        (r"\(a_{[1]} + \sqrt[3]{x}\) and the house is red [1].", "1 cited"),
        (r"\[ x \in [1, 3] \] and the house is red [1].", "1 cited"),
        ("See https://example.org/a[3]/b[3] and the house is red [1].", "1 cited"),
        ("|x|² and v₀² and ‖v‖³, and the house is red [1].", "1 cited"),
        # A footnote of the answer itself
        ("The house is red[^3], they say [1].\n\n[^3]: Or so I believe.", "1 cited"),
    ],
)
def test_what_is_no_quotation_and_no_citation(answer: str, expected: str) -> None:
    assert verdicts(answer) == expected
