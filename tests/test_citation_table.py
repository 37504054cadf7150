"""Every way of citing that models are known for, in a table: what is cited, where it stands in the
answer, and what it comes to.

`⟦…⟧` is put around each place that cites; it is not part of the answer.
"""

import re
from dataclasses import dataclass

import pytest
from factories import chunk
from hypothesis import given
from hypothesis import strategies as st
from test_citation_marks import AWKWARD

from zkchat_cli.citations.quotes import QuotableChunk
from zkchat_cli.citations.sources import CitableSources
from zkchat_cli.citations.verify import verify_citations

FILTERS = """# Filters
Filters say **which tasks** you want to see.
Each filter is a line of its own, and `limit 10` is none.

- first comes the *due* date
- then the [start date](Dates.md) of [[Dates#Start|the task]]

> He wrote “never mind the gap”
> in a letter, twice.

| field | what it holds |
|---|---|
| due | the last day of a task |

## Boolean operators
AND, OR and NOT are written in capitals[^1] – always."""
SOURCES = CitableSources(
    [
        chunk(
            1, FILTERS, id="1", relative_path="Queries/Filters.md", start_line=1, heading="Filters"
        ),
        chunk(
            2,
            "## Limits\nA limit cuts the list short – it’s the last thing applied to naïve "
            "ﬁlters… or so it seems.",
            relative_path="Queries/Filters.md",
            start_line=40,
            heading="Limits",
        ),
        chunk(
            3,
            "Dates are compared by day.\nA due date is the last day.",
            relative_path="Dates.md",
            title="Dates and times",
            start_line=5,
            heading="Due",
        ),
        chunk(
            4,
            "過濾器決定\n你想看到哪些任務，並且可以組合使用 tasks 查詢。\n🌱 Compost ❤️ needs air.",
            relative_path="中文/過濾.md",
            title="過濾",
        ),
        chunk(
            12,
            "Conditions are combined line by line.",
            relative_path="Queries/Combining Filters.md",
            title="Combining Filters",
        ),
        chunk(
            13,
            "The archive has filters of its own.",
            relative_path="Archive/2024/Filters.md",
            title="Filters",
        ),
    ]
)
WORDS = "Filters say which tasks you want to see"


