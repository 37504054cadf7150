"""One line about a document."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from conftest import write_notes

from zkchat_cli.references.document_summaries import (
    SUMMARY_LENGTH,
    DocumentSummaryService,
    summarize_document,
)
from zkchat_cli.vault.vault import Vault

Of = Callable[[str], str | None]


@pytest.fixture
def summary_of(tmp_path: Path) -> Iterator[Of]:
    """Writes a note and says what it is about."""

    def summary(text: str) -> str | None:
        write_notes(vault.root, {"Note.md": text})
        return DocumentSummaryService(vault).summary("Note.md")

    with closing(
        Vault.open(write_notes(tmp_path / "notes", {"Note.md": ""}), tmp_path / "cache")
    ) as vault:
        yield summary
        assert not vault.has_index


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("---\ndescription: What *it* is.\n---\n# Title\n\nProse.", "What it is."),
        ("---\nsummary: What it is.\n---\nProse.", "What it is."),
        ("# Title\n\nProse that\ngoes on.\n\nMore.", "Prose that goes on."),
        ("---\ndescription: ''\n---\nProse that goes on.", "Prose that goes on."),
        ("# Title\n\n- one\n- two", "one; two"),
        ("", None),
    ],
)
def test_it_is_the_description_else_the_first_paragraph_else_the_key_text(
    summary_of: Of, text: str, summary: str | None
) -> None:
    assert summary_of(text) == summary


@pytest.mark.parametrize(
    "text",
    [
        "word " * 1000,
        "x" * 10_000,
        "笔记是思考的工具" * 100,
        "👩\u200d👩\u200d👧" * 100 + " a",
        "- item\n" * 1000,
        "# " + "h " * 999,
    ],
)
def test_a_long_summary_is_truncated(text: str) -> None:
    made = summarize_document(text)
    assert made is None or 0 < len(made) <= SUMMARY_LENGTH
    assert 0 < len(summarize_document("", description=text) or "") <= SUMMARY_LENGTH
