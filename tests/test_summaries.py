"""One line about a document: what its author wrote about it, or how it begins."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import write

from zkchat_cli.references.summaries import SUMMARY_LENGTH, DocumentSummaryService, first_paragraph
from zkchat_cli.vault import Vault


@pytest.fixture
def summary_of(tmp_path: Path) -> Iterator[Callable[[str], str | None]]:
    """Writes a note and says what it is about."""
    folder = write(tmp_path / "notes", {"Other.md": "Another note."})
    vault = Vault.open(folder, tmp_path / "cache")

    def summary(text: str) -> str | None:
        write(folder, {"Note.md": text})
        return DocumentSummaryService(vault).summary("Note.md")

    yield summary
    vault.close()


Summary = Callable[[str], str | None]


def test_the_authors_description_comes_first(summary_of: Summary) -> None:
    assert summary_of("---\ndescription: What it is.\n---\n# Title\n\nProse.") == "What it is."


def test_otherwise_it_is_the_first_paragraph(summary_of: Summary) -> None:
    assert summary_of("# Title\n\nProse that\ngoes on.\n\nMore.") == "Prose that goes on."


def test_a_summary_is_made_once_for_a_vault_as_it_is(tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", {"Note.md": "Before, it was so."})
    vault = Vault.open(folder, tmp_path / "cache")
    service = DocumentSummaryService(vault)
    before = service.summary("Note.md")
    write(folder, {"Note.md": "After, it is so."})
    assert service.summary("Note.md") == before == "Before, it was so."
    assert DocumentSummaryService(vault).summary("Note.md") == "After, it is so."
    vault.close()


def test_a_long_one_is_cut(summary_of: Summary) -> None:
    assert len(summary_of("word " * 1000) or "") <= SUMMARY_LENGTH
    assert len(summary_of("x" * 10_000) or "") == SUMMARY_LENGTH


@pytest.mark.parametrize("nothing", ["", "# Title", "![[image.png]]", "```\ncode\n```", "| a | b |", "#tag #other", "---\n---\n", "…"])
def test_a_note_that_says_nothing_has_none(summary_of: Summary, nothing: str) -> None:
    assert summary_of(nothing) is None


@pytest.mark.parametrize("path", ["Nowhere.md", "../secret.md", "", "a\0b"])
def test_a_note_that_cannot_be_read_has_none(tmp_path: Path, path: str) -> None:
    vault = Vault.open(write(tmp_path / "notes", {"A.md": "A."}), tmp_path / "cache")
    assert DocumentSummaryService(vault).summary(path) is None
    vault.close()


@pytest.mark.parametrize(
    ("text", "paragraph"),
    [
        ("- an item\n- another\n\nRunning text.", "Running text."),
        ("> A quotation.\n\nRunning text.", "Running text."),
        ("- an item\n- another", "an item another"),
        ("> A quotation.", "A quotation."),
        ("1. [ ] a task\n", "a task"),
        ("- [ ] a task", "a task"),
        ("- [[Only]]\n- [links](x)\n\nText.", "Text."),
        (
            "[[Filters|A filter]] is *a* **line** with `code` and snake_case and _this_.",
            "A filter is a line with code and snake_case and this.",
        ),
        ("See [[Filters]] and [the page](https://x.y).", "See Filters and the page."),
        ("<div>Inside</div> it.", "Inside it."),
        ("%% hidden %%\nShown.", "Shown."),
        ("<!-- hidden -->\nShown.", "Shown."),
        ("> [!note] A callout\n\nText.", "Text."),
        ("```\n~~~\ncode\n```\nText.", "Text."),
        ("~~~\ncode\n~~~\nText.", "Text."),
        ("```\nnever closed", None),
        ("#tag\n\nText.", "Text."),
        ("#tag with words", "#tag with words"),
        ("#\n\nText.", "Text."),
        ("\n\n\n", None),
        ("5 < 6 and 7 > 2.", "5 < 6 and 7 > 2."),
    ],
)
def test_how_a_note_begins(text: str, paragraph: str | None) -> None:
    assert first_paragraph(text) == paragraph


@pytest.mark.parametrize("piece", ["<", "[", "[[", "](", "_", "*", "> ", "- ", "`", "|", "[[a|"])
def test_endless_repetition_is_read_at_once(piece: str) -> None:
    first_paragraph("Word " + piece * 20_000)
