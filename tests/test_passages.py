"""Pieces of an excerpt that may be quoted: word for word, never half of something without a
mark.
"""

import pytest
from factories import chunk

from zkchat_cli.citations.quotes import QuotableChunk
from zkchat_cli.llm.offline.passages import quotable_passages
from zkchat_cli.llm.offline.quoted_lists import CUT, LONGEST_LIST
from zkchat_cli.llm.offline.rendered_passages import quotable_chunk, render_passage


def quotable(text: str, heading: str | None = None) -> list[tuple[str, str]]:
    return [(piece.text, piece.kind) for piece in quotable_passages(text, heading)]


def test_sentences_items_rows_and_code_are_pieces() -> None:
    text = (
        "First. Second\ngoes on.\n\n- an item\n- [ ] a task\n  that goes on\n\n| a | b |\n| - "
        "| - |\n| one | two |\n"
    )
    text += "\n```js\nlet x;\n}\n```\n"
    assert quotable(text) == [
        ("First. Second goes on.", "prose"),
        ("an item", "item"),
        ("[ ] a task that goes on", "item"),
        ("one | two", "row"),
        ("let x;", "code"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Map\n\n- [[Beds]]\n- [[Compost|heap]]", ["Beds • heap", "Beds", "heap"]),
        ("## Key\n\n[[Ola]]", ["Ola"]),
        ("- [The Soil](https://x.y)", ["The Soil"]),
        ("2024-01-05: 82.1\n2024-01-12: 81.4", ["2024-01-05: 82.1", "2024-01-12: 81.4"]),
        ("1,204.50", ["1,204.50"]),
        ("A novel.\nauthor:: [[Jane]]\nmore", ["A novel.", "author:: Jane", "more"]),
        ("![[a.png]] #tag https://x.y\n\nkey::\n\n***", []),
    ],
)
def test_lines_of_only_links_or_figures_are_pieces(text: str, expected: list[str]) -> None:
    pieces = quotable_passages(text)
    assert [render_passage(piece, quotable_chunk(text)) for piece in pieces] == expected


def test_a_list_is_quoted_with_the_sentence_that_leads_in_to_it() -> None:
    text = (
        "You need these [[tools]]:\n\n- a *spade*\n1. a `rake`\n\nThen go.\n\nOr wait:\n\n- "
        + "\n- ".join(["a rainy day"] * 50)
    )
    pieces = quotable_passages(text)
    shown = [render_passage(piece, quotable_chunk(text)) for piece in pieces]
    assert shown[:3] == ["You need these tools: a spade • a `rake`", "a *spade*", "a `rake`"]
    assert str(shown[4]).startswith("Or wait: a rainy day • a rainy day")
    assert str(shown[4]).endswith("• a rainy day …")
    assert len(str(shown[4])) <= LONGEST_LIST + len(CUT)


def test_a_numbered_list_is_quoted_with_its_numbers() -> None:
    text = "The rules are:\n\n1. Name things.\n2. Expire *early*.\n3. Trust nobody."
    first = quotable_passages(text)[0]
    shown = render_passage(first, quotable_chunk(text))
    assert shown == "The rules are: 1. Name things. 2. Expire *early*. 3. Trust nobody."


@pytest.mark.parametrize("second", ["See [[Caches|theirs]].", "Expire.\n   - Early."])
def test_a_numbered_list_with_links_or_bullets_is_quoted_without_numbers(second: str) -> None:
    text = f"The rules are:\n\n1. Name things.\n2. {second}"
    shown = render_passage(quotable_passages(text)[0], quotable_chunk(text))
    assert shown is not None
    assert shown.startswith("The rules are: Name things. • ")


def test_a_list_below_a_heading_is_quoted_as_a_whole_too() -> None:
    text = "## Rules\n\n- [ ] Name things.\n- Expire *early*.\n\nThat is all."
    passages = quotable_passages(text)
    shown = [render_passage(each, quotable_chunk(text)) for each in passages]
    assert shown[0] == "[ ] Name things. • Expire early."
    assert passages[0].lead == "Rules"
    assert shown[1:] == ["[ ] Name things.", "Expire *early*.", "That is all."]


def test_points_of_prose_are_no_list() -> None:
    text = "## Reasons\n\n- " + "\n- ".join(["It is cheaper than any other way. " * 5] * 2)
    assert not any(passage.lead for passage in quotable_passages(text))


def test_names_in_front_matter_are_no_answers() -> None:
    text = (
        "title: Cook\ndesc: >-\n  How to make\n  a stew\ntags:\n  - food\nauthor: Ana\nyear: 1965"
    )
    assert quotable(text) == [("author: Ana", "row"), ("year: 1965", "row")]


def test_names_in_the_text_of_a_note_are_quoted() -> None:
    assert quotable("title:: Dune\nyear:: 1965") == [
        ("title:: Dune", "row"),
        ("year:: 1965", "row"),
    ]


