"""Inline Markdown, read the same way in notes, answers and messages."""

import pytest
from factories import takes_less_than

from zkchat_cli.citations.marks import read_marks
from zkchat_cli.markdown import inline
from zkchat_cli.markdown.inline import InlineReader
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.vault.markup import read_markup


def read(text: str) -> list[str]:
    """`kind text` of each token of a line."""
    return [
        f"{token.kind} {text[token.start : token.end]}"
        for token in InlineReader(text).read(0, len(text), at_start=True)
    ]


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        (
            "see [[Note#Part|this]] and [that](a.md)",
            ["wikilink [[Note#Part|this]]", "link [that](a.md)"],
        ),
        ("`[[not]]` ``a ` b`` and #tag", ["code `[[not]]`", "code ``a ` b``", "tag #tag"]),
        (r"\[[not]] \`a\` \$5", []),
        ("%% [[hidden]] %% [[seen]]", ["comment %% [[hidden]] %%", "wikilink [[seen]]"]),
        ("<!-- open [[a]]", ["comment <!-- open [[a]]"]),
        ("a <!-- open [[a]]", ["wikilink [[a]]"]),
        ("$a_1$ costs $5", ["math $a_1$"]),
        (
            "[![an image](a.png)](https://x.y)",
            ["link [![an image](a.png)](https://x.y)", "link [an image](a.png)"],
        ),
        ("[[1, 2], [3]]", []),
        ("[[Sq]uare]]", ["wikilink [[Sq]uare]]"]),
        ("[[]] [a]()", []),
    ],
)
def test_a_line_is_read_from_mark_to_mark(line: str, tokens: list[str]) -> None:
    assert read(line) == tokens


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("[[Folder/Note]]", "Note"),
        ("[[Note#Part#Inner]]", "Note › Inner"),
        ("[[#Here]]", "Here"),
        ("[[Note#^id]]", "Note"),
        ("[[Note|a name]]", "a name"),
        (r"[[Note\|in a table]]", "in a table"),
        ("[[`grep` tricks]]", "`grep` tricks"),
    ],
)
def test_a_wikilink_is_shown_as_in_obsidian(link: str, shown: str) -> None:
    found = inline.match_wikilink(link, 0)
    assert found and found.shown() == shown


def test_a_note_with_backticks_in_its_name_can_be_linked_and_cited() -> None:
    text = "See [[`grep` tricks]] and `[[code]]`."
    [link] = read_markup(text).links
    [mark] = read_marks(text).marks
    assert link.text == mark.name == "`grep` tricks"


def test_a_link_with_brackets_in_its_label_is_shown_by_its_label() -> None:
    assert to_plain_text("[a [b] c](https://x.y) and [d](my note.md)") == "a [b] c and d"


def test_an_escaped_backtick_opens_no_code() -> None:
    assert to_plain_text(r"run \`date\` now") == "run `date` now"


@pytest.mark.untraced
@pytest.mark.parametrize(
    "piece",
    ["[", "[[", "[[a", "[a](", "[a](b(", "[a [b] ", "![[", "`", "` ``", "\\`", "[[a] ", "]["],
)
def test_endless_repetition_takes_linear_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    with takes_less_than(5):
        inline.code_spans(text)
        inline.show_links(text, references=True)
        inline.replace_wikilinks(text, inline.Wikilink.shown)
        list(inline.loose_links(text))
        read(text)
