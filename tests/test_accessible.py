"""terminal.accessible: what a screen reader gets. Nothing is drawn again, nothing is drawn with
boxes, and states are words.
"""

import io
import re
from collections.abc import Iterable

from conftest import Program
from terminal_screen import CTRL_C, Chat

from zkchat_cli.models.citations import Citation
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.views.sources import source_lines
from zkchat_cli.views.text import BudgetBar, StyledLine, StyledSpan, styled_line

DRAWN = re.compile(rb"\x1b\[[0-9;?]*[A-Zac-ln-z]|\r(?!\n)")
"""Escape sequences other than styles and links, and returns to the beginning of a row."""
BOX = re.compile("[\u2500-\u259f\u2800-\u28ff\u2713\u2717\u2702\u25cb]")


def spoken(lines: Iterable[StyledLine]) -> str:
    out = io.StringIO()
    Screen(out, out, color=False, err_is_terminal=True, columns=lambda: 80, accessible=True).show(
        lines
    )
    return out.getvalue()


def test_marks_arrows_and_bars_are_words() -> None:
    cited = Citation(
        number=1,
        relative_path="Roof.md",
        heading=None,
        start_line=3,
        end_line=3,
        quote="dry",
        valid=True,
        verdict="verified",
    )
    lines = source_lines([cited], [], 0, 5, "/refs")
    assert spoken(lines) == "Sources\n  [1] verified: [[Roof]]   Roof.md:3\n"
    assert (
        spoken([styled_line("→ hybrid"), styled_line("✗ [[Ruf]] not found")])
        == "current: hybrid\nproblem: [[Ruf]] not found\n"
    )
    assert (
        spoken(
            [
                StyledLine(
                    (StyledSpan("total "), StyledSpan(BudgetBar(41, 100).bar), StyledSpan("  41%"))
                )
            ]
        )
        == "total 41%\n"
    )
    assert (
        spoken([StyledLine((StyledSpan("> 3 │ "), StyledSpan("dry", quoted=True)))])
        == "> 3 : “dry” (quoted)\n"
    )


def test_printed_lines_begin_with_words_and_progress_is_one_line() -> None:
    out = io.StringIO()
    screen = Screen(out, out, color=False, err_is_terminal=True, accessible=True)
    screen.print("✗ no such note\n── user · 3 tokens")
    with screen.transient_line(out) as show:
        for text in ("indexing", "indexing", "loading"):
            show(text)
    assert out.getvalue() == "problem: no such note\nuser · 3 tokens\nindexing\nloading\n"


def test_a_chat_only_adds_lines(zkchat: Program) -> None:
    with Chat(zkchat, ZKCHAT_TERMINAL__ACCESSIBLE="true") as chat:
        chat.wait_for("you:")
        chat.type("when is a compost heap ready?\r")
        chat.wait_for("is answering")
        chat.wait_until(lambda: chat.everything().count("you:") == 2, "the next prompt")
        chat.type("/so\t 1\r")
        chat.wait_for("line ")
        chat.wait_until(lambda: chat.everything().count("you:") == 3, "the next prompt")
        chat.type("/context\r")
        chat.wait_until(lambda: chat.everything().count("you:") == 4, "the next prompt")
        chat.wait_until(
            lambda: "Press Ctrl-C again" in chat.everything(), "the hint", pressed=CTRL_C
        )
        chat.wait_for_end(lambda: chat.type(CTRL_C))
        assert DRAWN.findall(chat.raw) == []
        assert BOX.findall(chat.everything()) == []
        assert "verified: [[" in chat.everything()
