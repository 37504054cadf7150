"""Line breaks by terminal cells, for styled text and for text that streams."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from zkchat_cli.terminal.plain_turn_view import PlainTurnView
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.text_layout import line_breaks, wrap

WORDS = st.text(st.sampled_from("ab cd.,/-世界、（é👍"), max_size=200)
WIDTHS = st.integers(2, 60)


def break_line(line: str, width: int) -> list[str]:
    return [row.plain for row in wrap(Text(line), width)]


@pytest.mark.parametrize(
    ("line", "width", "rows"),
    [
        (
            "The quick brown fox jumps over the lazy dog",
            16,
            ["The quick brown ", "fox jumps over ", "the lazy dog"],
        ),
        ("exactly ten and", 11, ["exactly ten ", "and"]),
        ("知识花园，是一座花园。", 10, ["知识花园，", "是一座花", "园。"]),
        ("see notes/a-long-name.md", 12, ["see ", "notes/a-", "long-name.md"]),
        ("x" * 25, 10, ["x" * 10, "x" * 10, "x" * 5]),
        ("", 10, [""]),
        ("  a", 2, ["  ", "a"]),
        ("`.\u0301\u0301", 1, ["`", ".", "\u0301\u0301"]),
    ],
)
def test_lines_break_between_words_and_chinese_characters(
    line: str, width: int, rows: list[str]
) -> None:
    assert break_line(line, width) == rows


@given(WORDS, WIDTHS)
def test_rows_fit_and_lose_nothing(text: str, width: int) -> None:
    rows = break_line(text, width)
    assert "".join(rows) == text
    assert all(cell_len(row.rstrip()) <= width for row in rows)


@given(WORDS, WIDTHS, st.integers(0, 200))
def test_more_text_moves_no_break_before_the_last_row(text: str, width: int, cut: int) -> None:
    final = line_breaks(text[:cut], width)[:-1]
    assert line_breaks(text, width)[: len(final)] == final


@given(
    st.text(st.sampled_from("ab cd 世界é👍"), max_size=200), st.integers(8, 60), st.integers(1, 7)
)
def test_plain_text_streams_into_the_same_rows(text: str, width: int, size: int) -> None:
    out = io.StringIO()
    screen = Screen(out, io.StringIO(), color=False, err_is_terminal=False, columns=lambda: width)
    view = PlainTurnView(screen, screen.print)
    for at in range(0, len(text), size):
        view.add_answer(text[at : at + size])
    view.close()
    rows = [row.rstrip() for row in break_line(text, width)]
    assert [row.rstrip() for row in out.getvalue().rstrip().split("\n")] == "\n".join(
        rows
    ).rstrip().split("\n")
