"""Properties within a text: `key:: value`."""

from pathlib import Path

import pytest
from conftest import Program

from zkchat_cli.markdown.inline_fields import inline_fields


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("author:: [[Jane Austen]]", [("author", "[[Jane Austen]]")]),
        ("- **Due Date**:: 2024-05-01", [("due date", "2024-05-01")]),
        ("> mood:: good\n\n1. läuft:: ja", [("mood", "good"), ("läuft", "ja")]),
        ("- [ ] call [when:: now] or (who:: [[Ola|O]])", [("when", "now"), ("who", "[[Ola|O]]")]),
        ("place:: Rome [since:: 1999]", [("place", "Rome"), ("since", "1999")]),
        ("```\na:: b\n```\nuse `c:: d`, std::vector, https://x.y/a::b", []),
    ],
)
def test_fields_are_read_from_lines_items_and_brackets(
    text: str, fields: list[tuple[str, str]]
) -> None:
    assert list(inline_fields(text)) == fields


def test_notes_are_listed_by_an_inline_field(zkchat: Program, vault: Path) -> None:
    (vault / "Emma.md").write_text("# Emma\n\nauthor:: [[Jane Austen]]\nIt is [pages:: 474] long.")
    (vault / "Kim.md").write_text("---\nauthor: Rudyard Kipling\n---\ntext")
    for wanted, paths in (("author: austen", ["Emma.md"]), ("pages", ["Emma.md"])):
        listed = zkchat("vault", "list", "--property", wanted, "--json").json
        assert [note["relative_path"] for note in listed] == paths
    shown = zkchat("ask", "Who is the author of Emma?", "--no-store").out
    assert "Jane Austen" in shown.split("\n\n")[1].split("\n")[0]
