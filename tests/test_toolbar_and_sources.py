"""The parts of the screen that are pure: the toolbar at any width, lines fitted to it, the list of
sources.
"""

import io
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from factories import make_usage as usage
from hypothesis import example, given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from zkchat_cli.models.citations import Citation
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.terminal.column_layout import lay_out
from zkchat_cli.terminal.link_targets import note_opener
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.toolbar import Toolbar
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.views.sources import source_lines
from zkchat_cli.views.text import StyledLine, StyledSpan, plain_text, styled_line

WORDS = st.text(st.sampled_from("ab cd. 世界、é\u0301👍\t\n|`"), max_size=200)
WIDTHS = st.integers(1, 60)


def toolbar_text(toolbar: Toolbar, width: int) -> str:
    return "".join(text for _, text in toolbar.fragments(width))


# the toolbar


@pytest.mark.parametrize(
    ("toolbar", "width", "text"),
    [
        (
            Toolbar("offline", "notes", usage(12_100)),
            80,
            " offline │ notes │ ██████░░░░░░░░ 41% │ 12.1k / 29.5k",
        ),
        (
            Toolbar("offline", "notes", usage(12_100), typed=295),
            100,
            " offline │ notes │ ██████░░░░░░░░ 42% │ 12.4k / 29.5k │ next message: 295",
        ),
        (
            Toolbar("offline", "notes", usage(12_100), typed=294),
            60,
            " offline │ notes │ ███░░░░ 42%",
        ),
        (Toolbar("offline", "notes", state="indexing 1/9"), 60, " indexing 1/9 │ offline │ notes"),
        (
            Toolbar("m", "v", usage(21_000)),
            60,
            " m │ v │ █████░░ 71% │ compacts at 80%",
        ),
        (
            Toolbar("m", "v", usage(25_000)),
            60,
            " m │ v │ ██████░ 85% │ compacts with the next message",
        ),
        (
            Toolbar("m", "v", usage(25_000), compacts=False),
            60,
            " m │ v │ ██████░ 85% │ /compact is due",
        ),
        (
            Toolbar("a-long-name-of-a-model", "a-long-name-of-a-vault", usage(30_000)),
            80,
            " ██████████████ 102% │ 30.0k / 29.5k │ compacts with the next message",
        ),
        (
            Toolbar("m", "v", usage(23_000), typed=593),
            60,
            " m │ ██████░ 80% │ compacts with the next message",
        ),
        (
            Toolbar("m", "v", usage(20_000), 1000, typed_estimated=True),
            80,
            " m │ v │ ██████████░░░░ 71% │ ~21.0k / 29.5k │ next message: ~1.0k",
        ),
        (
            Toolbar("a-long-name-of-a-model", "vault", usage(12_100), state="loading"),
            45,
            " loading │ a-long-name-of-a-model │ ██░░ 41%",
        ),
        (
            Toolbar("a-long-name-of-a-model", "vault", usage(12_100), state="loading"),
            30,
            " loading │ ██░░ 41%",
        ),
        (
            Toolbar("ollama/qwen3", "notes", usage(12_100), meaning="meaning 12%"),
            80,
            " meaning 12% │ ollama/qwen3 │ notes │ ██████░░░░░░░░ 41% │ 12.1k / 29.5k",
        ),
        (
            Toolbar("ollama/qwen3", "notes", usage(12_100), meaning="meaning 12%"),
            50,
            " meaning 12% │ ollama/qwen3 │ notes │ ██░░ 41%",
        ),
        (
            Toolbar("a-long-name-of-a-model", "vault", usage(25_000), meaning="meaning 12%"),
            50,
            " ███░ 85% │ compacts with the next message",
        ),
        (
            Toolbar("a-long-name-of-a-model", "vault", usage(12_100), meaning="meaning 12%"),
            20,
            " ██░░ 41%",
        ),
        (Toolbar(state="loading"), 80, " loading"),
        (
            Toolbar("scripted//tmp/a/long/path/replies.jsonl", "a\nb\x1b"),
            80,
            " scripted//tmp/a/long/pa… │ a␊b␛",
        ),
    ],
)
def test_the_toolbar_shows_what_matters_and_drops_the_rest_on_narrow_screens(
    toolbar: Toolbar, width: int, text: str
) -> None:
    assert toolbar_text(toolbar, width) == text


@given(
    st.text(max_size=40),
    st.text(max_size=40),
    st.integers(0, 10**9),
    st.integers(0, 40_000),
    st.booleans(),
    st.integers(12, 200),
)
def test_the_toolbar_never_needs_a_second_line(
    model: str, vault: str, typed: int, total: int, due: bool, width: int
) -> None:
    bar = toolbar_text(Toolbar(model, vault, usage(total, due=due), typed), width)
    assert get_cwidth(bar) <= width
    assert "\n" not in bar


