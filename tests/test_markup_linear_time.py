"""No text takes more than linear time to read, whatever it is: notes come from anywhere, exports
and paste included.
"""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat_cli.vault import note_parser
from zkchat_cli.vault.markup import read_markup

pytestmark = pytest.mark.usefixtures("untraced")

MARKS = r"""
[ ] [[ ]] [[a [[a| ![[ ![ [a]( [a](b [a](<b [a](b( [a](b\x20"c [a][ [a][b] [a]: [a]:\x20b [^ [] [](
( ) < > <!-- --> ` `` ``` ~~~ $ $$ $a
% %% # ## #a #\x20 > >\x20 -\x20 - *\x20 * 1.\x20 --- === ^ ^a \\ | ! a \x20 \x20\x20\x20\x20 \t 文
\n \n\n \n#\x20a \n-\x20a
\n```\n \n>\x20 \n:
""".split()
PIECES = [mark.encode().decode("unicode_escape") if mark.isascii() else mark for mark in MARKS]

SMALL = 12_000
FACTOR = 8


def seconds(piece: str, size: int) -> float:
    note = piece * (size // len(piece))
    begin = time.process_time()
    assert note_parser.parse_note("Note.md", note).chunks
    return time.process_time() - begin


def growth(piece: str) -> float:
    """How many times longer a text that is `FACTOR` times longer takes: about 8 where linear, 64
    where quadratic.

    The short one's best of three tries, for a busy machine slows one down; times below 5 ms say
    nothing.
    """
    small = min(seconds(piece, SMALL) for _ in range(3))
    return seconds(piece, SMALL * FACTOR) / max(small, 0.005)


def is_linear(piece: str) -> bool:
    return any(growth(piece) < 3 * FACTOR for _ in range(5))


@pytest.mark.parametrize("piece", PIECES)
def test_a_mark_over_and_over_takes_linear_time(piece):
    assert is_linear(piece)


@settings(max_examples=20)
@given(st.lists(st.sampled_from(PIECES), min_size=2, max_size=5).map("".join))
def test_any_few_marks_over_and_over_take_linear_time(piece):
    assert is_linear(piece)


def test_unmatched_runs_of_backticks_take_linear_time():
    def runs(most: int) -> str:
        return " ".join("`" * length for length in range(1, most))

    small = runs(600)
    large = runs(1700)
    assert len(large) / len(small) == pytest.approx(8, rel=0.1)
    assert any(_read(large) < 3 * FACTOR * max(_read(small), 0.005) for _ in range(3))


def _read(note: str) -> float:
    begin = time.process_time()
    read_markup(note)
    return time.process_time() - begin


def test_five_megabytes_of_brackets_take_less_than_a_second():
    assert _read("[" * 5_000_000) < 1
