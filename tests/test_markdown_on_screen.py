"""Answers in Markdown on the screen: what each construct looks like, that nothing repeats or is eaten, and that nothing of it acts."""

import io
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from streaming import Streaming, cut, seen
from terminal_screen import HARMLESS, HOSTILE

from zkchat_cli.terminal.hyperlinks import LinkTargets, web_address
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.status_line import StatusLine
from zkchat_cli.terminal.streaming_view import StreamingView

# what it looks like


def test_words_are_laid_out_between_words_and_lines_stay_lines() -> None:
    assert seen("The quick brown fox jumps over\nthe lazy dog.\n\n\n\nA second paragraph.", 20) == [
        "The quick brown fox",
        "jumps over",
        "the lazy dog.",
        "",
        "A second paragraph.",
    ]


def test_emphasis_is_shown_and_its_marks_are_not() -> None:
    terminal = Streaming().say(cut("a **bold** and *italic* ***both*** __word__ snake_case_name 5 * 3 \\*plain\\* **open", 3))
    assert terminal.close() == ["a bold and italic both word snake_case_name 5 * 3 *plain* **open"]
    row = terminal.terminal.buffer[0]
    assert [row[x].bold for x in (0, 2, 11, 18)] == [False, True, False, True]
    assert [row[x].italics for x in (0, 2, 11, 18)] == [False, False, True, True]


def test_emphasis_needs_no_spaces_in_chinese() -> None:
    assert seen("这是**“重点”**吗？") == ["这是“重点”吗？"]


def test_code_keeps_its_marks_and_what_is_struck_out_does_too() -> None:
    assert seen("use `a ** b ** c` or ``x ` y`` ~~not this~~, and ` alone") == ["use `a ** b ** c` or ``x ` y`` ~~not this~~, and ` alone"]


def test_headings_tell_their_level_and_stand_apart() -> None:
    assert seen("# One\ntext\n## Two ##\n\n### Three") == ["One", "text", "", "## Two", "", "### Three"]


def test_lists_nest_as_models_write_them() -> None:
    text = "- one\n- two has more words than fit\n    - four columns in\n    - once more\n\n1. first\n  - two in\n2. second\n10. tenth"
    assert seen(text, 24) == [
        "• one",
        "• two has more words",
        "  than fit",
        "  • four columns in",
        "  • once more",
        "",
        "1. first",
        "  • two in",
        "2. second",
        "10. tenth",
    ]


def test_tasks_are_marked_open_or_done() -> None:
    assert seen("- [ ] open\n- [x] done\n- [link](http://a.b)") == ["☐ open", "☑ done", "• link (http://a.b)"]


def test_quotes_have_a_bar_on_each_row_and_may_hold_lists() -> None:
    assert seen("> quoted words that are wrapped\n>\n> - item\n>> deeper\n\nout", 20) == [
        "│ quoted words that",
        "│ are wrapped",
        "│",
        "│ • item",
        "│ │ deeper",
        "",
        "out",
    ]


def test_code_is_set_in_and_keeps_every_space() -> None:
    text = "So:\n```python\ndef f(x):\n\n    return  x\n```\nDone."
    assert seen(text) == ["So:", "", "  def f(x):", "", "      return  x", "", "Done."]


def test_code_is_coloured_by_its_language_across_lines() -> None:
    terminal = Streaming().say(cut('```python\ndef f():\n    """one\n    def two"""\n```\n```nosuch\ndef x\n```', 4))
    assert terminal.close() == ["  def f():", '      """one', '      def two"""', "", "  def x"]
    buffer = terminal.terminal.buffer
    assert buffer[0][2].fg == "magenta"
    assert buffer[2][6].fg == buffer[1][6].fg == "green", "a string goes on"
    assert buffer[4][2].fg == "default"


def test_code_in_a_list_is_indented() -> None:
    assert seen("1. a\n   ```\n   x = 1\n   ```\n2. b") == ["1. a", "", "     x = 1", "", "2. b"]


def test_code_that_nothing_closes_is_code_to_the_end() -> None:
    assert seen("```\na *b* c") == ["  a *b* c"]


def test_long_lines_of_code_are_cut_where_the_screen_ends() -> None:
    assert seen("```\n" + "0123456789" * 3 + "\n```", 20) == ["  01234567890123456", "  7890123456789"]


