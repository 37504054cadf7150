"""Which places of a text cite."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.citations.cited_marks import cited_marks, split_at_marks
from zkchat_cli.citations.marks import read_marks
from zkchat_cli.models.citations import Citation

AWKWARD = [
    *"[]()^*_`\\:;,.-–0123459 \n\t\r>#|<'\"“”【】［］†¹²³⁻⁺aAsS漢é",
    "[1]",
    "[1, 2]",
    "[1-3]",
    "[^1]",
    "[^1]:",
    "[2]:",
    "[source 1]",
    "[<source 2>]",
    "[**3**]",
    "【1†source】",
    "[[",
    "]]",
    "[[Note#h|a]]",
    "Filters.md",
    ".md:12",
    ".markdown",
    "](",
    "m²",
    "word¹",
    "``",
    "```",
    "~~~",
    "\n\n",
    "\n    ",
    "\n- ",
    "\n1. ",
    "\n> ",
    "\n# ",
    "\n```\n",
    "[[1], [2], 3]",
    "SOURCE n°1",
    'source_number="2"',
    "SOURCE3",
    "source",
    "$x \\in [0, 1]$",
    "$",
    "\n$$\n",
]
awkward = st.lists(st.sampled_from(AWKWARD), max_size=40).map("".join)


@given(awkward)
def test_marks_and_code_are_in_order_and_apart(text: str) -> None:
    read = read_marks(text)
    spans = [mark.span for mark in read.marks if not mark.defines] + read.code
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert sorted(spans) == [*dict.fromkeys(sorted(spans))]
    assert (read.marks, read.code) == (sorted(read.marks), sorted(read.code))


def citation(number: int, *spans: tuple[int, int]) -> Citation:
    return Citation(number=number, relative_path="Filters.md", spans=spans)


def test_marks_of_citations_by_span() -> None:
    text = "so [1, 3], “so [3]” [1] and [[Filters]], All Filters.md\n[1]: x\n[9]: y"
    found = cited_marks(
        text, [citation(3, (3, 9), (28, 39), (41, 55)), citation(1, (3, 9), (20, 23))]
    )
    assert [(text[m.start : m.end], m.numbers, m.name) for m in found] == [
        ("[1, 3]", (1, 3), None),
        ("[1]", (1,), None),
        ("[[Filters]]", (3,), "Filters"),
        ("All Filters.md", (3,), "All Filters.md"),
        ("[1]", (1,), None),
    ]
    assert [m.defines for m in found] == [False] * 4 + [True]


@given(
    awkward,
    st.lists(
        st.tuples(st.integers(0, 9), st.tuples(st.integers(0, 50), st.integers(0, 50))), max_size=5
    ),
)
def test_any_imported_spans_leave_the_text_unchanged(
    text: str, spans: list[tuple[int, tuple[int, int]]]
) -> None:
    found = cited_marks(text, [citation(number, span) for number, span in spans])
    assert "".join(piece for piece, _ in split_at_marks(text, found)) == text


ENDLESS = [
    *AWKWARD,
    "` `` ",
    "a²",
    "[1, ",
    "\\`",
    "x.md ",
    "/a.md:1",
    "[[a ",
    "\n[",
    "【1†",
    "`\n\n",
    "[1] ` ",
    "\n|",
    "1. ",
    "- ",
    "[1-50]",
]


@pytest.mark.untraced
@pytest.mark.parametrize("piece", ENDLESS)
def test_endless_repetition_takes_linear_time(piece: str) -> None:
    """A hundred times as long would take ten thousand times as long, were it quadratic; here the
    test would time out.
    """
    text = "x" + piece * (20_000 // len(piece))
    assert all(text[mark.start : mark.end] for mark in read_marks(text).marks)