def test_a_row_with_a_single_cell_says_nothing() -> None:
    assert quotable("| a | b |\n|-|-|\n| Notes: | |\n| one | two |") == [("one | two", "row")]


def test_a_part_of_a_list_is_a_list_and_its_items_lead_in_only_to_those_below_them() -> None:
    text = "\t- Needs:\n\t\t- lime\n\t- Later call Tom"
    assert quotable(text) == [("Needs: lime", "item"), ("lime", "item"), ("Later call Tom", "item")]


def test_what_rows_and_code_are_is_said_above_them() -> None:
    text = (
        "| part | price |\n| - | - |\n| chain | 40 |\n\nSee the lag\n\n```\ngroups\n```\n\nIt "
        "rained.\n\n#sh\n\n```\nls\n```"
    )
    text += "\n\n1. Look:\n   ```\n   df\n   ```"
    labels = {piece.text: piece.label for piece in quotable_passages(text) if piece.label}
    assert labels == {"chain | 40": "part | price", "groups": "See the lag", "df": "Look:"}


def test_properties_and_figures_are_rows() -> None:
    text = (
        "aliases:\n  - Rike\nborn: 1979\nphone: 0511 55\n\n| kg | l |\n|-|-|\n| 44.5 | 3 |\n\n"
        "hive:: 4\nweight:: 2 kg"
    )
    rows = ["born: 1979", "phone: 0511 55", "44.5 | 3", "hive:: 4", "weight:: 2 kg"]
    assert [piece for piece, kind in quotable(text) if kind == "row"] == rows


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("door 4417\nbike room 88\nthe caretaker lives on the second floor", 3),
        ("A paragraph that somebody wrapped\nwhere its lines became too long for\nthe window.", 1),
        (
            "Wake up early.\nEat something first:\nAnd then go out into the garden to see "
            "what grew there.",
            1,
        ),
        ("one\ntwo", 1),
    ],
)
def test_lines_that_are_not_wrapped_are_pieces_of_their_own(text: str, pieces: int) -> None:
    assert len(quotable(text)) == pieces


NO_PROSE = [
    "",
    "---",
    "![[image.png]]",
    "![alt](image.png)",
    "^block-id",
    "<div>",
    "<!-- a\nremark -->",
    "%%a remark%%",
    "***",
    "| - |",
]


@pytest.mark.parametrize("text", [*NO_PROSE, "?!", "$$"])
def test_structure_is_nothing_to_quote(text: str) -> None:
    assert quotable_passages(text) == []


def test_callouts_and_quotes_are_quoted_without_their_marks() -> None:
    pieces = [("A title", "prose"), ("It goes on.", "prose"), ("An item.", "item")]
    assert quotable("> [!info] A title\n> It goes\n> on.\n> - An item.") == pieces


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("See ![[Filters|the filters]] and [limits](Limiting.md).", "See the filters and limits."),
        (
            "Write `[[Note|alias]]` in [[Filters#Dates]].",
            "Write `[[Note|alias]]` in Filters › Dates.",
        ),
        ("See [`run()`](run.md) and [[Api#`run`]].", "See `run()` and Api › `run`."),
        ("Use [[Run#`run (a) => b;`|the API]] now.", "Use the API now."),
        ('A <span class="x">red</span> heap<br>grows.', "A red heap grows."),
        ("If $a<b$ and $c>d$ then `run`.", "If $a<b$ and $c>d$ then `run`."),
        ("A ==marked== word &amp; more[^1].", "A marked word & more."),
        ("- [[Beans]] need 2 * 3 poles.", "Beans need 2 * 3 poles."),
    ],
)
def test_passage_is_shown_as_a_reader_sees_it_and_can_be_verified(written: str, shown: str) -> None:
    [passage] = quotable_passages(written)
    assert render_passage(passage, quotable_chunk(written)) == shown


@pytest.mark.parametrize("text", ["\t1 *\t1", "1 ?:", "1 ?."])
def test_a_figure_among_marks_is_verbatim(text: str) -> None:
    """For any text, what is quoted is verified: see test_offline_provider.py. A figure beside its
    unit (`5` of `5 km`) is not.
    """
    for piece in quotable_passages(text, "H"):
        assert QuotableChunk(chunk(text=text)).locate(piece.text)


def test_a_command_over_several_lines_is_one_piece_of_code() -> None:
    text = (
        "```sh\ngroups \\\n  --describe \\\n  --group tea\nls\n```\n\n````md\n```tasks\nnot "
        "done\n```\n````"
    )
    [command, ls, query] = quotable_passages(text)
    assert render_passage(command, quotable_chunk(text)) == "groups --describe --group tea"
    assert (ls.text, query.text) == ("ls", "not done"), "a fence within code is no code"
