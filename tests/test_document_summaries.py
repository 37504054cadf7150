"""One line about a document: where it comes from, and how it is cached_summaries."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from conftest import write

from zkchat_cli.references.document_summaries import SUMMARY_LENGTH, DocumentSummary, DocumentSummaryService, needs_model_summary, summarize
from zkchat_cli.vault.vault import Vault


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    opened = Vault.open(write(tmp_path / "notes", {"Note.md": "Before, it was so.", "List.md": "- one\n- two"}), tmp_path / "cache")
    opened.refresh()
    yield opened
    opened.close()


def change_note(vault: Vault, text: str, name: str = "Note.md") -> None:
    """The vault after a note was written."""
    write(vault.root, {name: text})
    vault.refresh()


def cached_summaries(vault: Vault) -> list[tuple[str, str, str]]:
    """Kind, model and text summary_of what is cached_summaries beside the index."""
    file = vault.index_file.with_suffix(".summaries.db")
    if not file.exists():
        return []
    with closing(sqlite3.connect(file)) as db:
        return db.execute("SELECT kind, model, text FROM summaries ORDER BY text").fetchall()


Of = Callable[[str], DocumentSummary | None]


@pytest.fixture
def summary_of(vault: Vault) -> Of:
    """Writes a note and says what it is about."""

    def summary(text: str) -> DocumentSummary | None:
        write(vault.root, {"Note.md": text})
        return DocumentSummaryService(vault).find_summary("Note.md")

    return summary


# where it comes from


def test_the_authors_description_comes_first(summary_of: Of) -> None:
    assert summary_of("---\ndescription: What *it* is.\n---\n# Title\n\nProse.") == DocumentSummary("What it is.", "description")
    assert summary_of("---\nsummary: What it is.\n---\nProse.") == DocumentSummary("What it is.", "description")


def test_without_a_description_it_is_the_first_paragraph(summary_of: Of) -> None:
    assert summary_of("# Title\n\nProse that\ngoes on.\n\nMore.") == DocumentSummary("Prose that goes on.", "paragraph")
    assert summary_of("---\ndescription: ''\n---\nProse that goes on.") == DocumentSummary("Prose that goes on.", "paragraph")


def test_without_a_paragraph_it_is_the_key_text(summary_of: Of) -> None:
    assert summary_of("# Title\n\n- one\n- two") == DocumentSummary("one; two", "extractive")


@pytest.mark.parametrize(
    "text",
    ["word " * 1000, "x" * 10_000, "笔记是思考的工具" * 100, "👩\u200d👩\u200d👧" * 100 + " a", "- item\n" * 1000, "# " + "h " * 999],
)
def test_a_long_summary_is_truncated(text: str) -> None:
    made = summarize(text)
    assert made is None or 0 < len(made.text) <= SUMMARY_LENGTH
    described = summarize("", description=text)
    assert described and len(described.text) <= SUMMARY_LENGTH


def test_notes_without_a_paragraph_need_a_model_summary(summary_of: Of) -> None:
    assert not needs_model_summary(summary_of("---\ndescription: What it is.\n---\n"))
    assert not needs_model_summary(summary_of("Prose that goes on."))
    assert needs_model_summary(summary_of("- one\n- two"))
    assert needs_model_summary(summary_of(""))


def test_only_the_beginning_of_a_huge_note_is_read(vault: Vault) -> None:
    change_note(vault, "Its beginning says what it is about.\n\n" + "x" * 80 + "\n" + "more text\n" * 2_000_000)
    begin = time.process_time()
    assert DocumentSummaryService(vault).summary("Note.md") == "Its beginning says what it is about."
    assert time.process_time() - begin < 1


# how it is cached_summaries


def test_summaries_are_cached_on_disk(vault: Vault) -> None:
    assert cached_summaries(vault) == []
    for _ in range(2):
        assert DocumentSummaryService(vault).summary("Note.md") == "Before, it was so."
    assert cached_summaries(vault) == [("paragraph", "", "Before, it was so.")]


def test_a_renamed_note_keeps_its_summary(vault: Vault) -> None:
    DocumentSummaryService(vault).learn("List.md", "A list summary_of two numbers.", "openai/gpt")
    (vault.root / "List.md").rename(vault.root / "Moved.md")
    vault.refresh()
    assert DocumentSummaryService(vault, by_model=True).summary("Moved.md") == "A list summary_of two numbers. (by openai/gpt)"


def test_a_changed_note_gets_a_new_summary_at_once(vault: Vault) -> None:
    DocumentSummaryService(vault).learn("List.md", "A list summary_of two numbers.", "openai/gpt")
    write(vault.root, {"List.md": "- one\n- two\n- three"})
    assert DocumentSummaryService(vault, by_model=True).summary("List.md") == "one; two; three"
    vault.refresh()
    assert DocumentSummaryService(vault, by_model=True).summary("List.md") == "one; two; three"


def test_asking_for_a_summary_builds_no_index(tmp_path: Path) -> None:
    with closing(Vault.open(write(tmp_path / "notes", {"A.md": "It is a note."}), tmp_path / "cache")) as vault:
        assert DocumentSummaryService(vault).summary("A.md") == "It is a note."
        assert not vault.has_index


def test_summaries_of_deleted_notes_are_dropped(vault: Vault) -> None:
    service = DocumentSummaryService(vault)
    assert [service.summary("Note.md"), service.summary("List.md")] == ["Before, it was so.", "one; two"]
    (vault.root / "Note.md").unlink()
    vault.refresh()
    assert cached_summaries(vault) == [("extractive", "", "one; two")]


# a model's words


def test_a_model_summary_is_marked(vault: Vault) -> None:
    service = DocumentSummaryService(vault, by_model=True)
    assert service.summary("List.md") == "one; two"
    service.learn("List.md", "A **list** summary_of\ntwo\x1b numbers.", "openai/gpt")
    assert service.find_summary("List.md") == DocumentSummary("A list summary_of two numbers.", "model", "openai/gpt")
    assert service.summary("List.md") == "A list summary_of two numbers. (by openai/gpt)"


def test_the_notes_own_summary_precedes_the_models(vault: Vault) -> None:
    DocumentSummaryService(vault, by_model=True).learn("Note.md", "Something about the past.", "openai/gpt")
    assert DocumentSummaryService(vault, by_model=True).summary("Note.md") == "Before, it was so."


# whatever happens to the file


def test_a_locked_index_is_still_read(vault: Vault) -> None:
    with closing(sqlite3.connect(vault.index_file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        DocumentSummaryService(vault).summary("Note.md")
        assert len(cached_summaries(vault)) == 1
        other.execute("ROLLBACK")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_cache_is_tolerated(vault: Vault) -> None:
    folder = vault.index_file.parent
    folder.chmod(0o500)
    try:
        assert DocumentSummaryService(vault).summary("Note.md") == "Before, it was so."
        vault.refresh()
    finally:
        folder.chmod(0o700)
    assert cached_summaries(vault) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's full device")
def test_a_full_disk_is_tolerated(vault: Vault) -> None:
    DocumentSummaryService(vault).summary("Note.md")
    store = vault.summaries._store
    store._query(lambda db: db.execute("PRAGMA max_page_count = 1"), None)
    for n in range(100):
        change_note(vault, f"Note number {n} says this: " + "words " * 20, f"{n}.md")
        assert DocumentSummaryService(vault).summary(f"{n}.md")
    assert len(cached_summaries(vault)) < 100


@pytest.mark.parametrize("damage", [b"this is no database at all, but text" * 200, b""])
def test_a_damaged_file_is_replaced(vault: Vault, tmp_path: Path, damage: bytes) -> None:
    DocumentSummaryService(vault).summary("Note.md")
    vault.summaries.close()
    vault.index_file.with_suffix(".summaries.db").write_bytes(damage)
    for leftover in vault.index_file.parent.glob("*.summaries.db-*"):
        leftover.unlink()
    assert DocumentSummaryService(vault).summary("List.md") == "one; two"
    assert len(cached_summaries(vault)) == 1