def test_a_table_is_aligned_as_its_columns_say() -> None:
    text = "| Name | Was | Size |\n|:--|:-:|--:|\n| 世界 | `a|b` | 1 |\n| [[A\\|b]] | **x** | 22 |\n| cut |\n"
    assert seen(text) == [
        "Name    │  Was  │ Size",
        "────────┼───────┼─────",
        "世界    │ `a|b` │    1",
        "[[A|b]] │   x   │   22",
        "cut     │       │",
    ]


def test_a_table_right_behind_a_paragraph_is_one_and_bars_alone_are_none() -> None:
    assert seen("See:\n| a | b |\n|---|---|\n| 1 | 2 |\n\nafter\n\n| no | table\nhere |") == [
        *("See:", "", "a │ b", "──┼──", "1 │ 2", "", "after", "", "| no | table", "here |")
    ]


@pytest.mark.parametrize("size", [1, 3, 100])
def test_an_underlined_line_looks_like_any_heading(size: int) -> None:
    marked = Streaming().say(["# Title\n\nText\n\n## Part\n\nMore"])
    underlined = Streaming().say(cut("Title\n===\n\nText\n\nPart\n---\n\nMore", size))
    assert underlined.close() == marked.close()
    assert "\x1b[1;4m" in marked.raw
    assert "\x1b[1;4mTitle" in underlined.raw


def test_a_table_needs_no_bars_at_its_sides() -> None:
    assert seen("Name | Size\n--- | ---:\none | 1\ntwo | 22\n- item | no row") == [
        *("Name │ Size", "─────┼─────", "one  │    1", "two  │   22", "", "• item | no row"),
    ]
    assert seen("Name | Size\nis no head") == ["Name | Size", "is no head"]


def test_a_cell_may_have_several_lines() -> None:
    assert seen("| a | b |\n|---|--:|\n| one<br>*two* <BR /> three | 1<br>22 |\n| <br> | `x` |") == [
        *("a     │   b", "──────┼────", "one   │   1", "two   │  22", "three │", "      │ `x`")
    ]


def test_cells_are_folded_where_the_table_is_too_wide() -> None:
    rows = seen("| key | what it says |\n|--|--|\n| one | words that go on for more than a row |\n", 30)
    assert rows == ["key │ what it says", "────┼────────────────────────", "one │ words that go on for", "    │ more than a row"]


def test_a_table_without_room_becomes_records() -> None:
    head = "| " + " | ".join("abcde") + " |\n|" + "-|" * 5 + "\n"
    rows = seen(head + "| " + " | ".join(["some words"] * 5) + " |\n| 1 | 2 | 3 | 4 | 5 |\n", 40)
    assert rows == [*(f"{c}: some words" for c in "abcde"), "", *(f"{c}: {n}" for n, c in enumerate("abcde", 1))]


def test_a_long_table_does_not_wait_and_stays_aligned() -> None:
    text = "| n | word |\n|--|--|\n" + "".join(f"| {n} | {'long ' * (n // 9)}word{n} |\n" for n in range(60))
    terminal = Streaming(60, 15)
    terminal.say([text])
    assert any("word40" in row for row in terminal.terminal.rows())
    rows = terminal.close()
    assert {row.index("│") for row in rows if "│" in row} == {rows[0].index("│")}
    assert [n for n in range(60) if sum(f"word{n}" in row.split() for row in rows) != 1] == []


@pytest.mark.parametrize("cell", ["世界", "👨‍👩‍👧", "🇩🇪🇫🇷", "👍🏽", "❤️", "cafe\u0301", "ｆｕｌｌ", "\u200bx", "한국어"])
def test_columns_stay_aligned_whatever_a_terminal_makes_of_a_character(cell: str) -> None:
    terminal = Streaming()
    terminal.say(cut(f"| a | b |\n|--|--|\n| {cell} | x |\n| {cell}{cell} | y |\n", 2)).close()
    places = [
        [x for x, char in row.items() if char.data and char.data in "│┼"] for y, row in sorted(terminal.terminal.buffer.items()) if y < 4
    ]
    assert places[0]
    assert places == [places[0]] * 4


def test_a_rule_is_a_line_and_html_is_text() -> None:
    assert seen("a\n\n---\n\n<b>b</b> &amp; <br>", 12) == ["a", "", "───────────", "", "<b>b</b> &", "<br>"]


