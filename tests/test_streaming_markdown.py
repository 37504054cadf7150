"""Answers in Markdown on a terminal: what each construct looks like, its links, and that nothing in
it acts on the terminal.
"""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from streaming_terminal import Streaming, pieces_of, shown_rows
from terminal_screen import HARMLESS, HOSTILE

from zkchat_cli.terminal.link_targets import LinkTargets, web_address

LOOKS = {
    "wrapped words, kept line breaks": (
        "The quick brown fox jumps over\nthe lazy dog.\n\n\n\nA second paragraph.",
        20,
        ["The quick brown fox", "jumps over", "the lazy dog.", "", "A second paragraph."],
    ),
    "emphasis in Chinese": ("这是**“重点”**吗？", 80, ["这是“重点”吗？"]),
    "code spans and struck text keep their marks": (
        "use `a ** b ** c` or ``x ` y`` ~~not this~~, and ` alone",
        80,
        ["use `a ** b ** c` or ``x ` y`` ~~not this~~, and ` alone"],
    ),
    "headings": (
        "# One\ntext\n## Two ##\n\n### Three",
        80,
        ["One", "text", "", "## Two", "", "### Three"],
    ),
    "nested lists": (
        "- one\n- two has more words than fit\n    - four columns in\n    - once more\n\n"
        "1. first\n  - two in\n2. second\n10. tenth",
        24,
        [
            *(
                "• one",
                "• two has more words",
                "  than fit",
                "  • four columns in",
                "  • once more",
            ),
            *("", "1. first", "  • two in", "2. second", "10. tenth"),
        ],
    ),
    "tasks": (
        "- [ ] open\n- [x] done\n- [link](http://a.b)",
        80,
        ["☐ open", "☑ done", "• link (http://a.b)"],
    ),
    "quotes": (
        "> quoted words that are wrapped\n>\n> - item\n>> deeper\n\nout",
        20,
        ["│ quoted words that", "│ are wrapped", "│", "│ • item", "│ │ deeper", "", "out"],
    ),
    "code block": (
        "So:\n```python\ndef f(x):\n\n    return  x\n```\nDone.",
        80,
        ["So:", "", "  def f(x):", "", "      return  x", "", "Done."],
    ),
    "code block in a list": (
        "1. a\n   ```\n   x = 1\n   ```\n2. b",
        80,
        ["1. a", "", "     x = 1", "", "2. b"],
    ),
    "unclosed code block": ("```\na *b* c", 80, ["  a *b* c"]),
    "long line of code": (
        "```\n" + "0123456789" * 3 + "\n```",
        20,
        ["  01234567890123456", "  7890123456789"],
    ),
    "aligned table, pipes in links and code": (
        "| Name | Was | Size |\n|:--|:-:|--:|\n| 世界 | `a|b` | 1 |\n| [[A\\|b]] | **x** | "
        "22 |\n| cut |\n",
        80,
        [
            "Name    │  Was  │ Size",
            "────────┼───────┼─────",
            "世界    │ `a|b` │    1",
            "[[A|b]] │   x   │   22",
            "cut     │       │",
        ],
    ),
    "table behind a paragraph": (
        "See:\n| a | b |\n|---|---|\n| 1 | 2 |\n\nafter\n\n| no | table\nhere |",
        80,
        ["See:", "", "a │ b", "──┼──", "1 │ 2", "", "after", "", "| no | table", "here |"],
    ),
    "table without outer pipes": (
        "Name | Size\n--- | ---:\none | 1\ntwo | 22\n- item | no row",
        80,
        ["Name │ Size", "─────┼─────", "one  │    1", "two  │   22", "", "• item | no row"],
    ),
    "lines in a cell": (
        "| a | b |\n|---|--:|\n| one<br>*two* <BR /> three | 1<br>22 |\n| <br> | `x` |",
        80,
        ["a     │   b", "──────┼────", "one   │   1", "two   │  22", "three │", "      │ `x`"],
    ),
    "wide table": (
        "| key | what it says |\n|--|--|\n| one | words that go on for more than a row |\n",
        30,
        [
            "key │ what it says",
            "────┼────────────────────────",
            "one │ words that go on for",
            "    │ more than a row",
        ],
    ),
    "narrow table with long words": (
        "| kind | meaning |\n|--|--|\n| literature | a note about what somebody else wrote |\n",
        28,
        [
            "kind       │ meaning",
            "───────────┼───────────────",
            "literature │ a note about",
            "           │ what somebody",
            "           │ else wrote",
        ],
    ),
    "table without room becomes records": (
        "| "
        + " | ".join("abcde")
        + " |\n|"
        + "-|" * 5
        + "\n| "
        + " | ".join(["some words"] * 5)
        + " |\n| 1 | 2 | 3 | 4 | 5 |\n",
        40,
        [
            *(f"{c}: some words" for c in "abcde"),
            "",
            *(f"{c}: {n}" for n, c in enumerate("abcde", 1)),
        ],
    ),
    "rule, HTML and entities": (
        "a\n\n---\n\n<b>b</b> &amp; <br>",
        12,
        ["a", "", "───────────", "", "<b>b</b> &"],
    ),
    "narrow screen": ("> " * 8 + "some words", 14, ["│ │ some", "│ │ words"]),
    "windows line ends": ("a\r\nb\rc", 80, ["a", "bc"]),
}


