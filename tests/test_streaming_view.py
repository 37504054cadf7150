"""The view of a streaming answer: nothing is repeated or lost, through resizes too; what it costs;
its status line.
"""

import io
import itertools
import re
import time
from collections.abc import Callable

import pytest
from factories import make_usage
from hypothesis import given
from hypothesis import strategies as st
from streaming_terminal import Streaming, pieces_of

from zkchat_cli.events import (
    CompactionStarted,
    PromptBuilt,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    Waiting,
)
from zkchat_cli.models.messages import ToolCall, ToolRun
from zkchat_cli.terminal.input_line import prompt_style
from zkchat_cli.terminal.link_targets import NO_LINKS
from zkchat_cli.terminal.palette import DARK, color_code
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.status_line import StatusLine
from zkchat_cli.terminal.streaming_view import StreamingView
from zkchat_cli.terminal.toolbar import Toolbar
from zkchat_cli.views.live_budget import LiveBudget

CALL = ToolCall(id="1", name="find_excerpts", arguments={"query": "moon"})
BLOCKS = (
    "# {} {}\n",
    "{} words **{} that** go *on {} and on* with `{}` and {} [[{}]] [1] {} to the end of a "
    "long paragraph {}.\n{}\n\n",
    "- {} item {}\n- {} with a few more words {}\n  - {} nested {}\n\n",
    "1. {}\n2. {} second {}\n\n",
    "> {} quoted {}\n> {} and {} so on\n\n",
    "```python\nx = '{}'\n# {}\n```\n",
    "| {} | b |\n|---|---|\n" + "| {} | {} |\n" * 12 + "\n",
    "{} 世界 {} **{}** ~~{}~~ {}\n\n",
)


def marked(times: int = 2) -> tuple[str, list[str]]:
    """A text with all kinds of blocks, and the words in it that stand there once."""
    text = "".join(BLOCKS) * times
    markers = [f"m{n:03}" for n in range(text.count("{}"))]
    return text.format(*markers), markers


def misprinted(rows: list[str], markers: list[str]) -> list[str]:
    # A terminal that reflows may cut a word
    everything = "".join(rows)
    return [marker for marker in markers if everything.count(marker) != 1]