def test_an_answer_may_end_anywhere() -> None:
    for text in ("- ", "> ", "1.", "#", "**", "[a](", "| a |", "```", "~~~py", "a\n=", "[[", "![", "\\", "`", "http", "- [ ]", "\r"):
        seen(text)
        seen("x\n\n" + text)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("Title\n=====\ntext", ["Title", "text"]),
        ("before\n\nTitle *here*  \n--\ntext", ["before", "", "## Title here", "text"]),
        ("Name | Size\n---", ["## Name | Size"]),
        ("In the year\n2024. was good\n1. one", ["In the year", "2024. was good", "1. one"]),
        ("> ```\n> code\nout", ["│   code", "", "out"]),
        ("-\n  later\n-\n\nout", ["• later", "•", "", "out"]),
        ("- ```\n  code\n  ```", ["•", "    code"]),
        ("- | a |\n  |---|\n  | b |", ["•", "  a", "  ─", "  b"]),
        ("1. | a | b\n   text", ["1. | a | b", "   text"]),
        ("    four spaces in", ["four spaces in"]),
        ("#\n##", ["", "", "##"]),
        ("|" + " a long head |" * 5 + "\n" + "|-" * 5 + "|", ["a long head"] * 5),
        ("| a |\n|--|\n| `` b ` c `` |", ["a", "─" * 9, "``b ` c``"]),
        ("ab" + "https:// x", ["abhttps:// x"]),
        ("short " + "x" * 50, ["short", "x" * 39, "x" * 11]),
        ("[1]: http://a.b and ![[Note]] and 【x】", ["[1]: http://a.b and ![[Note]] and 【x】"]),
        ("https:// x https://a.b/(c)).", ["https:// x https://a.b/(c))."]),
        ("[a](<b c> 'd') [a](no target [a\\]b](c)", ["a (b c) [a](no target a]b (c)"]),
    ],
)
def test_what_is_sloppy_or_rare_is_read_too(text: str, rows: list[str]) -> None:
    assert seen(text, 40) == rows
    assert Streaming(40).say([text]).close() == rows


def test_on_the_narrowest_of_screens_there_is_room_for_words() -> None:
    assert seen("> " * 8 + "some words", 14) == ["│ │ some", "│ │ words"]
    assert "".join(seen("some words | a |", 1, 4)).replace(" ", "") == "somewords|a|"


def test_many_pieces_without_an_open_mark_are_not_kept() -> None:
    rows = Streaming().say(["`a` " * 1000 + "*open " + "`b` " * 500]).close()
    assert " ".join(rows).split() == ["`a`"] * 1000 + ["*open"] + ["`b`"] * 500


@pytest.mark.parametrize("language", ["json", "yaml", "bash", "html", "diff", "sql", "rust", "console", "{.python}", "PYTHON", "sml"])
def test_any_language_keeps_its_text(language: str) -> None:
    code = ['{"a": [1, "b"]}', "- x: y  # z", "<b c='d'>", "+ new", "$ ls | wc", "x = 1;\t" + "y" * 2000]
    rows = seen(f"```{language}\n" + "\n".join(code) + "\n```", 300)
    assert "".join("".join(rows).split()) == "".join("".join(code).split())


# links

OPENS = LinkTargets(lambda name: f"file:///n/{len(name)}" if name != "Nowhere" else None, lambda n: f"file:///s/{n}" if n < 5 else None)


def links(text: str) -> list[tuple[str, str]]:
    terminal = Streaming(opens=OPENS).say([text + "\n\n"])
    terminal.close()
    return re.findall(r"\x1b\]8;id=\d+;([^\x1b]+)\x1b\\(.*?)\x1b\]8;;", re.sub(r"\x1b\[[\d;]*m", "", terminal.raw))


def test_what_only_begins_like_an_address_is_text() -> None:
    assert links("httpd listens, https:// alone") == []
    words = "httpd listens on all the ports that there are on this one machine, https://"
    assert Streaming().say([words, " alone"]).close() == Streaming().say([f"{words} alone"]).close()
    assert seen("httpd listens, https:// alone") == ["httpd listens, https:// alone"]


def test_notes_citations_and_addresses_can_be_clicked_on() -> None:
    assert links("see [[Note|so]] and [[Nowhere]]") == [("file:///n/4", "[[Note|so]]")]
    assert links("as said [1, 3] and [9] or 【2】 but a[1] not") == [("file:///s/1", "1"), ("file:///s/3", "3"), ("file:///s/2", "2")]
    assert links("at https://a.b/c_d_e(f). Or") == [("https://a.b/c_d_e(f)", "https://a.b/c_d_e(f)")]
    assert links("[*words*](https://a.b) `[no](https://c.d)`") == [("https://a.b", "words"), ("https://a.b", " (https://a.b)")]


