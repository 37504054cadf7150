"""Citations: which `[n]` of an answer are ones, what they quote, and whether it is true."""

import pytest
from factories import chunk, takes_less_than

from zkchat_cli.citations.citing_marks import read_footnotes
from zkchat_cli.citations.marks import read_marks
from zkchat_cli.citations.sources import CitableSources
from zkchat_cli.citations.verify import VerificationResult, verify_citations

CHUNKS = {
    1: chunk(
        1,
        "# Filters\n\nFilters say which tasks you want to see.\nEach filter is a line of "
        "its own, and `limit 10` is none.",
    ),
    2: chunk(
        2,
        "> Conditions are joined with AND, OR\n> and NOT, in **capitals** [4].\n\nHe said "
        "“never mind the gap” twice.",
        start_line=20,
    ),
    3: chunk(
        3,
        "過濾器決定你想看到哪些任務，並且可以組合使用。\n"
        "🌱 Compost needs air, water and patience 😀 always.",
        start_line=1,
    ),
    12: chunk(12, "It’s a long way to the caf\u00e9; naïve Straße.", start_line=7),
}


def check(answer: str) -> VerificationResult:
    return verify_citations(answer, CitableSources(CHUNKS.values()))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Filters [1，3].", [1, 3]),
        ("Filters [1、3].", [1, 3]),
        ("Filters [ 1 ].", [1]),
        ("Filters [1 - 2, 12].", [1, 2, 12]),
        ("Filters [1-999999999].", [1, 999999999]),
        ("“[1]”", [1]),
        ("See [1]: it says so.", [1]),
        ("# Heading [1]", [1]),
        ("", []),
        ("````\n```\n[1]\n````\n[2]", [2]),
        ("Write ``` to open a block [1].", [1]),
        ("See [2][1](x).", [2]),
        ("[[1]] and [[Note 1]]", []),
        ("Of its own [^7].\n\n[^7]: I mean the older one.", []),
        ("Of its own [^7], not [1, ^7].\n\n[^7]: The older one.", [1]),
        ("A note by a footnote [^7].\n\n[^7]: [[Filters]]", [1]),
        ("A link [7].\n\n[7]: https://example.com", []),
        ("In code [7].\n\n```\n[7]: x\n```", [7]),
        ("[1\n\n\n\n\n2]", []),
    ],
)
def test_which_brackets_are_citations(answer: str, expected: list[int]) -> None:
    assert [citation.number for citation in check(answer).citations] == expected


def test_saying_that_the_notes_are_silent_needs_no_source() -> None:
    assert (
        check("Your notes don’t say more. The notes do not mention whales at all. [1]").uncited == 0
    )
    assert check("Your notes don't lie about the whales at all.").uncited == 1


@pytest.mark.parametrize(
    ("answer", "quote", "valid"),
    [
        ('"Filters say\nwhich tasks" [1]', "Filters say\nwhich tasks", True),
        ("“… which tasks you want to see” [1]", "… which tasks you want to see", True),
        (
            "“a line of its own, and limit 10 is none” [1]",
            "a line of its own, and limit 10 is none",
            True,
        ),
        (
            "“tasks you want to see. Each filter is a line” [1]",
            "tasks you want to see. Each filter is a line",
            True,
        ),
        ("“NOT, in capitals” [2]", "NOT, in capitals", True),
        ("“unclosed, and then “never mind the gap” [2]", "never mind the gap", True),
        ("“过濾器決定你想看到哪些任務” [3]", "过濾器決定你想看到哪些任務", False),
        ('他說"過濾器決定你想看到哪些任務"[3]', "過濾器決定你想看到哪些任務", True),
        ("“NAIVE STRASSE” [12]", "NAIVE STRASSE", True),
        ('Use "AND" or, if you like it better, "OR" [1].', None, True),
        ('A 5" pipe, or a 10" pipe, or longer ones [1].', None, True),
        ('"Filters say which tasks" is what it says [1].', "Filters say which tasks", True),
        ("“Filters say which tasks”\n\nAnother paragraph [1].", None, True),
        ("`“not a quotation at all”` [1]", None, True),
        ('`print("` and "Filters say which tasks" [1]', "Filters say which tasks", True),
        ("“" + "x" * 10_000 + "” [1]", "x" * 10_000, False),
        ("“unclosed and long enough [1]", None, True),
        ("closed only and long enough” [1]", None, True),
        ("“in **capitals** [4]” [2]", "in **capitals** [4]", True),
    ],
)
def test_quotes_of_citations(answer: str, quote: str | None, valid: bool) -> None:
    (citation,) = check(answer).citations
    assert (citation.quote, citation.valid) == (quote, valid)