@pytest.mark.parametrize(("text", "columns", "rows"), LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize("size", [1, 1000])
def test_each_construct_has_its_look_however_it_is_streamed(
    text: str, columns: int, rows: list[str], size: int
) -> None:
    assert Streaming(columns).say(pieces_of(text, size)).close() == rows


def test_emphasis_is_styled_and_its_marks_are_not_shown() -> None:
    terminal = Streaming().say(
        pieces_of(
            "a **bold** and *italic* ***both*** __word__ snake_case_name 5 * 3 \\*plain\\* **open",
            3,
        )
    )
    assert terminal.close() == ["a bold and italic both word snake_case_name 5 * 3 *plain* **open"]
    row = terminal.terminal.buffer[0]
    assert [row[x].bold for x in (0, 2, 11, 18)] == [False, True, False, True]
    assert [row[x].italics for x in (0, 2, 11, 18)] == [False, False, True, True]


def test_code_is_highlighted_across_lines() -> None:
    terminal = Streaming().say(
        pieces_of('```python\ndef f():\n    """one\n    def two"""\n```\n```nosuch\ndef x\n```', 4)
    )
    assert terminal.close() == ["  def f():", '      """one', '      def two"""', "", "  def x"]
    buffer = terminal.terminal.buffer
    assert buffer[0][2].fg == "magenta"
    assert buffer[2][6].fg == buffer[1][6].fg == "green", "a string goes on"
    assert buffer[4][2].fg == "default"


@pytest.mark.parametrize(
    "cell", ["世界", "👨‍👩‍👧", "🇩🇪🇫🇷", "👍🏽", "❤️", "cafe\u0301", "ｆｕｌｌ", "\u200bx", "한국어"]
)
def test_columns_stay_aligned_for_characters_of_any_width(cell: str) -> None:
    terminal = Streaming()
    terminal.say(
        pieces_of(f"| a | b |\n|--|--|\n| {cell} | x |\n| {cell}{cell} | y |\n", 2)
    ).close()
    places = [
        [x for x, char in row.items() if char.data and char.data in "│┼"]
        for y, row in sorted(terminal.terminal.buffer.items())
        if y < 4
    ]
    assert places[0]
    assert places == [places[0]] * 4


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("Text *here*  \n--\ntext", ["Text here", "--", "text"]),
        ("Name | Size\n---", ["Name | Size", "─" * 39]),
        ("In the year\n2024. was good\n1. one", ["In the year", "2024. was good", "1. one"]),
        ("> ```\n> code\nout", ["│   code", "", "out"]),
        ("-\n  later\n-\n\nout", ["• later", "•", "", "out"]),
        ("- ```\n  code\n  ```", ["•   code"]),
        ("- | a |\n  |---|\n  | b |", ["• a", "  ─", "  b"]),
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
        ("[x](https://b.c) [s](s) ![i](a.png)", ["x (https://b.c) s i (a.png)"]),
    ],
)
def test_sloppy_and_rare_markdown_is_readable(text: str, rows: list[str]) -> None:
    assert shown_rows(text, 40) == rows
    assert Streaming(40).say([text]).close() == rows


