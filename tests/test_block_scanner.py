"""The block scanner: what each line of a Markdown text is."""

import pytest
from commonmark_documents import find_differences

from zkchat_cli.markdown.block_scanner import BlockScanner
from zkchat_cli.markdown.blocks import blocks

CODES = {
    "b": "blank",
    "p": "paragraph",
    "h": "heading",
    "u": "underline",
    "i": "item",
    "t": "table",
    "d": "delimiter",
    "r": "rule",
    "n": "definition",
    "f": "fence",
    "c": "code",
    "e": "fence_end",
    "x": "indented",
    "m": "html",
}


def kinds(text: str, *, lenient: bool = False) -> list[str]:
    scanner = BlockScanner(lenient=lenient)
    return [scanner.scan(line).kind for line in text.split("\n")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\n\nc", "ppbp"),
        ("# a\n#b\n####### c\n#", "hpph"),
        ("a\n===\nb\n---\n\n---", "pupubr"),
        ("> a\n---", "pr"),
        ("- a\n---", "ir"),
        ("- a\n  b\n1. c\n2) d\n10.e", "ipiip"),
        ("* * *\n___\n- - -", "rrr"),
        ("| a |\n|---|\nb | c\nd\n\n| e |", "pdttbp"),
        ("[^1]: a\n[b]: c\n[d] e", "nnp"),
        ("```py\n# a\n\n````\nb", "fccep"),
        ("```\n~~~\n``\n```", "fcce"),
        ("``` a`b\nc", "pp"),
        ("> ```\n> a\nb", "fcp"),
        ("> ```\n> a\n> ```\n> b", "fcep"),
        ("- ```\n  a\n  ```\nb", "fcep"),
        ("- ```\na\n```", "fpf"),
        ("a\n\n    b\n    c\n\n    d\ne", "pbxxbxp"),
        ("a\n    b", "pp"),
        ("# a\n    b", "hx"),
        ("- a\n\n    b\n\n      c", "ibpbx"),
        ("\tb\n> \tc", "xp"),
        ("- a\n\t- b\n\n\t  c\n\n\td", "iibpbp"),
        ("-     a\n\n  b\n-\n\n  c", "xbpibp"),
        ("a\n2. b\n-\n1. c", "ppui"),
        ("> a\nb\n===\n> c\n> ===", "ppppu"),
        ("<div>\n- a\n\n<b>\n# c\n\nd\n<b>", "mmbmmbpp"),
        ("<pre>\n\na</pre>\nb", "mmmp"),
    ],
)
def test_kinds_of_lines(text: str, expected: str) -> None:
    assert kinds(text) == [CODES[code] for code in expected]


def test_a_lenient_scanner_ends_a_fence_in_a_list_at_its_mark_only() -> None:
    assert kinds("- ```\na\n```\nb\n---", lenient=True) == [
        "fence",
        "code",
        "fence_end",
        "paragraph",
        "rule",
    ]


def test_blocks_have_lines_and_positions() -> None:
    found = list(
        blocks(
            "# T\n\na <!-- x -->\nb\n\n> [!tip] C\n> q\n\n- [ ] i\n  j\n\n|a|\n|-|\n\n```\n c\n```"
        )
    )
    assert [(block.kind, block.lines, block.line, block.quoted) for block in found] == [
        ("heading", ("T",), 1, False),
        ("paragraph", ("a \0", "b"), 3, False),
        ("callout", ("C",), 6, True),
        ("paragraph", ("q",), 7, True),
        ("item", ("[ ] i", "j"), 9, False),
        ("table", ("|a|", "|-|"), 12, False),
        ("code", (" c",), 15, False),
    ]


def test_made_up_documents_are_read_as_markdown_it_reads_them() -> None:
    assert list(find_differences(documents=1000, seed=47)) == []
