"""The documents that a message names by links, and how the model reads them."""

import json
from pathlib import Path

import pytest
from conftest import write_notes
from factories import chunk

from zkchat_cli.events import Notice
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.references.document_list import describe_documents
from zkchat_cli.references.document_summaries import DocumentSummaryService
from zkchat_cli.references.excerpts import format_tool_result
from zkchat_cli.references.file_imports import ImportRoots
from zkchat_cli.references.mentions import find_mentions
from zkchat_cli.vault.vault import Vault


@pytest.fixture
def vault(vault: Path) -> Path:
    return write_notes(
        vault, {"A/Twin.md": "One twin stands here.", "B/Twin.md": "The other twin stands there."}
    )


def mentioned(text: str, notes: Vault) -> tuple[DocumentReference, ...]:
    mentions, _ = find_mentions(
        text, ImportRoots(notes, None), DocumentSummaryService(notes).summary
    )
    return tuple(mention.reference for mention in mentions)


def warnings(text: str, notes: Vault) -> tuple[Notice, ...]:
    [mention] = find_mentions(text, ImportRoots(notes, None), lambda _: None)[0]
    return mention.warnings


# from the user's words


def test_a_link_becomes_a_reference_with_path_and_summary(notes: Vault) -> None:
    (reference,) = mentioned("What is a [[filters|filter]]?", notes)
    assert (reference.wikilink, reference.relative_path, reference.reference_type) == (
        "[[filters|filter]]",
        "Filters.md",
        "direct",
    )
    assert (reference.summary, reference.status) == (
        "How to say which tasks you want to see.",
        "found",
    )


def test_a_document_named_twice_is_one_reference(notes: Vault) -> None:
    assert len(mentioned("[[Filters]] and [[filters.md]] and [[Filters|them]]", notes)) == 1


def test_two_sections_of_a_document_are_two_references(notes: Vault) -> None:
    assert [
        r.heading
        for r in mentioned("[[Filters#Dates]] and [[Filters]] and [[Filters#Dates]]", notes)
    ] == ["Dates", None]


def test_an_ambiguous_link_selects_one_note_and_lists_the_others(notes: Vault) -> None:
    (reference,) = mentioned("[[Twin]]", notes)
    assert (reference.status, reference.relative_path, reference.candidates) == (
        "ambiguous",
        "A/Twin.md",
        ("B/Twin.md",),
    )
    assert warnings("[[Twin]]", notes) == (
        Notice("[[Twin]] matches several notes; using A/Twin.md", "others: B/Twin.md"),
    )


def test_links_in_code_and_markdown_links_are_no_mentions(notes: Vault) -> None:
    assert (
        mentioned("`[[Filters]]` and [Filters](Filters.md) and\n```\n[[Filters]]\n```", notes) == ()
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no links",
        "[[]]",
        "[[",
        "]]",
        "[[ ]]",
        "[[" * 5000,
        "[[\ud800]]",
        "[[" + "x" * 10_000 + "]]",
        "[[a\0b]]",
    ],
)
def test_any_text_may_be_searched_for_links(notes: Vault, text: str) -> None:
    assert all(r.status == "broken" for r in mentioned(text, notes))


def test_a_broken_link_without_similar_notes_warns(notes: Vault) -> None:
    assert warnings("[[Zzzzzzzz]]", notes) == (
        Notice("[[Zzzzzzzz]] not found", "no note has a similar name"),
    )


def test_the_prompt_describes_documents_with_path_section_and_summary(notes: Vault) -> None:
    told = describe_documents(
        mentioned("[[Filters#Dates]] [[Queries/Limiting]] [[Nowhere]]", notes)
    ).split("\n")
    assert told[0] == "The message below refers to these documents:"
    assert told[1] == (
        "- [[Filters#Dates]] (Filters.md, section 'Dates'): How to say which tasks you want to see."
    )
    assert told[2].startswith("- [[Queries/Limiting]] (Queries/Limiting.md): Limiting shows")
    assert told[3] == "- [[Nowhere]]: no such note"
    assert "read_zk_document" in told[4]


# what the model reads


def test_a_tool_result_is_json_without_escapes() -> None:
    shown = format_tool_result([chunk(3, "過濾 “é” 😀", heading="H")], {}, "more")
    assert "過濾 “é” 😀" in shown
    assert json.loads(shown) == {
        "excerpts": [
            {
                "source": 3,
                "path": "Filters.md",
                "title": "Filters",
                "heading": "H",
                "lines": "5-5",
                "text": "過濾 “é” 😀",
            }
        ],
        "note": "more",
    }


def test_a_very_long_title_is_truncated() -> None:
    assert (
        len(format_tool_result([chunk(1, "text", title="x" * 10_000, heading="y" * 10_000)], {}))
        < 1000
    )
