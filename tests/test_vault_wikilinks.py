"""Parsing and resolving links by Obsidian's rules."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.markdown.inline import split_target
from zkchat_cli.vault.links.wikilinks import (
    LinkName,
    WrittenLink,
    link_key,
    note_name,
    resolve,
)
from zkchat_cli.vault.markup import read_markup


def raws(text: str, front_lines: int = 0) -> list[str]:
    return [link.raw for link in read_markup(text, front_lines).links]


def only(text: str) -> WrittenLink:
    [link] = read_markup(text).links
    return link


def target(
    files: Sequence[str],
    text: str,
    source: str | None = "src.md",
    aliases: dict[str, str] | None = None,
) -> str | None:
    resolution = outcome(files, text, source, aliases)
    return resolution.target


def outcome(files, text, source="src.md", aliases=None):
    names = [
        LinkName(
            path, "note" if path.lower().endswith((".md", ".markdown")) else "file", note_name(path)
        )
        for path in files
    ]
    table: dict[str, list[LinkName]] = {}
    for name in names:
        table.setdefault(link_key(name.path), []).append(name)
    for alias, path in (aliases or {}).items():
        table.setdefault(link_key(alias), []).append(LinkName(path, "alias", alias))
    return resolve(only(text), source, lambda k: table.get(k, ()))


@pytest.mark.parametrize(
    ("inner", "parts"),
    [
        ("Note", ("Note", None, None)),
        (" Note ", ("Note", None, None)),
        ("Note|shown", ("Note", None, "shown")),
        (r"Note\|shown", ("Note", None, "shown")),
        ("Note#a#b | shown ", ("Note", "a#b", "shown")),
        ("Note#^id", ("Note", "^id", None)),
        ("#h", ("", "h", None)),
        ("Note|", ("Note", None, None)),
        ("a|b|c", ("a", None, "b|c")),
    ],
)
def test_a_target_has_a_name_a_heading_and_an_alias(inner, parts):
    assert split_target(inner) == parts


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[[a]] and [[b|c]]", ["[[a]]", "[[b|c]]"]),
        ("![[picture.png|100]]", ["![[picture.png|100]]"]),
        (r"\![[a]]", ["[[a]]"]),
        ("- item\n# Heading ends the list\n\n    [[code]]", []),
        ("- item\n```\nso does a fence\n```\n\n    [[code]]", []),
        ("- item\nthat goes on\n\n    [[a]]", ["[[a]]"]),
        ("[[[a]]]", ["[[a]]"]),
        ("![[[a]]]", ["[[a]]"]),
        ("[[outer [[Inner]] c]]", ["[[Inner]]"]),
        ("[[Sq]uare]]", ["[[Sq]uare]]"]),
        ("[[a [b] c]]", ["[[a [b] c]]"]),
        ("[[Note|`code`]]", ["[[Note|`code`]]"]),
        ("[[not\nover lines]]", []),
        ("[[]] [[ ]] [[|x]]", []),
        ("[[open", []),
        (r"\[[a]] \[\[b]]", []),
        (r"\\[[a]]", ["[[a]]"]),
        ("# [[in a heading]]", ["[[in a heading]]"]),
        ("- [ ] [[in a task]]", ["[[in a task]]"]),
        ("> [[in a quote]]", ["[[in a quote]]"]),
        ("[see [[inner]]](x.md)", ["[[inner]]"]),
    ],
)
def test_wikilinks_are_parsed(text, links):
    assert raws(text) == links


@pytest.mark.parametrize(
    "text",
    [
        "`[[no]]` [[yes]]",
        "``a ` [[no]]`` [[yes]]",
        "`not closed\n\n[[yes]] `",
        "`not closed\n- [[yes]] `",
        "``unequal` [[yes]]",
        "````\n[[no]]\n```\n[[no]]\n````\n[[yes]]",
        "```\n> ```\n[[no]]\n```\n[[yes]]",
        "- item\n  ```\n  [[no]]\n\n  [[no]]\n  ```\n[[yes]]",
        "1. > - ```\n   >   [[no]]\n\n[[yes]]",
        "\n    [[no]]\n    [[no]]\n[[yes]]",
        "- item\n\n        [[no]]\n\n  [[yes]]",
        "<!-- [[no]] --> [[yes]]",
        "<!--\n```\n[[no]]\n--> [[yes]]",
        "%% [[no]] %% [[yes]]",
        "%%\n[[no]]\n%%\n[[yes]]",
        "100 %% sure [[yes]]",
        "a <!-- [[yes]]",
        "$x_[[no]]$ [[yes]]",
        "$$\n[[no]]\n$$ [[yes]]",
        "$5 [[yes]] $6",
        "5$ [[yes]] and 6$ more",
        "a $$ b [[yes]]",
    ],
)
def test_code_comments_and_math_hide_links(text):
    assert raws(text) == ["[[yes]]"]


@pytest.mark.parametrize(
    "text", ["```\n[[a]]\n\n[[b]]", "%%\n[[a]]\n\n[[b]]", "<!-- [[a]]\n\n[[b]]", "> ```\n> [[a]]"]
)
def test_an_unclosed_block_runs_to_the_end(text):
    assert raws(text) == []


def test_links_have_lines():
    assert [
        (link.text, link.line) for link in read_markup("[[a]]\n\n- [[b]] [[c]]\n`x\ny` [[d]]").links
    ] == [
        ("a", 1),
        ("b", 3),
        ("c", 3),
        ("d", 5),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[label](Note.md)", ("[label](Note.md)", "Note.md", None, "label", False)),
        (
            "[a](My%20Note.md#The%20part)",
            ("[a](My%20Note.md#The%20part)", "My Note.md", "The part", "a", False),
        ),
        ("[a](<My Note.md>)", ("[a](<My Note.md>)", "My Note.md", None, "a", False)),
        ('[a](x.md "title")', ('[a](x.md "title")', "x.md", None, "a", False)),
        ("[a](b(c).md)", ("[a](b(c).md)", "b(c).md", None, "a", False)),
        (r"[a](b\(c.md)", (r"[a](b\(c.md)", "b(c.md", None, "a", False)),
        ("[a [b] c](x.md)", ("[a [b] c](x.md)", "x.md", None, "a [b] c", False)),
        ("[](x.md)", ("[](x.md)", "x.md", None, None, False)),
        ("![](x.md)", ("![](x.md)", "x.md", None, None, True)),
        ("[part](#part)", ("[part](#part)", "", "part", "part", False)),
        ("[a](b.md#h%20x)", ("[a](b.md#h%20x)", "b.md", "h x", "a", False)),
        ("[a](b%23c.md)", ("[a](b%23c.md)", "b#c.md", None, "a", False)),
        ("[a](b%2520c.md)", ("[a](b%2520c.md)", "b%20c.md", None, "a", False)),
        ("[a](b%ZZ.md)", ("[a](b%ZZ.md)", "b%ZZ.md", None, "a", False)),
        ("![a](<b c.md> 'title')", ("![a](<b c.md> 'title')", "b c.md", None, "a", True)),
        (r"\![a](x.md)", ("[a](x.md)", "x.md", None, "a", False)),
        (r"\\![a](x.md)", ("![a](x.md)", "x.md", None, "a", True)),
    ],
)
def test_a_markdown_link_is_percent_decoded(text, expected):
    link = only(text)
    assert link.kind == "markdown"
    assert (link.raw, link.text, link.heading, link.alias, link.embed) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[a](https://x.org/a.md)",
        "[a](mailto:a@b.c)",
        "[a](//host/x.md)",
        "[a]()",
        "[a] (x.md)",
        "[a](x y.md)",
    ],
)
def test_web_addresses_and_loose_brackets_are_not_links(text):
    assert raws(text) == []


@pytest.mark.parametrize(
    ("files", "text", "source", "expected"),
    [
        (["Note.md"], "[[note]]", "src.md", "Note.md"),
        (["Note.md"], "[[Note.MD]]", "src.md", "Note.md"),
        (["Note.markdown"], "[[Note]]", "src.md", "Note.markdown"),
        (["a/Note.md", "b/Note.md"], "[[b/Note]]", "src.md", "b/Note.md"),
        (["Note.md", "a/Note.md"], "[[Note]]", "a/src.md", "Note.md"),
        (["b/Note.md", "zz/Note.md"], "[[Note]]", "zz/src.md", "zz/Note.md"),
        (["a/b/Note.md", "zzzzz/Note.md"], "[[Note]]", "src.md", "a/b/Note.md"),
        (["b/Note.md", "a/Note.md"], "[[Note]]", "src.md", "a/Note.md"),
        (["deep/to/page.md"], "[[to/page]]", "src.md", "deep/to/page.md"),
        (["x/Note.md"], "[[wrong/Note]]", "src.md", None),
        (["test-file.md"], "[[file]]", "src.md", None),
        (["a/Note.md"], "[[./Note]]", "a/src.md", "a/Note.md"),
        (["Note.md", "a/Note.md"], "[[../Note]]", "a/src.md", "Note.md"),
        (["Note.md"], "[[./Note]]", "a/src.md", None),
        (["Note.md"], "[[../Note]]", "src.md", None),
        (["Note.md"], "[[../Note]]", None, None),
        (["a/Note.md"], "[[/Note]]", "a/src.md", None),
        (["a/Note.md"], "[[/a/Note]]", "src.md", "a/Note.md"),
        (["Folder/Folder.md"], "[[Folder/]]", "src.md", None),
        (["Figure.png"], "[[Figure]]", "src.md", None),
        (["sub/Figure.png"], "![[Figure.png]]", "src.md", "sub/Figure.png"),
        (["a b.md"], "[[a%20b]]", "src.md", None),
        (["a b.md"], "[x](a%20b.md)", "src.md", "a b.md"),
        (["Figure.png"], "[x](Figure.png)", "src.md", None),
        (["Note.md"], "[x](Note)", "src.md", "Note.md"),
        (["caf\u00e9.md"], "[[cafe\u0301]]", "src.md", "caf\u00e9.md"),
        (["cafe\u0301.md"], "[[CAF\u00c9]]", "src.md", "cafe\u0301.md"),
        (["cafe.md"], "[[caf\u00e9]]", "src.md", None),
        (["NOTE.md", "note.md"], "[[note]]", "src.md", "note.md"),
        (["NOTE.md", "note.md"], "[[./NOTE]]", "src.md", "NOTE.md"),
        ([], "[[#part]]", "a/src.md", "a/src.md"),
        ([], "[[#part]]", None, None),
    ],
)
def test_a_link_resolves_as_in_obsidian(files, text, source, expected):
    assert target(files, text, source) == expected


@pytest.mark.parametrize(
    ("files", "source", "winner", "reason"),
    [
        (["b/Note.md", "Note.md"], "b/src.md", "Note.md", "the exact path in the vault"),
        (["a/Note.md", "long/Note.md"], "long/src.md", "long/Note.md", "in the note's own folder"),
        (["a/NOTE.md", "long/Note.md"], "src.md", "long/Note.md", "the exact spelling"),
        (["a/Note.md", "long/Note.md"], "src.md", "a/Note.md", "the shortest path"),
        (["b/Note.md", "a/Note.md"], "src.md", "a/Note.md", "the first in order"),
        (["long/Note.md", "b/Note.md", "a/Note.md"], "src.md", "a/Note.md", "the first in order"),
    ],
)
def test_an_ambiguous_link_says_why_its_target_won(files, source, winner, reason):
    found = outcome(files, "[[Note]]", source)
    assert (found.target, found.reason) == (winner, reason)


def test_an_alias_resolves_last():
    assert outcome(["AI.md", "Mind.md"], "[[ai]]", aliases={"AI": "Mind.md"})[:2] == (
        "AI.md",
        "found",
    )
    assert outcome(["Mind.md"], "[[ai]]", aliases={"AI": "Mind.md"}) == (
        "Mind.md",
        "found",
        (),
        "alias",
        None,
    )
    assert outcome(["Mind.md"], "[[wrong/ai]]", aliases={"AI": "Mind.md"}).status == "broken"


def test_a_markdown_link_to_no_note_is_ignored_unless_it_ends_in_md():
    assert outcome([], "[x](manual.html)").status is None
    assert outcome([], "[x](gone.md)").status == "broken"
    assert outcome([], "[x](#part)", source=None).status is None


@given(st.text(st.sampled_from("[]()|#!`$%<>-~\\ \n\tab^\"'*1.=:/"), max_size=200))
def test_any_text_is_scanned_and_links_are_on_their_lines(text):
    found = read_markup(text)
    lines = text.split("\n")
    for link in found.links:
        assert link.raw in lines[link.line - 1]
    for heading in found.headings:
        assert heading.text in lines[heading.line - 1]
    assert all(1 <= first <= last <= len(lines) for first, last in found.code)