@dataclass(frozen=True)
class Row:
    """`places`: the numbers cited at each `⟦…⟧`, in order; `citations`: number and status of each
    citation, in order.
    """

    marked: str
    places: list[tuple[int, ...]]
    citations: str

    @property
    def answer(self) -> str:
        return self.marked.replace("⟦", "").replace("⟧", "")

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where in the answer the places are: before the n-th of them 2n brackets were put in."""
        starts = [m.start() for m in re.finditer("⟦", self.marked)]
        ends = [m.start() for m in re.finditer("⟧", self.marked)]
        return [
            (start - 2 * n, end - 2 * n - 1)
            for n, (start, end) in enumerate(zip(starts, ends, strict=True))
        ]


def row(marked: str, *places: int | tuple[int, ...], is_: str = "") -> Row:
    numbers = [place if isinstance(place, tuple) else (place,) for place in places]
    every = dict.fromkeys(number for place in numbers for number in place)
    return Row(marked, numbers, is_ or ", ".join(f"{number} cited" for number in every))


TABLE = [
    # Numbers in brackets
    row("Filters select tasks ⟦[1]⟧.", 1),
    row("Filters select tasks. ⟦[1]⟧", 1),
    row("⟦[1, 3]⟧", (1, 3)),
    row("⟦[1,3]⟧ and ⟦[2; 12]⟧", (1, 3), (2, 12)),
    row("⟦[1]⟧⟦[2]⟧", 1, 2),
    row("⟦[1]⟧ ⟦[2]⟧, ⟦[3]⟧", 1, 2, 3),
    row("⟦[1-3]⟧", (1, 2, 3)),
    row("⟦[1–3, 12]⟧", (1, 2, 3, 12)),
    row("⟦[3-1]⟧", (3, 1)),
    row("⟦[source 1]⟧", 1),
    row("⟦[Source_2]⟧ and ⟦[SOURCE 3]⟧", 2, 3),
    row("⟦[sources 1, 3]⟧", (1, 3)),
    row("⟦[source 1, source 3]⟧", (1, 3)),
    row("⟦[Source: 1]⟧, ⟦[source #2]⟧, ⟦[source-3]⟧", 1, 2, 3),
    row("⟦[<source 2>]⟧", 2),
    row("⟦[**3**]⟧ and **⟦[1]⟧**", 3, 1),
    row("tasks⟦[source 1]⟧", 1),
    row("⟦[cite: 1]⟧, ⟦[cite: 1, 3]⟧, tasks⟦[citation:3]⟧", 1, (1, 3), 3),
    row(
        "⟦[ref 1]⟧, ⟦[Ref. 2]⟧, ⟦[reference 3]⟧, ⟦[Excerpt 1]⟧, ⟦[refs: 1 and 3]⟧",
        1,
        2,
        3,
        1,
        (1, 3),
    ),
    row("⟦[1 and 3]⟧, ⟦[1, 2, and 3]⟧, ⟦[1 & 3]⟧, ⟦[1--3]⟧", (1, 3), (1, 2, 3), (1, 3), (1, 2, 3)),
    row("Filters select tasks⟦[1]⟧ by date⟦[3]⟧⟦[1]⟧. So⟦[source 2]⟧.", 1, 3, 1, 2),
    row("⟦【1】⟧⟦【3】⟧", 1, 3),
    row("⟦【1†source】⟧ and ⟦【3†L5-L6】⟧", 1, 3),
    row("⟦【4:0†source】⟧", 4),
    row("⟦［1］⟧", 1),
    row("tasks⟦[^1]⟧, dates ⟦[^3]⟧", 1, 3),
    row("過濾器可以組合⟦[4]⟧。", 4),
    row("⟦[\n1\n]⟧", 1),
    row("⟦[1]⟧ and ⟦[1]⟧ and ⟦[1, 3]⟧", 1, 1, (1, 3)),
    row("- [ ] open ⟦[1]⟧\n- [x] done ⟦[3]⟧", 1, 3),
    row("| due | ⟦[1]⟧ |\n|---|---|\n| start | ⟦[3]⟧ |", 1, 3),
    row("⟦[[1], [2], 3]⟧, ⟦[1, [2], 3]⟧ and ⟦[[1], [3]]⟧", (1, 2, 3), (1, 2, 3), (1, 3)),
    row('⟦[SOURCE n°1]⟧, ⟦[source_number="2"]⟧, ⟦[SOURCE3]⟧, ⟦[source no. 12]⟧', 1, 2, 3, 12),
    row('⟦SOURCE n°1⟧ and ⟦source_number="2"⟧, (⟦SOURCE3⟧), ⟦SOURCE 12⟧.', 1, 2, 3, 12),
    # Raised digits
    row("Filters select tasks⟦¹⟧ by date⟦³⟧.", 1, 3),
    row("Filters select tasks.⟦¹²⟧ Next.", 12),
    row("Filters select tasks⟦¹⟧,⟦³⟧ and more ⟦²⟧", 1, 3, 2),
    row("tasks⟦¹⁻³⟧", (1, 2, 3)),
    row("過濾器⟦⁴⟧。", 4),
    row("“so”⟦¹⟧ (so)⟦¹⟧", 1, 1),
    row("m², km³, x², 10³, 5 cm², mc², sin², (a+b)², x⁻¹, Ca²⁺, ½¹, 1¹⁄₂"),
    row("¹ A note under the text"),
    # Names and paths of notes
    row("⟦[[Filters]]⟧ select tasks.", 1),
    row("⟦[[filters]]⟧, ⟦[[FILTERS.md]]⟧, ⟦[[Queries/Filters]]⟧", 1, 1, 1),
    row("⟦[[Filters#Limits]]⟧ and ⟦[[Filters#Boolean operators|operators]]⟧", 2, 1),
    row("⟦[[Archive/2024/Filters]]⟧", 13),
    row("⟦[[Dates and times]]⟧ and ⟦[[dates]]⟧", 3, 3),
    row("⟦[[過濾]]⟧，⟦[[中文/過濾.md]]⟧", 4, 4),
    row("⟦Queries/Filters.md⟧ says so.", 1),
    row("See ⟦Queries/Filters.md:41⟧, ⟦Dates.md:5-6⟧.", 2, 3),
    row("(⟦queries/filters.MD⟧) and **⟦./Dates.md⟧**", 1, 3),
    row("See ⟦Queries/Combining Filters.md⟧.", 12),
    row("請看⟦中文/過濾.md⟧。", 4),
    row(
        "(⟦Combining Filters.md:1⟧), [⟦Combining Filters.md⟧] and “⟦Queries/Combining Filters.md⟧”",
        12,
        12,
        12,
    ),
    row("[[Filters]] ⟦[1]⟧ select tasks.", 1),
    row("[[Filters]] select tasks ⟦[2]⟧, Dates.md days ⟦[3]⟧.", 2, 3),
    row("⟦[[Filters]]⟧ select tasks. Days count ⟦[3]⟧.", 1, 3),
    row(
        "[[Nowhere]], Nowhere.md, https://x.org/Dates.md, me@Dates.md, [see](Dates.md), "
        "[Dates.md](x), a/Dates.md.bak"
    ),
    row("[[Filters]](x) ⟦[1]⟧ [[#Limits]] [[]]", 1),
    # What is none
    row(
        "items[0], array[77], rowIds[1], my_list[1], rows.first[1], ARGV[1], (to[1]), "
        "[and], [1 and], [band 1], [cite], [ref], [excerpt]"
    ),
    row(
        "arr[1], Args[1], x = vec[3], resource 3, outSOURCE3, SOURCES, source 3, "
        "[see](SOURCE3), SOURCE3.md"
    ),
    row("So:\n\n$$\nx \\in [0, 1]\n\n> [2]\n$$\n\n> $$y \\in [1]\n> $$\nand $$[1]$$ is ⟦[3]⟧", 3),
    row("$x \\in [0, 1]$ and $$[2]$$, but $5 or ⟦[3]⟧ and $7", 3),
    row("[their site][1] and ⟦[3]⟧\n\n[1]: https://example.org", 3),
    row("a[1], list_[2], x9[3], `a [1]`, ``b ` [1]``, ![1], \\[1], [1](https://example.org)"),
    row("```py\n[1] [[Filters]] tasks¹\n```\n⟦[3]⟧", 3),
    row("~~~\n[1]\n```\n[2]"),
    row("text\n\n    code [1]\n\ntext ⟦[3]⟧", 3),
    row("- item\n  ```\n  [1]\n  ```\n  ⟦[3]⟧", 3),
    row("> ```\n> [1]\n\n⟦[3]⟧", 3),
    row("A stray ` and ⟦[1]⟧.\n\n- another ` there\n- and ` here ⟦[3]⟧", 1, 3),
    row("So ⟦[^1]⟧.\n\n[^1]: Filters.md [3]\n[2]: https://example.org", 1),
    row(
        "resource 2, [resource 2], [a1], [1a], [one], [1.5], [1/3], [-1], [2024-01-05], "
        "[9999999999]"
    ),
    row("In [2024], [1914-1918] and [1066, 1492] it rained."),
    row(
        "So ⟦[77]⟧, ⟦[1, 99]⟧ and ⟦[0]⟧, ⟦[12345]⟧.",
        77,
        (1, 99),
        0,
        12345,
        is_="77 missing, 1 cited, 99 missing, 0 missing, 12345 missing",
    ),
    # Quotations
    row(f"“{WORDS}” ⟦[1]⟧", 1, is_="1 verified"),
    row(f"“{WORDS}” ⟦[1]⟧⟦[3]⟧", 1, 3, is_="1 verified, 3 misattributed"),
    row(f"“{WORDS}” ⟦[77]⟧", 77, is_="77 missing"),
    row("“Filters” ⟦[1]⟧", 1),
    row("“Filters hide the tasks you dislike” ⟦[1]⟧", 1, is_="1 misquoted"),
    row('"FILTERS  say **which** tasks" ⟦【1】⟧', 1, is_="1 verified"),
    row(
        "»Filters say which tasks« und »each filter is a line« ⟦[1]⟧",
        1,
        is_="1 verified, 1 verified",
    ),
    row(
        "„Filters say which tasks“ ⟦[1]⟧ „you want to see“ ⟦[1]⟧",
        1,
        1,
        is_="1 verified, 1 verified",
    ),
    row(
        "「你想看到哪些任務」⟦[4]⟧ 『過濾器決定你想看到所有任務』⟦[4]⟧",
        4,
        4,
        is_="4 verified, 4 misquoted",
    ),
    row("「過濾器決定你想看到哪些任務，並且可以組合」⟦【4】⟧", 4, is_="4 verified"),
    row("「並且可以組合使用tasks查詢」⟦⁴⟧", 4, is_="4 verified"),
    row("“🌱 compost ❤ needs air” ⟦[4]⟧", 4, is_="4 verified"),
    row("“it's the last thing applied to nai\u0308ve filters” ⟦[2]⟧", 2, is_="2 verified"),
    row("“A limit cuts the list short - it's the last thing” ⟦[2]⟧", 2, is_="2 verified"),
    row("“naïve filters... or so it seems” ⟦[2]⟧", 2, is_="2 verified"),
    row("“A limit […] the last thing … so it seems” ⟦[2]⟧", 2, is_="2 verified"),
    row("“A … l … o … s … a” ⟦[2]⟧", 2, is_="2 misquoted"),
    row("“so it seems … A limit cuts” ⟦[2]⟧", 2, is_="2 misquoted"),
    row("“first comes the due date then the start date of the task” ⟦[1]⟧", 1, is_="1 verified"),
    row("“then the [start date](Dates.md) of [[Dates#Start|the task]]” ⟦[1]⟧", 1, is_="1 verified"),
    row("“He wrote ‘never mind the gap’ in a letter” ⟦[1]⟧", 1, is_="1 verified"),
    row("“He wrote “never mind the gap” in a letter” ⟦[1]⟧", 1, is_="1 verified"),
    row("“due the last day of a task” ⟦[1]⟧", 1, is_="1 verified"),
    row("“AND, OR and NOT are written in capitals – always” ⟦[1]⟧", 1, is_="1 verified"),
    row("“written in capitals [^1] for [[Dates]]” ⟦[1]⟧", 1, is_="1 misquoted"),
    row(f"⟦[[Filters]]⟧ says that “{WORDS}”.", 1, is_="1 verified"),
    row("As ⟦[[Filters]]⟧ says, “a limit cuts the list short”.", 2, is_="2 verified"),
    row("“a limit cuts the list short” (⟦Queries/Filters.md⟧)", 2, is_="2 verified"),
    row("“the archive has filters of its own” ⟦[[Filters]]⟧", 13, is_="13 verified"),
    row("⟦[1]⟧ says “Filters hide all tasks”. Days count ⟦[3]⟧.", 1, 3, is_="1 misquoted, 3 cited"),
    row("Filters ⟦[1]⟧, he added, are “something else altogether”.", 1),
    row(
        "> Filters “hide” all ‘tasks you see’, in short. ⟦[1]⟧\n\n> The letter’s “never "
        "mind the gap in a letter”. ⟦[1]⟧",
        1,
        1,
        is_="1 misquoted, 1 misquoted",
    ),
    row("‘10 filters say which tasks’ ⟦[1]⟧, but in ‘99 tasks’ filters", 1, is_="1 misquoted"),
    row(
        "“filters hide all tasks” and “then the start date of the task” ⟦[1]⟧",
        1,
        is_="1 misquoted, 1 verified",
    ),
    row(
        "“Filters say which tasks” or “each filter is a line” ⟦[1]⟧. Days “that are none” "
        "count ⟦[3]⟧.",
        1,
        3,
        is_="1 verified, 1 verified, 3 misquoted",
    ),
    row("- “something else altogether”\n- “Filters say which tasks” ⟦[1]⟧", 1, is_="1 verified"),
    row(
        "⟦[1]⟧ says “Filters say which tasks” and “something else”.",
        1,
        is_="1 verified, 1 misquoted",
    ),
    row(
        "“Filters say which tasks ⟦[1]⟧.” “Filters hide all tasks ⟦[1]⟧.”",
        1,
        1,
        is_="1 verified, 1 misquoted",
    ),
    row('"Filters say ⟦[1]⟧ all tasks" and so', 1, is_="1 misquoted"),
    row(
        "“Dates are compared by day ⟦[3]⟧ and a limit cuts the list short ⟦[2]⟧.”",
        3,
        2,
        is_="3 verified, 2 misquoted",
    ),
    row(
        "‘Filters say which tasks’ ⟦[1]⟧, ‘Filters hide all tasks’ ⟦[1]⟧",
        1,
        1,
        is_="1 verified, 1 misquoted",
    ),
    row(
        "'Filters hide the dogs' tasks' ⟦[1]⟧ and the dogs' and cats' tasks ⟦[3]⟧",
        1,
        3,
        is_="1 misquoted, 3 cited",
    ),
    row(
        "‹Filters hide all tasks› ⟦[1]⟧, »Filters hide no task« ⟦[1]⟧, «Filters hide a task» ⟦[1]⟧",
        1,
        1,
        1,
        is_="1 misquoted, 1 misquoted, 1 misquoted",
    ),
    row("“limit 10” ⟦[1]⟧, “limit 11” ⟦[1]⟧", 1, 1, is_="1 cut, 1 misquoted"),
    row(
        "As ⟦[1]⟧ says:\n\n> Filters hide all tasks\n> that you dislike.\n\nSo it is ⟦[3]⟧.",
        1,
        3,
        is_="1 misquoted, 3 cited",
    ),
    row(
        "⟦[[Filters]]⟧ says:\n> Filters say which tasks\n> you want to see.\n", 1, is_="1 verified"
    ),
    row(
        "> Filters hide all tasks. ⟦[1]⟧\n\n> Filters say which tasks.\n>\n> — ⟦[1]⟧",
        1,
        1,
        is_="1 misquoted, 1 verified",
    ),
    row(
        "> Filters say which tasks.\n\n— ⟦[1]⟧\n\n> [!note] Days count\n> ⟦[3]⟧",
        1,
        3,
        is_="1 verified, 3 cited",
    ),
    row("So it is⟦[^1]⟧.\n\n[^1]: Filters.md: “Filters hide all tasks”", 1, is_="1 misquoted"),
    row("So ⟦[1]⟧.\n\n[1]: Filters.md “Filters say which tasks”", 1, is_="1 verified"),
    row("“Filters say … any task … you want to see” ⟦[1]⟧", 1, is_="1 misquoted"),
    row("“a line of its own … written in capitals” ⟦[1]⟧", 1, is_="1 misquoted"),
    row("“mind the gap” ⟦[1]⟧", 1, is_="1 cut"),
    row(
        f"> “Filters say\n> which tasks” ⟦[1]⟧\n\nand “{WORDS}”\n\nelsewhere ⟦[3]⟧",
        1,
        3,
        is_="1 verified, 3 cited",
    ),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.marked)
def test_marks_and_citations_of_an_answer(row: Row) -> None:
    citations = verify_citations(row.answer, SOURCES).citations
    assert ", ".join(f"{c.number} {c.verdict}" for c in citations) == row.citations
    assert sorted({span for c in citations for span in c.spans}) == row.spans
    for span, numbers in zip(row.spans, row.places, strict=True):
        assert {c.number for c in citations if span in c.spans} == set(numbers)
    assert all(c.valid == (c.verdict in ("verified", "cited")) for c in citations)
    assert all((c.relative_path is None) == (c.verdict == "missing") for c in citations)


# What the table does not show


@pytest.mark.parametrize(
    ("answer", "uncited"),
    [
        ("[[Filters]] select the tasks to show.", 0),
        ("Filters.md selects the tasks to show.", 0),
        ("Nowhere.md selects the tasks to show.", 1),
        ("[[Nowhere]] selects the tasks to show.", 1),
        ("Filters select the tasks to show.¹ They stand on lines.【1】", 0),
        ("Filters select the tasks to show. [[Dates]] are days that count.", 1),
        ("In the year [2024] it rained a lot.", 1),
        ("Private characters \ue0000\ue001 cite nothing at all.", 1),
    ],
)
def test_every_kind_of_mark_cites_a_sentence(answer: str, uncited: int) -> None:
    assert verify_citations(answer, SOURCES).uncited == uncited


def test_a_quotation_has_its_lines_and_heading() -> None:
    answer = (
        "“AND, OR and NOT” [1], “then the start date” [1], “gap” and “gap … in a letter” [1], "
        "“Each … none. First comes the due date” [1]"
    )
    citations = verify_citations(answer, SOURCES).citations
    assert [(c.heading, c.start_line, c.end_line) for c in citations] == [
        ("Boolean operators", 16, 16),
        ("Filters", 6, 6),
        ("Filters", 8, 9),
        ("Filters", 3, 5),
    ]


awkward = st.lists(
    st.sampled_from(
        [
            *AWKWARD,
            "“",
            "”",
            "“Filters say which tasks”",
            "[[Filters]]",
            "Dates.md",
            ". ",
            "…",
            "「",
            "」",
            "»",
            "«",
        ]
    )
)


@given(awkward.map("".join), st.data())
def test_words_of_a_note_are_found_in_it(text: str, data: st.DataObject) -> None:
    # A number and its unit are one word
    text = re.sub(r"[\d¹²³]", "", text)
    borders = [0, *(each.end() for each in re.finditer(r"\s", text)), len(text) + 1]
    start, end = sorted(data.draw(st.tuples(st.sampled_from(borders), st.sampled_from(borders))))
    place = QuotableChunk(chunk(1, text, start_line=3)).locate(text[start : max(start, end - 1)])
    if any(c.isalnum() for c in text[start : max(start, end - 1)]):
        assert place is not None
        assert 3 <= place.start_line <= place.end_line <= 3 + text.count("\n")