@pytest.mark.parametrize(
    ("before", "after", "at", "reflows"),
    [
        ((40, 15), (200, 50), 0.3, False),
        ((80, 24), (80, 15), 0.5, False),
        ((80, 24), (40, 15), 0.7, True),
        ((200, 50), (40, 15), 0.3, True),
    ],
)
def test_a_resize_during_an_answer_repeats_and_loses_nothing(
    before: tuple[int, int], after: tuple[int, int], at: float, *, reflows: bool
) -> None:
    text, markers = marked()
    deltas = pieces_of(text, 5)
    half = int(at * len(deltas))
    terminal = Streaming(*before, reflows=reflows).say(deltas[:half])
    terminal.terminal.resize(after[1], after[0])
    rows = terminal.say(deltas[half:]).close()
    assert misprinted(rows, markers) == []
    assert not re.search(r"Ctrl-C stops|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "\n".join(rows))


def test_the_status_line_fits_a_screen_that_became_narrower() -> None:
    terminal = Streaming(100, 10, pace=0.1, reflows=True)
    terminal.live.update(PromptBuilt(make_usage(0), "the name of a model"))
    terminal.say(pieces_of("An answer that is told slowly", 4))
    assert (
        "1 s · Ctrl-C stops · █░░░░░░ 0% ~7 / 29.5k · the name of a model · ~7 tokens"
        in terminal.terminal.rows()[1]
    )
    terminal.terminal.resize(10, 30)
    rows = terminal.say(pieces_of(" and goes on on a narrower screen.", 4)).close()
    assert rows == ["An answer that is told slowly", "and goes on on a narrower", "screen."]


MARKS = [
    # No "=": a heading underlined later may lack the blank row before it
    *"*_`~[]()|>#-+!\\: \n\r\t",
    "**",
    "~~",
    "```",
    "\n\n",
    "\n- ",
    "\n1. ",
    "\n> ",
    "- [ ] ",
    "\n    ",
    "---",
    "2024. ",
    "<b>",
]
WORDS = [
    "word",
    "words on words",
    "https://a.b/c",
    "](http://a.b)",
    "[1]",
    "[[No",
    "te]]",
    "世界",
    "。",
    "👨‍👩‍👧",
    "e\u0301",
    "a" * 30,
    "&am",
    "p;",
    "&#x41;",
]
FRAGMENTS = st.sampled_from([*MARKS, *WORDS, "\n```py\n", "x = 1 # y", "\x1b[2J", "\u202e"])
TEXTS = st.lists(FRAGMENTS, max_size=40).map("".join)


@given(
    TEXTS,
    st.lists(st.integers(1, 12), min_size=1, max_size=8),
    st.sampled_from([(20, 6), (40, 15), (80, 24)]),
)
def test_the_deltas_of_an_answer_do_not_matter(
    text: str, sizes: list[int], screen: tuple[int, int]
) -> None:
    deltas = []
    at = 0
    n = 0
    while at < len(text):
        deltas.append(text[at : at + sizes[n % len(sizes)]])
        at = at + len(deltas[-1])
        n = n + 1
    terminal = Streaming(*screen)
    most = screen[1] // 3 + 1

    def a_short_tail() -> None:
        below = [
            y
            for y, row in terminal.terminal.buffer.items()
            if y > terminal.terminal.cursor.y and any(c.data.strip() for c in row.values())
        ]
        assert not below or max(below) - terminal.terminal.cursor.y <= most

    assert terminal.say(deltas, a_short_tail).close() == Streaming(*screen).say([text]).close()


def test_an_endless_line_is_shown_while_it_streams() -> None:
    terminal = Streaming(40, 12).say(pieces_of("x" * 2000 + " " + "word " * 500, 50))
    assert len(terminal.terminal.rows()) > 60
    assert "".join(terminal.close()).count("x") == 2000


@pytest.mark.untraced
def test_the_bytes_written_are_linear_in_the_answer() -> None:
    text = marked(20)[0][:7_500]
    deltas = pieces_of(text, 15)
    assert len(deltas) == 500
    terminal = Streaming(pace=0.05)
    terminal.say(deltas).close()
    assert len(terminal.raw.encode()) <= 10 * len(text.encode())


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize(
    "unit", ["*a ", "_a *b ", "` `` ", "[a](", "> ", "|a|b|\n|-|-|\n", "- a\n  ", "知"]
)
def test_hostile_answers_take_linear_time(unit: str) -> None:
    def took(size: int) -> float:
        screen = Screen(
            io.StringIO(),
            io.StringIO(),
            columns=lambda: 80,
            lines=lambda: 24,
            color=True,
            err_is_terminal=False,
        )
        live = StreamingView(screen, NO_LINKS, budget=None, clock=lambda: 0.0, ticking=False)
        began = time.process_time()
        live.add_answer(unit * (size // len(unit)))
        return time.process_time() - began

    short = min(took(2_000) for _ in range(3))
    # Three times what is linear: a busy machine may be slow
    assert any(took(16_000) < 24 * max(short, 0.002) for _ in range(5))


def test_the_status_line_shows_progress_and_disappears() -> None:
    terminal = Streaming(60, 10)
    terminal.now = 12.0
    terminal.live.update(ToolCallStarted(CALL))
    assert re.fullmatch(
        r'. find_excerpts "moon" · 12 s · Ctrl-C stops', terminal.terminal.rows()[0]
    )
    terminal.live.print_remark("  found it")
    assert terminal.terminal.rows() == ["  found it"]
    terminal.say(["Some words ", "come ", "in ", "here"])
    assert re.fullmatch(r". 14 s · Ctrl-C stops · ~6 tokens", terminal.terminal.rows()[-1])
    assert terminal.close() == ["  found it", "", "Some words come in here"]


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        (80, "5 s · Ctrl-C stops · ███░░░░ 50% 14.7k / 29.5k · scripted · ~100 tokens"),
        (60, "5 s · Ctrl-C stops · ███░░░░ 50% 14.7k / 29.5k · scripted"),
        (50, "5 s · Ctrl-C stops · ███░░░░ 50% 14.7k / 29.5k"),
        (49, "5 s · Ctrl-C stops · ███░░░░ 50% · scripted"),
        (16, "5 s"),
        (4, "5 "),
    ],
)
def test_a_narrow_status_line_drops_the_least_important_parts(columns: int, line: str) -> None:
    assert answering().line(5.0, columns).plain[2:] == line


def test_the_status_line_shortens_what_is_done_for_the_bar() -> None:
    status = answering()
    status.update(CompactionStarted("the conversation needs 27,000 tokens", 27_000, 29_491))
    bar = "5 s · Ctrl-C stops · ██████░ 92% 27.0k / 29.5k"
    assert status.line(5.0, 40).plain[2:] == "compacting: the c… · 5 s · ██████░ 92%"
    assert status.line(5.0, 79).plain[2:] == f"compacting: the conversatio… · {bar}"
    assert status.line(5.0, 120).plain[2:] == (
        f"compacting: the conversation needs 27,000 tokens · {bar} · scripted"
    )


@pytest.mark.parametrize(
    ("total", "color"), [(20_000, "green"), (21_000, "yellow"), (27_000, "red")]
)
def test_rich_draws_the_bar_of_a_running_turn_in_the_colors_of_the_toolbar(
    total: int, color: str
) -> None:
    out = io.StringIO()
    screen = Screen(out, out, color=True, err_is_terminal=False, columns=lambda: 80, palette=DARK)
    live = StreamingView(
        screen, NO_LINKS, budget=LiveBudget(make_usage(total)), clock=ticking(), ticking=False
    )
    live.update(Waiting(3.0, "busy"))
    live.close()
    assert f"\x1b[38;5;{DARK[color]}m█" in out.getvalue()
    [style] = [
        style for style, text in Toolbar(usage=make_usage(total)).fragments(80) if "█" in text
    ]
    assert prompt_style(DARK).get_attrs_for_style_str(style).color == color_code(DARK[color])[1:]


def ticking() -> Callable[[], float]:
    """A clock on which each look takes a second."""
    seconds = itertools.count()
    return lambda: float(next(seconds))


def test_without_a_budget_the_status_line_has_no_tokens() -> None:
    status = StatusLine(0.0, None)
    status.update(TextDelta("x" * 400))
    status.update(PromptBuilt(make_usage(14_700), "scripted"))
    assert status.line(5.0, 80).plain[2:] == "5 s · Ctrl-C stops · scripted"


def answering() -> StatusLine:
    status = StatusLine(0.0, LiveBudget())
    status.update(TextDelta("x" * 400))
    status.update(PromptBuilt(make_usage(14_700), "scripted"))
    return status


def test_the_budget_bar_of_the_status_line_counts_results_and_streamed_text() -> None:
    status = answering()
    status.update(
        ToolCallFinished(
            CALL,
            ToolRun(name="find_excerpts", arguments={}, ok=True, tokens=2000, duration_ms=1),
            3,
        )
    )
    status.update(TextDelta("x" * 4000))
    assert "60% ~17.7k / 29.5k" in status.line(5.0, 80).plain
    status.update(PromptBuilt(make_usage(16_200), "scripted"))
    assert "55% 16.2k / 29.5k" in status.line(5.0, 80).plain


def test_a_wait_counts_down_in_place() -> None:
    terminal = Streaming(80)
    for left in (3.0, 2.0, 1.0):
        terminal.now += 1
        terminal.live.update(Waiting(left, "the server is busy\x1b[2J"))
        [row] = terminal.terminal.rows()
        assert re.fullmatch(
            rf". again in {left:.0f} s: the server is busy␛\[2J · \d s · Ctrl-C stops", row
        )
    assert terminal.close() == []


def test_reasoning_is_indented_markdown() -> None:
    terminal = Streaming(30)
    for piece in pieces_of("I should look for *stars*\nand think twice.", 4):
        terminal.now += 1
        terminal.live.add_reasoning(piece)
    terminal.say(["Here."])
    assert terminal.close() == [
        "  thinking",
        "  I should look for stars",
        "  and think twice.",
        "",
        "Here.",
    ]


def test_a_thread_moves_the_status_line_except_while_the_view_is_paused() -> None:
    out = io.StringIO()
    live = StreamingView(
        Screen(out, out, color=True, err_is_terminal=False, columns=lambda: 80),
        NO_LINKS,
        budget=None,
    )
    try:
        waited(lambda: re.search(r". \d s", out.getvalue()) is not None)
        live.pause()
        before = out.getvalue()
        time.sleep(0.3)
        assert out.getvalue() == before
        live.update(CompactionStarted("again", 9, 10))
        waited(lambda: "again" in out.getvalue())
    finally:
        live.close()
    assert out.getvalue().endswith("\x1b[J\r"), "nothing is left behind"
    ended = out.getvalue()
    time.sleep(0.2)
    assert out.getvalue() == ended


def waited(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)