@pytest.mark.parametrize(
    ("answer", "uncited"),
    [
        ("", 0),
        ("Filters select the tasks to show [1].", 0),
        ("Filters select the tasks to show. [1]", 0),
        ("Filters select the tasks. [1] They stand on lines. [2]", 0),
        ("Filters select the tasks. [1], [2] They stand on their own lines.", 1),
        ("Filters select the tasks to show.", 1),
        ("Filters select the tasks to show. They stand on lines of their own [1].", 1),
        ("One claims something here. Two claims something there.", 2),
        ("Yes, indeed. No.", 0),
        ("Do you want me to go on with it?", 0),
        ("Here is what your notes say:\n\n- “Filters say which tasks” [1]", 0),
        ("- a claim about the filters\n- another claim about the filters [1]", 1),
        ("# A heading that claims a lot\n\n| a table | that claims | much more |", 0),
        ("```\nCode that claims a lot of things.\n```", 0),
        ("過濾器決定你想看到哪些任務。[1]你可以組合它們[2]。", 0),
        ("過濾器決定你想看到哪些任務。你可以組合它們[2]。", 1),
        ("“Filters say which tasks you want to see.” [1]", 0),
        ("“Filters select tasks (all of them!) They stand on lines of their own.” [1]", 0),
        ("[1]: Filters.md is where it stands", 0),
        ("Filters select the tasks to show. [1](https://example.com)", 1),
    ],
)
def test_statements_without_a_citation_are_counted(answer: str, uncited: int) -> None:
    assert check(answer).uncited == uncited


@pytest.mark.untraced
@pytest.mark.parametrize(
    "piece",
    [
        "[1] ",
        "[1, ",
        "[1]:\n",
        ". [1",
        "“a [1] ",
        '. "a',
        "«",
        "`` ` ",
        "\n```\n",
        "\n> ",
        "e.g. ",
        "漢",
    ],
)
def test_an_endless_answer_is_verified_in_linear_time(piece: str) -> None:
    check(piece * 3000)
    check("A statement that says something. " + piece * 3000 + " end")


@pytest.mark.parametrize("name", ["[[Filters]]", "[[Renamed]]", "(Filters.md:5)"])
def test_a_note_can_be_cited_by_name_after_its_title_changed(name: str) -> None:
    before = chunk(1, "It has words of the first turn.", start_line=1)
    after = chunk(2, "And others of the second one.", title="Renamed")
    [citation] = verify_citations(
        f"“others of the second one” {name}", CitableSources([before, after])
    ).citations
    assert (citation.number, citation.verdict) == (2, "verified")


def test_definitions_in_a_long_text_are_read_in_linear_time() -> None:
    definitions = "[^1]: x\n" * 10_000
    with takes_less_than(5):  # what is quadratic takes a minute
        assert read_footnotes(
            read_marks(definitions), definitions + "x" * 40_000_000, lambda _: ()
        ) == {1: ((), ())}


@pytest.mark.usefixtures("untraced")
def test_many_links_to_one_of_many_notes_of_the_same_name_are_verified_in_linear_time() -> None:
    notes = [chunk(number, relative_path=f"{number}/Filters.md") for number in range(1, 401)]
    # What compares all notes with all notes takes a minute
    with takes_less_than(5):
        [citation] = verify_citations(
            "Filters say which tasks these are [[Filters]]. " * 3000, CitableSources(notes)
        ).citations
    assert citation.number == 1
