"""The lines of a note that `#heading` and `#^block` mean, and links to headings that do not
exist.
"""

import pytest

from zkchat_cli.vault import note_parser, sections
from zkchat_cli.vault.index.values import make_chunk
from zkchat_cli.vault.markup import read_markup


def lines_of(name: str, text: str) -> tuple[int, int] | None:
    note = note_parser.parse_note("Note.md", text)
    return sections.find_section(name, note.text, note.markup)


NOTE = """# Plan
intro

## Costs: *rough*
a

## Dates

### Costs
b
# End
"""


@pytest.mark.parametrize(
    ("heading", "lines"),
    [
        ("Plan", (1, 10)),
        ("Dates", (7, 10)),
        ("Costs", (9, 10)),
        ("costs rough", (4, 5)),
        ("Costs: *rough*", (4, 5)),
        ("costs-rough", (4, 5)),
        ("Plan#Costs", (9, 10)),
        ("Plan#Dates#Costs", (9, 10)),
        ("Dates#Plan#Costs", None),
        ("End#Costs", None),
        ("End", (11, 11)),
        ("Nowhere", None),
        ("", None),
        ("#", None),
        ("End#^nothing", None),
    ],
)
def test_a_heading_means_its_section(heading, lines):
    assert lines_of(heading, NOTE) == lines


def test_the_headings_of_a_chunk():
    text = "intro\n# One\na\n## Two\n```\n# code\n```"
    assert sections.chunk_headings(make_chunk("Note.md", "Note", None, 20, 26, text)) == [
        (21, "One"),
        (23, "Two"),
    ]
    assert sections.chunk_headings(make_chunk("Note.md", "Note", "Two", 20, 26, text)) == [
        (21, "One"),
        (23, "Two"),
    ]
    assert (
        sections.chunk_headings(make_chunk("Note.md", "Note", "Scripts", 20, 21, "# comment\nls"))
        == []
    )


@pytest.mark.parametrize(
    ("heading", "text", "lines"),
    [
        ("Same", "# Same\na\n# Same\nb", (1, 2)),
        ("See Note shown", "# See [[Note|shown]]", (1, 1)),
        ("Code", "```\n# Code\n```", None),
        ("wifi-24-vs-50", "# Wi\n# WiFi 2.4 vs 5.0!\na", (2, 3)),
        ("a--b_c", "# [A](x.md) & `b_c`", (1, 1)),
        ("taps-1", "# Taps\n# Taps\na", (2, 3)),
    ],
)
def test_the_first_heading_with_these_words_outside_of_code_counts(heading, text, lines):
    assert lines_of(heading, text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("before\n\none\ntwo ^id\n\nafter", (3, 4)),
        ("# Title\ntext ^ID", (2, 2)),
        ("- a\n- b ^id\n- c", (2, 2)),
        ("- a\n  more ^id\n\n  and more\n  - deeper\n\n- b", (1, 5)),
        ("> one\n> two ^id\n\nafter", (1, 2)),
        ("text\n\n| a |\n|---|\n| b |\n\n^id", (3, 7)),
        ("text\n| a |\n^id", (1, 3)),
        ("- a\n- b\n\n^id", (1, 4)),
        ("text\n\n```\na\n\nb\n```\n^id", (3, 8)),
        ("```\ncode\n```\n\ntext\n\n^id", (5, 7)),
        ("# Title\n\n^id", (3, 3)),
        ("^id", (1, 1)),
        ("^id\n\nText.", (1, 1)),
        ("2^id", None),
        ("`^id`", None),
    ],
)
def test_a_block_id_means_its_paragraph_item_or_the_block_above(text, lines):
    assert lines_of("^id", text) == lines


@pytest.mark.parametrize(
    ("anchor", "near"),
    [
        ("Plann", ("Plan",)),
        ("Dates#Cost", ("Costs", "Costs: *rough*")),
        ("^sww", ()),
        ("xyz", ()),
        ("^xyz", ()),
        ("x" * 10**6, ()),
    ],
)
def test_similar_headings(anchor: str, near: tuple[str, ...]) -> None:
    hint = sections.missing_section(
        "Note.md", "heading", anchor, read_markup(NOTE + "- a saw ^saw\n")
    ).hint
    assert hint == (f"Nearest: {', '.join(near)}" if near else "Leave it out for the whole note.")