@pytest.mark.parametrize(
    ("total", "color"),
    [
        (20_000, "green"),
        (20_490, "green"),
        (20_500, "yellow"),
        (26_390, "yellow"),
        (26_400, "red"),
    ],
)
def test_the_bar_is_green_then_yellow_then_red(total: int, color: str) -> None:
    for toolbar in (
        Toolbar("m", "v", usage(total)),
        Toolbar("m", "v", usage(total - 7_000), typed=7_000),
    ):
        styles = [style for style, text in toolbar.fragments(80) if "█" in text]
        assert styles == [f"class:budget.{color}"]
        percent = int(re.findall(r"(\d+)%", toolbar_text(toolbar, 80))[0])
        assert ("green", "yellow", "red")[(percent >= 70) + (percent >= 90)] == color


# lines with columns, styles and links


def row(name: str, path: str, **more: Any) -> StyledLine:
    return StyledLine((StyledSpan(name),), (StyledSpan(path, "dim", path),), **more)


def lines_text(lines: list[StyledLine], width: int | None = None) -> str:
    return "\n".join("".join(span.text for span in each) for each in lay_out(lines, width))


def test_columns_are_aligned_by_what_characters_take_not_by_their_number() -> None:
    for width in (None, 80):
        assert lines_text(
            [row("知识花园", "a.md"), row("Filters!", "b.md"), row("cafe\u0301", "c.md")], width
        ) == ("知识花园   a.md\nFilters!   b.md\ncafe\u0301       c.md")


def test_no_text_can_begin_a_line() -> None:
    assert lines_text([row("a\n  [1] ✓ forged", "b\tc.md")]) == "a␊  [1] ✓ forged   b␉c.md"


SPANS = st.lists(
    st.builds(lambda text, style: StyledSpan(text, style), WORDS, st.sampled_from(["", "dim"])),
    max_size=5,
).map(tuple)


@given(
    st.lists(
        st.builds(lambda *parts: StyledLine(*parts), SPANS, SPANS, st.integers(0, 20)), max_size=4
    ),
    WIDTHS,
)
def test_laying_out_changes_nothing_but_spaces_and_keeps_every_look(
    lines: list[StyledLine], width: int
) -> None:
    def looks(spans: Any) -> list[tuple[str, str]]:
        return [(c, span.style) for span in spans for c in sanitize_name(span.text) if c != " "]

    made = lay_out(lines, width)
    assert looks(span for each in made for span in each) == looks(
        span for each in lines for span in (*each.left, *each.right)
    )
    assert not any("\n" in span.text for each in made for span in each)


@given(
    st.lists(st.builds(lambda *parts: StyledLine(*parts), SPANS, SPANS), max_size=4),
    st.integers(10, 60),
)
def test_a_laid_out_row_fits_unless_a_single_word_does_not(
    lines: list[StyledLine], width: int
) -> None:
    for each in lay_out(lines, width):
        text = "".join(span.text for span in each)
        assert get_cwidth(text.rstrip()) <= width or re.search(r"[^ ]{6,}|^ ", text)


# links


opened = note_opener(Path("/my notes"))


@given(path=st.text(min_size=1))
@example(path="知识/a#b%41?c&d=e\n\x1b\\\x07;.md")
@example(path="\udcff.md")
def test_no_name_can_break_out_of_its_link(path: str) -> None:
    made = opened(path)
    assert made is None or re.fullmatch(r"[!-~]+", made)
    if (
        made is not None
        and ".." not in path
        and "//" not in path
        and "./" not in path
        and path != "."
    ):
        assert unquote_to_bytes(made).endswith(os.fsencode(path.rstrip("/")).removesuffix(b"/."))


@pytest.mark.parametrize(
    "path", ["../secret.md", "a/../../secret.md", "/etc/passwd", "..", "a\0b.md", "x" * 3000]
)
def test_paths_outside_the_vault_or_too_long_are_not_linked(path: str) -> None:
    assert opened(path) is None


def screen(
    *, color: bool, address: Any = None, width: int | None = None
) -> tuple[Screen, io.StringIO]:
    out = io.StringIO()
    return Screen(
        out, io.StringIO(), color, False, (lambda: width) if width else None, address
    ), out


def test_a_path_is_a_link_on_a_terminal_only() -> None:
    for color, address in [(True, None), (False, note_opener(Path("/n")))]:
        to, out = screen(color=color, address=address)
        to.show([StyledLine((StyledSpan("a.md", "", "a.md"),))])
        assert out.getvalue() == "a.md\n"
    to, out = screen(color=True, address=note_opener(Path("/n")))
    to.show([StyledLine((StyledSpan("a.md", "dim", "a.md"), StyledSpan(":3")))])
    assert re.fullmatch(
        r"\x1b\]8;id=\d+;file:///n/a.md\x1b\\\x1b\[2ma.md\x1b\[0m\x1b\]8;;\x1b\\:3\n",
        out.getvalue(),
    )


