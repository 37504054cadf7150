"""An excerpt beside its note: where it stands now, and which of its words are quoted."""

from typing import Any

import pytest
from factories import chunk, takes_less_than
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.citations.omissions import quote_ranges
from zkchat_cli.models.citations import Citation
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.views.source_in_note import chunk_lines, locate_chunk
from zkchat_cli.views.text import plain_text

NOTE = "# Filters\n\nA filter says which tasks you want.\nIt may be long.\n\n## Dates\n\nDue today."


def place(text: str, line: int, note: str | None = NOTE) -> tuple[int, int, bool]:
    """First and last line, and whether the note still contains the text."""
    found = locate_chunk(part(text, line), note)
    return found.first, found.last, found.note is not None


def part(text: str, line: int = 3) -> ContentChunk:
    return chunk(1, text, start_line=line)


def quoting(quote: str, first: int, last: int | None = None, **more: Any) -> Citation:
    values: dict[str, Any] = {
        "number": 1,
        "relative_path": "Filters.md",
        "start_line": first,
        "end_line": last or first,
        "verdict": "verified",
    }
    return Citation.model_validate({**values, "quote": quote, "valid": True} | more)


# where it stands


def test_an_excerpt_is_found_where_it_stands_now_and_of_several_places_in_the_nearest() -> None:
    assert place("A filter says which tasks you want.\nIt may be long.", 3) == (3, 4, True)
    assert place("It may be long.", 4, "New.\n\n" + NOTE) == (6, 6, True)
    note = "\n".join(["same"] * 3 + ["other"] * 4 + ["same"])
    assert [place("same", line, note)[0] for line in (7, 5, 2)] == [8, 3, 2]


def test_a_hostile_note_is_compared_in_linear_time() -> None:
    with takes_less_than(5):
        assert place("a" * 500, 9, "a" * 1_000_000) == (1, 1, True)
        assert place("a\n" * 5000 + "b", 9, "a\n" * 500_000) == (9, 5009, False)


# which words are quoted


@pytest.mark.parametrize(
    ("text", "quote", "words"),
    [
        ("It is *ready* after nine months.", "ready after nine", "ready* after nine"),
        ("It is\nready  after", "it is Ready after", "It is\nready  after"),
        ("> It is\n> ready after", "It is ready after", "It is\n> ready after"),
        ("- one\n- two", "one two", "one\n- two"),
        ("| a | b |", "a | b", "a | b"),
        ("He said “so it is”", 'said "so it is"', "said “so it is"),
        ("All is well. More.", "All is well.", "All is well."),
        ("All is well. More.", "all is well!", "All is well"),
        ("知识花园，是一座花园。", "是一座 花园", "是一座花园"),
    ],
)
def test_quoted_words_are_found_as_they_stand(text: str, quote: str, words: str) -> None:
    [found] = quote_ranges(text, [quote])
    assert text[slice(*found)] == words


@pytest.mark.parametrize("gap", ["…", " ... ", " [...] ", "(…)"])
def test_words_left_out_of_a_quotation_are_not_marked(gap: str) -> None:
    text = "It is ready, they say, after nine months. Now it is ready."
    assert [
        text[slice(*found)] for found in quote_ranges(text, [f"it is ready{gap}after nine"])
    ] == ["It is ready", "after nine"]
    assert quote_ranges(text, [f"after nine{gap}they say"]) == []


@pytest.mark.parametrize("quote", ["other words", "", " … ", "**"])
def test_words_that_are_missing_are_not_found(quote: str) -> None:
    assert quote_ranges("It is ready.", [quote]) == []


@given(
    st.text(st.sampled_from("ab >*\n.“é"), max_size=60),
    st.text(st.sampled_from("ab >*\n.“é"), min_size=1, max_size=9),
)
def test_marking_changes_no_word(text: str, quote: str) -> None:
    shown = (
        plain_text(chunk_lines(part(text, 1), 1, [quoting(quote, 1)], None))
        .replace("»", "")
        .replace("«", "")
    )
    assert [row.partition("│")[2].removeprefix(" ") for row in shown.split("\n")] == text.split(
        "\n"
    )


def test_a_hostile_excerpt_is_marked_in_linear_time() -> None:
    with takes_less_than(5):
        list(
            chunk_lines(
                part("a " * 200_000 + "\n" * 20_000, 1), 1, [quoting("a " * 50_000 + "b", 1)], None
            )
        )


# how it is shown


def shown(text: str, line: int = 3, *quotes: str, note: str | None = NOTE) -> list[str]:
    return plain_text(
        chunk_lines(part(text, line), line, [quoting(quote, line) for quote in quotes], note)
    ).split("\n")


def test_only_a_quotation_that_holds_is_marked() -> None:
    wrong = quoting("one", 3, verdict="misquoted", valid=False)
    unquoted = Citation(number=1, relative_path="Filters.md", verdict="cited", valid=True)
    assert plain_text(chunk_lines(part("one two"), 3, [wrong, unquoted], None)) == "  3 │ one two"
