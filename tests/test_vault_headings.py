"""Headings and blocks that a link may name, and links that name what is not there."""

from pathlib import Path

import pytest
from conftest import write

from zkchat_cli.errors import VaultError
from zkchat_cli.vault import sections
from zkchat_cli.vault.markup import read_markup
from zkchat_cli.vault.vault import Vault

TEXT = """# How to *begin*?

First words. ^first

## Tools

- a hammer
- a saw, which
  is sharp ^saw

| a | b |
|---|---|

^table

## 🎉

# Later

## Tools
Other tools.
"""
MARKUP = read_markup(TEXT)


@pytest.mark.parametrize(
    ("anchor", "lines"),
    [
        ("How to *begin*?", (1, 16)),
        ("how to begin", (1, 16)),
        ("how-to-begin", (1, 16)),
        ("Tools", (5, 14)),
        ("How to begin#Tools", (5, 14)),
        ("Later#Tools", (20, 21)),
        ("Later # Tools", (20, 21)),
        ("🎉", (16, 16)),
        ("Later", (18, 21)),
        ("^first", (3, 3)),
        ("^FIRST", (3, 3)),
        ("Tools#^saw", (8, 9)),
        ("^table", (11, 14)),
        ("Begin", None),
        ("Tools#Later", None),
        ("Nothing#Tools", None),
        ("^nothing", None),
        ("#", None),
        ("", None),
    ],
)
def test_an_anchor_means_lines(anchor: str, lines: tuple[int, int] | None) -> None:
    assert sections.find_section(anchor, TEXT, MARKUP) == lines


@pytest.mark.parametrize(
    ("anchor", "near"),
    [("How to bgin", ("How to *begin*?",)), ("Later#Tool", ("Tools",)), ("^sww", ("^saw",)), ("xyz", ()), ("^xyz", ()), ("x" * 10**6, ())],
)
def test_similar_anchors_are_suggested(anchor: str, near: tuple[str, ...]) -> None:
    assert sections.similar_headings(anchor, MARKUP) == near


def test_an_id_at_the_very_beginning_is_its_own_block() -> None:
    text = "^id\n\nText.\n"
    assert sections.find_section("^id", text, read_markup(text)) == (1, 1)


def test_a_heading_of_a_deleted_note_is_not_reported_as_broken(tmp_path: Path) -> None:
    vault = Vault.open(
        write(tmp_path / "n", {"A.md": "[[B#no]] [[B#yes]] [[logo.png#x]]", "B.md": "# Yes", "logo.png": ""}), tmp_path / "c"
    )
    vault.refresh()
    assert [link.row.raw for link in vault.broken_headings()] == ["[[B#no]]"]
    (vault.root / "B.md").unlink()
    assert vault.broken_headings() == []
    vault.close()


def test_a_link_to_a_missing_heading_of_its_own_note_is_broken(tmp_path: Path) -> None:
    vault = Vault.open(write(tmp_path / "n", {"A.md": "# Here\n\n[[#Here]] [[#There]]"}), tmp_path / "c")
    assert [(link.row.target, link.row.raw, link.candidates) for link in vault.broken_headings()] == [
        ("A.md", "[[#There]]", ("A.md#Here",))
    ]
    vault.close()


def test_a_missing_section_is_an_error_with_suggestions(tmp_path: Path) -> None:
    vault = Vault.open(write(tmp_path / "n", {"A.md": "# Here\n\nText\n"}), tmp_path / "c")
    assert vault.section("A.md", "here") == (1, 3)
    with pytest.raises(VaultError, match=r"A\.md has no heading There") as e:
        vault.section("A.md", "There")
    assert e.value.hint == "Nearest: Here"
    vault.close()
