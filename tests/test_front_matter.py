"""The properties at the head of a note."""

import pytest

from zkchat_cli.vault import front_matter, note_parser
from zkchat_cli.vault.markup import read_markup


def read(source: str) -> front_matter.FrontMatter:
    return front_matter.read_front_matter(f"---\n{source}\n---\nbody")


def values(source: str, name: str = "a") -> list[str]:
    return [*read(source).texts(name)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a: b", ["b"]),
        ("A : b", ["b"]),
        ("x: y\n\na: b", ["b"]),
        ("a: 2024-05-08", ["2024-05-08"]),
        ("a: 12:30", ["12:30"]),
        ("a: http://x.org/#part", ["http://x.org/#part"]),
        ("a: b # comment", ["b"]),
        ("a: 'b: c'  ", ["b: c"]),
        ('a: "b # c"', ["b # c"]),
        ('a: "b\\tc"', ["b c"]),
        ("a: 'it''s'", ["it's"]),
        ("a:   b   c", ["b c"]),
        ("a: b\n  c", ["b c"]),
        ("a: b\n  - c", ["b - c"]),
        ("a: >-\n  b\n  c", ["b c"]),
        ("a:\nx: y", []),
        ("a: ''", []),
        ("a: ~", []),
        ("a: null", []),
        ("a: [b, c d]", ["b", "c d"]),
        ("a: [ ]", []),
        ("a: ['b, c', d]", ["b, c", "d"]),
        ("a:\n- b\n- c", ["b", "c"]),
        ("a:\n\n  - b\n  - 'c'", ["b", "c"]),
        ("a:\n  - [b, c]\n  - d", ["d"]),
        ("a: b\na: c", ["b", "c"]),
        ("a: {b: c}", []),
        ("x: &x b\na: *x", []),
        ("? [x, y]\n: c\na: b", ["b"]),
        ("a: \u65e5\u8a18\u3000", ["\u65e5\u8a18"]),
    ],
)
def test_values_of_properties(source, expected):
    assert values(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "a: *x\nb: [",
        "a: @b",
        "a: %b",
        "{a: " * 10_000,
        "a: &x [*x]\nb: *nope\n? [",
    ],
)
def test_invalid_yaml_is_text_and_a_problem(source):
    found = read(source)
    assert (found.lines, found.written) == (0, {})
    assert found.problem


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("a:\n  - b\n- c", {"a": ["b", "c"]}),
        ("\ta: b", {"a": ["b"]}),
        ("a: b: c", {"a": ["b: c"]}),
        ("a: [b, c\nd: e", {"a": ["b", "c"], "d": ["e"]}),
        ("\x01: a", {"\x01": ["a"]}),
    ],
)
def test_a_line_of_invalid_yaml_is_read_as_written_and_named(source, written):
    found = read(source)
    assert found.written == written
    assert found.problem.startswith("line 2 of the front matter: not valid YAML")


def test_three_dashes_end_the_front_matter():
    found = front_matter.read_front_matter("---\na: |\n  text\n---\nmore\n---\n")
    assert (found.lines, found.text("a")) == (4, "text")


def test_three_dots_or_the_end_of_the_note_end_it():
    assert front_matter.read_front_matter("---\na: b\n...\nbody").lines == 3
    assert front_matter.read_front_matter("---\na: b\n---").lines == 3


@pytest.mark.parametrize("text", ["---\r\na: b\r\n---\r\nbody", "---  \na: b\n---\t\nbody"])
def test_trailing_white_space_does_not_count(text):
    assert front_matter.read_front_matter(text).text("a") == "b"


def test_more_than_64_kb_are_text():
    lines = "a: b\n" * (front_matter.MAX_CHARACTERS // 5 - 4)
    assert front_matter.read_front_matter(f"---\n{lines}---\n" + "body " * 20_000).lines > 13_000
    assert front_matter.read_front_matter(f"---\n{lines}{lines}---\n").lines == 0


def test_a_bomb_of_anchors_is_not_expanded():
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30)
    )
    assert read(bomb + "title: T").text("title") == "T"


def test_links_in_properties_have_lines():
    text = 'up: "[[Parent]]"\nrelated:\n  - "[[A]]"\n  - "[[B|b]]"\n'
    links = note_parser.parse_note("Note.md", f"---\n{text}---\n[[Body]]").markup.links
    assert [(link.text, link.line) for link in links] == [
        ("Parent", 2),
        ("A", 4),
        ("B", 5),
        ("Body", 7),
    ]


def test_links_in_invalid_front_matter_are_links():
    assert [link.line for link in read_markup("---\na: [[A]]: b\n---\n").links] == [2]