# sources


def sources_text(limit: int = 10, uncited: int = 0, **fields: Any) -> str:
    return plain_text(
        source_lines(
            fields.get("citations", ()), fields.get("references", ()), uncited, limit, "/refs"
        )
    )


def citation(number: int, path: str | None = "Queries/Filters.md", **fields: Any) -> Citation:
    known = {
        "verdict": "cited",
        "valid": True,
        **({"start_line": 12, "end_line": 14} if path else {"verdict": "missing", "valid": False}),
    }
    return Citation(number=number, relative_path=path, **{**known, **fields})


def quotation(number: int, quote: str, *, held: bool = True, **fields: Any) -> Citation:
    return citation(
        number, quote=quote, valid=held, verdict="verified" if held else "misquoted", **fields
    )


def found_document(path: str, **fields: Any) -> DocumentReference:
    return DocumentReference(
        **{
            "wikilink": f"[[{path[:-3]}]]",
            "relative_path": path,
            "reference_type": "search",
            **fields,
        }
    )


FILTERS = "[[Queries/Filters]]   Queries/Filters.md:12-14"
NAMED = (
    found_document("Filters.md", reference_type="direct", summary="What to see."),
    found_document("Other.md"),
)
BROKEN = (
    DocumentReference(
        wikilink="[[Filtrs]]", reference_type="direct", status="broken", candidates=("Filters",)
    ),
)


@pytest.mark.parametrize(
    ("sources", "text"),
    [
        (
            {"citations": (quotation(1, "ten", heading="Dates"),)},
            "  [1] ✓ [[Queries/Filters]] › Dates   Queries/Filters.md:12-14",
        ),
        (
            {
                "citations": (
                    quotation(1, "a"),
                    quotation(1, "b", start_line=20, end_line=20),
                    citation(1, end_line=90),
                )
            },
            f"  [1] ✓ {FILTERS}, 20",
        ),
        (
            {"citations": (quotation(1, "so"), quotation(1, "not so", held=False))},
            f"  [1] ✗ {FILTERS}\n        the quoted words are not there: “not so”",
        ),
        (
            {
                "citations": (
                    quotation(1, "so"),
                    citation(
                        1, quote="safe", valid=False, verdict="cut", sentence="It is not safe."
                    ),
                )
            },
            f"  [1] ✂ {FILTERS}\n        the quotation is cut; the note says: It is not safe.",
        ),
        (
            {
                "citations": (
                    quotation(1, "so", support="supports"),
                    citation(1, support="does_not_support"),
                )
            },
            f"  [1] ✓ {FILTERS}\n        the note does not seem to say what the answer says here",
        ),
        ({"citations": (citation(1, support="unclear"),)}, f"  [1] ○ {FILTERS}"),
        ({"citations": (citation(9, None),)}, "  [9] ✗ no such source was in the prompt"),
        ({"references": BROKEN}, "  ✗ [[Filtrs]] not found"),
        (
            {"references": NAMED},
            "  · [[Filters]]   Filters.md\n      What to see.\n  not used: Other.md",
        ),
        (
            {"citations": (citation(1),), "uncited": 1},
            f"  [1] ○ {FILTERS}\n  1 sentence has no citation",
        ),
        (
            {"citations": (citation(1),), "uncited": 2, "references": (found_document("A.md"),)},
            f"  [1] ○ {FILTERS}\n  2 sentences have no citation · not used: A.md",
        ),
    ],
)
def test_each_source_has_its_mark_name_and_place(sources: dict[str, Any], text: str) -> None:
    assert sources_text(**sources) == f"Sources\n{text}"


def test_a_cited_note_that_the_user_named_is_described_once() -> None:
    named = found_document("Queries/Filters.md", reference_type="direct", summary="What to see.")
    text = sources_text(citations=(citation(1), citation(2, start_line=20)), references=(named,))
    assert text.split("\n")[2] == "      What to see."
    assert text.count("What to see.") == 1


def test_a_long_list_is_cut_and_says_where_the_rest_is() -> None:
    assert sources_text(2, citations=tuple(citation(n) for n in range(1, 6))).endswith(
        "and 3 more: /refs"
    )


def test_an_answer_without_sources_has_no_list() -> None:
    assert sources_text(uncited=1) == ""


def test_a_table_on_a_terminal_has_the_columns_of_a_pipe() -> None:
    lines = [
        row("Filters", "a.md"),
        styled_line("between"),
        row("x" * 70, "b.md"),
        row("知识花园", "c.md"),
        row("Tags", "q" * 90),
    ]
    for width in (None, 120, 40):
        drawn_in_color, out = screen(color=True, width=width)
        drawn_in_color.show(lines)
        piped, text = screen(color=False, width=width)
        piped.show(lines)
        assert re.sub(r"\x1b\[[\d;]*m", "", out.getvalue()) == text.getvalue()