@pytest.mark.parametrize(
    "language", ["json", "html", "diff", "console", "{.python}", "PYTHON", "sml"]
)
def test_highlighting_never_changes_code(language: str) -> None:
    code = [
        '{"a": [1, "b"]}',
        "- x: y  # z",
        "<b c='d'>",
        "+ new",
        "$ ls | wc",
        "x = 1;\t" + "y" * 700,
    ]
    rows = shown_rows(f"```{language}\n" + "\n".join(code) + "\n```", 300)
    assert "".join("".join(rows).split()) == "".join("".join(code).split())


# links

OPENS = LinkTargets(
    lambda name: f"file:///n/{len(name)}" if name != "Nowhere" else None,
    lambda n: f"file:///s/{n}" if n < 5 else None,
)


def links(text: str) -> list[tuple[str, str]]:
    terminal = Streaming(opens=OPENS).say([text + "\n\n"])
    terminal.close()
    return re.findall(
        r"\x1b\]8;id=\d+;([^\x1b]+)\x1b\\(.*?)\x1b\]8;;", re.sub(r"\x1b\[[\d;]*m", "", terminal.raw)
    )


def test_notes_citations_and_addresses_are_links() -> None:
    assert links("see [[Note|so]] and [[Nowhere]]") == [("file:///n/4", "[[Note|so]]")]
    assert links("as said [1, 3] and [9] or 【2】 but a[1] not") == [
        ("file:///s/1", "1"),
        ("file:///s/3", "3"),
        ("file:///s/2", "2"),
    ]
    assert links("at https://a.b/c_d_e(f). Or") == [
        ("https://a.b/c_d_e(f)", "https://a.b/c_d_e(f)")
    ]
    assert links("[*words*](https://a.b) `[no](https://c.d)`") == [
        ("https://a.b", "words"),
        ("https://a.b", " (https://a.b)"),
    ]


@given(st.text(max_size=40))
@example("https://a\x1b]8;;b\x1b\\\x07")
def test_no_address_can_break_out_of_its_sequence(text: str) -> None:
    made = web_address("https://" + text)
    assert made is not None
    assert re.fullmatch(r"[!-~]+", made)
    assert web_address("javascript:" + text) is None


@pytest.mark.parametrize("size", [1, 3, 99])
def test_entities_are_decoded_outside_of_code(size: int) -> None:
    text = (
        "Q&amp;A, 1 &lt; 2, it&#8217;s &#x201c;so&#X201D;, a&nbsp;b, &mdash; &#42;no&#42; "
        "&CounterClockwiseContourIntegral;"
    )
    assert Streaming(120).say(pieces_of(text, size)).close() == [
        "Q&A, 1 < 2, it’s “so”, a\xa0b, — *no* ∳"
    ]
    assert Streaming().say(pieces_of("`a&amp;b` and\n\n```\n&lt;b&gt;\n```\n", size)).close() == [
        "`a&amp;b` and",
        "",
        "  &lt;b&gt;",
    ]
    assert Streaming().say(pieces_of("[a &amp; b](https://a.b/?c=1&amp;d=2)", size)).close() == [
        "a & b (https://a.b/?c=1&d=2)"
    ]


# hostile text


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "**{}**",
        "`{}`",
        "[{}](http://a.b)",
        "```\n{}\n```",
        "| {} |\n|--|\n| {} |\n",
        "# {}",
        "- {}",
        "[[{}]]",
    ],
)
def test_hostile_text_is_visible_and_harmless_wherever_it_is_cut(around: str) -> None:
    text = around.replace("{}", HOSTILE)
    for size in (1, 2, 1000):
        terminal = Streaming(200).say(pieces_of(text, size))
        rows = terminal.close()
        assert terminal.terminal.title == ""
        assert HARMLESS.replace("[bold]", "").split()[0] in "\n".join(rows)
        assert "[bold]loud[/bold]" in "\n".join(rows)


def test_entities_of_control_characters_are_harmless() -> None:
    assert shown_rows("&#27;[2J &#x9b;3J &#x202e;abc") == ["�[2J �3J �abc"]