def test_where_a_link_leads_is_seen() -> None:
    assert seen("[bank](https://evil.example) [same](same) ![image](a.png)") == ["bank (https://evil.example) same image (a.png)"]


@given(st.text(max_size=40))
@example("https://a\x1b]8;;b\x1b\\\x07")
def test_no_address_can_break_out_of_its_sequence(text: str) -> None:
    made = web_address("https://" + text)
    assert made is not None
    assert re.fullmatch(r"[!-~]+", made)
    assert web_address("javascript:" + text) is None


# nothing repeats, nothing is eaten

BLOCKS = (
    "# {} {}\n",
    "{} words **{} that** go *on {} and on* with `{}` and {} [[{}]] [1] {} to the end of a long paragraph {}.\n{}\n\n",
    "- {} item {}\n- {} with a few more words {}\n  - {} nested {}\n\n",
    "1. {}\n2. {} second {}\n\n",
    "> {} quoted {}\n> {} and {} so on\n\n",
    "```python\nx = '{}'\n# {}\n```\n",
    "| {} | b |\n|---|---|\n" + "| {} | {} |\n" * 12 + "\n",
    "{} 世界 {} **{}** ~~{}~~ {}\n\n",
)


def marked(times: int = 4) -> tuple[str, list[str]]:
    """A text with all kinds of blocks, and the words in it that stand there once."""
    text = "".join(BLOCKS) * times
    markers = [f"m{n:03}" for n in range(text.count("{}"))]
    return text.format(*markers), markers


def misprinted(rows: list[str], markers: list[str]) -> list[str]:
    everything = "".join(rows)  # a terminal that reflows may cut a word
    return [marker for marker in markers if everything.count(marker) != 1]


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (40, 15), (200, 50), (300, 10)])
def test_each_word_is_there_once(columns: int, lines: int) -> None:
    text, markers = marked()
    assert misprinted(seen(text, columns, lines), markers) == []


