"""What a note says about itself, and how it is cut into chunks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.vault import note_parser
from zkchat_cli.vault.markup import read_markup
from zkchat_cli.vault.note_chunks import MAX_LINE_TOKENS, MAX_TOKENS, MIN_TOKENS, estimate_size


def parse(text: str, path: str = "Folder/Note.md"):
    return note_parser.parse_note(path, text)


def chunks(text: str):
    return [(p.start_line, p.end_line, p.heading) for p in parse(text).chunks]


def paragraph(words: int) -> str:
    return "word " * words


@pytest.mark.parametrize(
    "front",
    [
        "aliases: [one, two]",
        "aliases:\n  - one\n  - two",
        "alias: two\naliases: [one]",
        "Aliases: [one, two, one, null, '']",
    ],
)
def test_aliases_are_listed_in_any_yaml_form(front):
    assert parse(f"---\n{front}\n---\n").aliases == ("one", "two")


@pytest.mark.parametrize(
    ("front", "aliases", "title"),
    [
        ("title: Taps: a guide\naliases: [one]", ("one",), "Taps: a guide"),
        ("date: [2024\naliases:\n  - one\n  - two: 2: 3", ("one", "two: 2: 3"), "Note"),
        ("aliases:\n\t- one\n@x: y\ntitle: Tap", ("one",), "Tap"),
        ('title: "open\nalias: one', ("one",), "Note"),
        ("no property\nalias: one", ("one",), "Note"),
    ],
)
def test_a_line_that_is_no_yaml_loses_only_itself(
    front: str, aliases: tuple[str, ...], title: str
) -> None:
    note = parse(f"---\n{front}\n---\ntext")
    assert (note.aliases, note.title, note.body) == (aliases, title, "text")
    assert "of the front matter: not valid YAML" in (note.front_matter.problem or "")


def test_tags_come_from_front_matter_and_text():
    note = parse(
        "---\ntags: [a, '#b']\ntag: c, d e\n---\n#e/f text #日记, no#tag, #12 `#code` (#no)\n"
        "# Heading #g"
    )
    assert note.tags == ("a", "b", "c", "d", "e", "e/f", "日记", "g")


def test_description_or_summary_describes_a_note():
    assert parse("---\nsummary: In\n  short\n---\n").description == "In short"
    assert parse("---\ndescription: A\nsummary: B\n---\n").description == "A"
    assert parse("text").description is None


@pytest.mark.parametrize(
    "text",
    [
        "----\ntitle: x\n---\n",
        "---\ntitle: x\n",
        "---\njust text\n---\n",
        "---\n- a\n- b\n---\n",
        "---\n" + "- " * 30_000 + "\n---\n",
        " ---\ntitle: x\n---\n",
        "--- title\ntitle: x\n---\n",
        "---\n" + "a: b\n" * 20_000 + "---\n",
    ],
)
def test_front_matter_that_is_no_mapping_is_text(text):
    note = parse(text)
    assert note.title == "Note"
    assert note.front_matter.lines == 0
    assert note.front_matter.problem is None


def test_headings_have_their_path():
    found = read_markup("### A\n# B\n### C\n## D\n### E\n## F\n# G")
    assert [h.path for h in found.headings] == [(), (), ("B",), ("B",), ("B", "D"), ("B",), ()]


def test_each_section_is_a_chunk_with_its_heading():
    text = f"intro {paragraph(60)}\n\n# A\n{paragraph(60)}\n## B\n{paragraph(60)}\n\n\n"
    assert chunks(text) == [(1, 1, None), (3, 4, "A"), (5, 6, "B")]


@pytest.mark.parametrize(
    ("properties", "found"),
    [
        ("author: Ada Writer\nyear: 1937\n---\nA text.", [(5, 5, None), (2, 3, None)]),
        ("author: Ada Writer\n---", [(2, 2, None)]),
        ("tags: [book]\nauthor:\npublish: true\n---\nA text.", [(6, 6, None)]),
        ("date created: 2024-05-06\ntitle: A\n---\nA text.", [(5, 5, None)]),
    ],
)
def test_properties_that_say_something_are_the_last_chunk(
    properties: str, found: list[tuple[int, int, None]]
) -> None:
    assert chunks(f"---\n{properties}") == found


def test_a_long_section_is_split_between_paragraphs():
    text = "# A\n\n" + "\n\n".join(paragraph(100) for _ in range(6))
    found = parse(text).chunks
    assert [(p.start_line, p.end_line) for p in found] == [(1, 5), (7, 9), (11, 13)]
    assert all(estimate_size(p.text) <= MAX_TOKENS + MIN_TOKENS for p in found)
    assert {p.heading for p in found} == {"A"}


def test_code_that_fits_stays_whole():
    code = "```\n" + "\n\n".join(["x = 1"] * 60) + "\n```"
    text = f"{paragraph(200)}\n\n{code}\n\n{paragraph(200)}"
    assert code in [p.text for p in parse(text).chunks]


def test_a_very_long_line_is_split_at_a_space():
    line = "word " * 3000
    pieces = parse(line).chunks
    assert "".join(p.text for p in pieces) == line
    assert all(
        (p.start_line, p.end_line) == (1, 1) and estimate_size(p.text) <= MAX_TOKENS + 1
        for p in pieces
    )
    unbroken = "x" * (5 * MAX_LINE_TOKENS)
    assert "".join(p.text for p in parse(unbroken).chunks) == unbroken


LINES = [
    "# A",
    "## B",
    "### C",
    "",
    " ",
    "```",
    "text",
    "| a |",
    "- item",
    "word " * 150,
    "---",
    "title: x",
    "    code",
    "文" * 500,
    "===",
    "> q",
]


@given(st.lists(st.sampled_from(LINES), max_size=40))
def test_every_line_is_in_exactly_one_chunk(lines):
    note = parse("\n".join(lines))
    covered: list[int] = []
    for p in note.chunks:
        assert p.text == "\n".join(lines[p.start_line - 1 : p.end_line])
        covered.extend(range(p.start_line, p.end_line + 1))
    assert covered == sorted(set(covered))
    assert set(covered) >= {
        n for n, line in enumerate(lines, 1) if line.strip() and n > note.front_matter.lines
    }


@given(
    st.lists(
        st.sampled_from([*LINES, "word " * 3000, "x" * (5 * MAX_LINE_TOKENS), "é " * 4000]),
        min_size=1,
        max_size=8,
    )
)
def test_only_a_very_long_line_is_in_several_chunks(lines):
    note = parse("\n".join(lines))
    pieces: dict[int, str] = {}
    for p in note.chunks:
        if estimate_size(lines[p.start_line - 1]) > MAX_LINE_TOKENS and p.start_line == p.end_line:
            pieces[p.start_line] = pieces.get(p.start_line, "") + p.text
        else:
            assert p.text == "\n".join(lines[p.start_line - 1 : p.end_line])
    assert all(text == lines[line - 1] for line, text in pieces.items())


@given(st.lists(st.sampled_from(LINES), max_size=40))
def test_a_chunk_has_every_heading_above_or_inside(lines):
    note = parse("\n".join(lines))
    for p in note.chunks:
        above = [h for h in note.markup.headings if h.line < p.start_line][-1:]
        within = [h for h in note.markup.headings if p.start_line <= h.line <= p.end_line]
        over = (
            within[0].path
            if within and within[0].line == p.start_line
            else (*above[0].path, above[0].text)
            if above
            else ()
        )
        assert list(p.headings) == list(dict.fromkeys((*over, *(h.text for h in within))))