@pytest.mark.parametrize("at", [0.3, 0.5, 0.7])
@pytest.mark.parametrize(
    ("before", "after", "reflows"),
    [((40, 15), (200, 50), False), ((80, 24), (80, 15), False), ((80, 24), (40, 15), True), ((200, 50), (40, 15), True)],
)
def test_a_resize_in_mid_answer_repeats_and_eats_nothing(
    before: tuple[int, int], after: tuple[int, int], at: float, *, reflows: bool
) -> None:
    text, markers = marked()
    deltas = cut(text, 5)
    half = int(at * len(deltas))
    terminal = Streaming(*before, reflows=reflows).say(deltas[:half])
    terminal.terminal.resize(after[1], after[0])
    rows = terminal.say(deltas[half:]).close()
    assert misprinted(rows, markers) == []
    assert not re.search(r"tokens/s|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "\n".join(rows))


def test_the_line_below_an_answer_is_made_anew_for_a_narrower_screen() -> None:
    terminal = Streaming(100, 10, pace=0.1, reflows=True)
    terminal.live.set_activity("something with a long name")
    terminal.say(cut("An answer that is told slowly", 4))
    assert "something with a long name · 0 s · ~4 tokens · Ctrl-C stops" in terminal.terminal.rows()[1]
    terminal.terminal.resize(10, 30)
    rows = terminal.say(cut(" and goes on on a narrower screen.", 4)).close()
    assert rows == ["An answer that is told slowly", "and goes on on a narrower", "screen."]


MARKS = [
    *"*_`~[]()|>#-+!\\=: \n\r\t",
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
    "\n==\n",
    "2024. ",
    "<b>",
]
TABLES = ["\n| a | b |\n|--|--|\n", "| x | y |\n"]
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
FRAGMENTS = st.sampled_from([*MARKS, *TABLES, *WORDS, "\n```py\n", "x = 1 # y", "\x1b[2J", "\u202e"])
TEXTS = st.lists(FRAGMENTS, max_size=40).map("".join)


@pytest.mark.untraced
@settings(max_examples=120, deadline=None)
@given(TEXTS, st.lists(st.integers(1, 12), min_size=1, max_size=8), st.sampled_from([(20, 6), (40, 15), (80, 24)]))
def test_how_an_answer_was_cut_does_not_show(text: str, sizes: list[int], screen: tuple[int, int]) -> None:
    deltas, at, n = [], 0, 0
    while at < len(text):
        deltas.append(text[at : at + sizes[n % len(sizes)]])
        at, n = at + len(deltas[-1]), n + 1
    terminal = Streaming(*screen)
    most = screen[1] // 3 + 1

    def a_short_tail() -> None:
        below = [
            y for y, row in terminal.terminal.buffer.items() if y > terminal.terminal.cursor.y and any(c.data.strip() for c in row.values())
        ]
        assert not below or max(below) - terminal.terminal.cursor.y <= most

    assert terminal.say(deltas, a_short_tail).close() == Streaming(*screen).say([text]).close()


@pytest.mark.parametrize("size", [1, 2, 3, 5, 99])
def test_entities_are_what_they_stand_for_but_never_in_code(size: int) -> None:
    text = "Q&amp;A, 1 &lt; 2, it&#8217;s &#x201c;so&#X201D;, a&nbsp;b, &mdash; &#42;no&#42; &CounterClockwiseContourIntegral;"
    assert Streaming(120).say(cut(text, size)).close() == ["Q&A, 1 < 2, it’s “so”, a\xa0b, — *no* ∳"]
    assert Streaming().say(cut("`a&amp;b` and\n\n```\n&lt;b&gt;\n```\n", size)).close() == ["`a&amp;b` and", "", "  &lt;b&gt;"]
    assert Streaming().say(cut("[a &amp; b](https://a.b/?c=1&amp;d=2)", size)).close() == ["a & b (https://a.b/?c=1&d=2)"]


@pytest.mark.parametrize("text", ["AT&T", "&nosuch;", "&amp", "a && b &", "&" + "x" * 70])
def test_what_is_no_harmless_entity_stays_as_it_is_written(text: str) -> None:
    for size in (1, 3, 99):
        assert Streaming(200).say(cut(text, size)).close() == [text]


def test_marks_far_apart_are_characters_however_they_come() -> None:
    text = f"**{'word ' * 100}** and `{'code ' * 100}` [{'link ' * 100}](http://a.b)"
    rows = seen(text, 80)
    assert rows == Streaming().say([text]).close()
    assert rows[0].startswith("**word")


def test_a_line_or_word_without_an_end_does_not_wait_for_it() -> None:
    terminal = Streaming(40, 12).say(cut("x" * 2000 + " " + "word " * 500, 50))
    assert len(terminal.terminal.rows()) > 60
    assert "".join(terminal.close()).count("x") == 2000


# nothing acts


@pytest.mark.parametrize(
    "around", ["{}", "**{}**", "`{}`", "[{}](http://a.b)", "```\n{}\n```", "| {} |\n|--|\n| {} |\n", "# {}", "- {}", "[[{}]]"]
)
def test_hostile_text_is_seen_and_does_nothing_wherever_it_is_cut(around: str) -> None:
    text = around.replace("{}", HOSTILE)
    for size in (1, 2, 1000):
        terminal = Streaming(200).say(cut(text, size))
        rows = terminal.close()
        assert terminal.terminal.title == ""
        assert HARMLESS.replace("[bold]", "").split()[0] in "\n".join(rows)
        assert "[bold]loud[/bold]" in "\n".join(rows)


def test_windows_line_ends_are_line_ends_also_when_they_are_cut() -> None:
    assert seen("a\r\nb\rc") == Streaming().say(["a\r", "\nb\r", "c"]).close() == ["a", "b␍c"]


def test_entities_of_control_characters_are_seen_and_do_nothing() -> None:
    assert seen("&#27;[2J &#x9b;3J &#x202e;abc") == ["�[2J �3J �abc"]


# what it costs


@pytest.mark.untraced
def test_what_is_written_grows_with_the_answer_and_no_faster() -> None:
    text = (marked(40)[0] * 3)[:30_000]
    deltas = cut(text, 15)
    assert len(deltas) == 2000
    terminal = Streaming(pace=0.05)
    terminal.say(deltas).close()
    assert len(terminal.raw.encode()) <= 3 * len(text.encode())


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("unit", ["*a ", "_a *b ", "` `` ", "[a](", "> ", "|a|b|\n|-|-|\n", "- a\n  ", "知"])
def test_hostile_answers_take_linear_time(unit: str) -> None:
    def took(size: int) -> float:
        screen = Screen(io.StringIO(), io.StringIO(), columns=lambda: 80, lines=lambda: 24, colour=True, err_is_terminal=False)
        live = StreamingView(screen, clock=lambda: 0.0, ticking=False)
        began = time.process_time()
        live.add_answer(unit * (size // len(unit)))
        return time.process_time() - began

    short = min(took(4_000) for _ in range(3))
    assert any(took(32_000) < 24 * max(short, 0.002) for _ in range(5))  # three times what is linear: a busy machine may be slow


# the line under it


def test_a_line_says_that_something_goes_on_and_goes_away() -> None:
    terminal = Streaming(60, 10)
    terminal.live.set_activity('find_excerpts "moon"')
    terminal.now = 12.0
    terminal.live._draw(force=True)
    assert re.fullmatch(r'. find_excerpts "moon" · 12 s · Ctrl-C stops', terminal.terminal.rows()[0])
    terminal.live.print_note("  found it")
    assert terminal.terminal.rows() == ["  found it"]
    terminal.live.set_activity("")
    terminal.say(["Some words ", "come ", "in ", "here"])
    assert re.fullmatch(r". 14 s · ~6 tokens · ~4 tokens/s · Ctrl-C stops", terminal.terminal.rows()[-1])
    assert terminal.close() == ["  found it", "Some words come in here"]


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        (80, "scripted · 5 s · ~100 tokens · ~25 tokens/s · Ctrl-C stops"),
        (60, "scripted · 5 s · ~100 tokens · ~25 tokens/s · Ctrl-C stops"),
        (59, "scripted · 5 s · ~100 tokens · Ctrl-C stops"),
        (40, "5 s · ~100 tokens · Ctrl-C stops"),
        (30, "5 s · Ctrl-C stops"),
        (16, "5 s"),
        (4, "5 "),
    ],
)
def test_what_matters_least_of_that_line_goes_first(columns: int, line: str) -> None:
    status = StatusLine("scripted", 0.0)
    status.count("x" * 400, 1.0)
    assert status.line(5.0, columns)[2:] == line


def test_how_fast_an_answer_comes_has_nothing_to_do_with_what_tools_took() -> None:
    status = StatusLine("scripted", 0.0)
    status.count("x" * 400, 1.0)
    status.set_activity("find_excerpts")
    status.set_activity("")
    assert status.line(50.0, 80)[2:] == "scripted · 50 s · ~100 tokens · Ctrl-C stops"
    status.count("x" * 400, 60.0)
    assert status.line(62.0, 80)[2:] == "scripted · 62 s · ~200 tokens · ~50 tokens/s · Ctrl-C stops"


def test_what_is_done_stands_there_to_the_end() -> None:
    status = StatusLine("scripted", 0.0)
    status.set_activity("compacting older turns\x1b[2J")
    assert status.line(3.0, 80)[2:] == "compacting older turns␛[2J · 3 s · Ctrl-C stops"
    assert status.line(3.0, 20, ascii_only=True)[2:] == "compacting older t"


def test_a_wait_is_counted_down_in_place() -> None:
    terminal = Streaming(40)
    for left in (3.0, 2.0, 1.0):
        terminal.live.set_waiting(left, "the server is busy\x1b[2J with a very long reason")
        [row] = terminal.terminal.rows()
        assert f"again in {left:.0f} s, Ctrl-C stops: the" in row
    assert terminal.close() == []


def test_reasoning_is_dimmed_wrapped_and_set_in() -> None:
    terminal = Streaming(30)
    for piece in cut("I should look for *stars*\nand think twice.", 4):
        terminal.now += 1
        terminal.live.add_reasoning(piece)
    terminal.live.add_gap()
    terminal.say(["Here."])
    assert terminal.close() == ["  thinking", "  I should look for *stars*", "  and think twice.", "", "Here."]


def test_in_ascii_nothing_else_is_drawn() -> None:
    rows = seen("- a\n- [x] b\n\n> c\n\n| d | e |\n|--|--|\n| f | g |\n\n---\n", 40, ascii=True)
    assert "\n".join(rows).isascii()
    assert rows[:5] == ["- a", "[x] b", "", "| c", ""]


def test_while_nothing_comes_in_the_line_moves_by_itself_but_not_while_somebody_is_asked() -> None:
    out = io.StringIO()
    live = StreamingView(Screen(out, out, colour=True, err_is_terminal=False, columns=lambda: 80))
    try:
        waited(lambda: re.search(r". \d s", out.getvalue()) is not None)
        live.pause()
        before = out.getvalue()
        time.sleep(0.3)
        assert out.getvalue() == before
        live.set_activity("again")
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
