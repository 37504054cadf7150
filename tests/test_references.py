"""References: the documents a message names, one numbering for all excerpts, and what fits into a tool's result."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from building import chunk, said
from conftest import write
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat_cli.models import ContentChunk, DocumentReference, ZkChatMessage
from zkchat_cli.references.aggregate import aggregate_documents, merge_references
from zkchat_cli.references.chunk_format import format_tool_result
from zkchat_cli.references.document_summaries import DocumentSummaryService
from zkchat_cli.references.file_imports import ImportRoots
from zkchat_cli.references.injection import describe_documents
from zkchat_cli.references.manager import ReferenceManager
from zkchat_cli.references.mentions import find_mentioned_documents, link_warning
from zkchat_cli.vault.vault import Vault


@pytest.fixture
def notes(vault: Path, tmp_path: Path) -> Iterator[Vault]:
    write(vault, {"A/Twin.md": "One twin stands here.", "B/Twin.md": "The other twin stands there."})
    opened = Vault.open(vault, tmp_path / "cache")
    opened.refresh()
    yield opened
    opened.close()


def named(text: str, notes: Vault) -> tuple[DocumentReference, ...]:
    return tuple(find_mentioned_documents(text, ImportRoots(notes, None, 1 << 20), DocumentSummaryService(notes).summary).references)


# from the user's words


def test_a_link_becomes_a_reference_with_path_and_summary(notes: Vault) -> None:
    (reference,) = named("What is a [[filters|filter]]?", notes)
    assert (reference.wikilink, reference.relative_path, reference.reference_type) == ("[[filters|filter]]", "Filters.md", "direct")
    assert (reference.summary, reference.status) == ("How to say which tasks you want to see.", "found")


def test_a_document_named_twice_is_one_reference(notes: Vault) -> None:
    assert len(named("[[Filters]] and [[filters.md]] and [[Filters|them]]", notes)) == 1


def test_two_sections_of_a_document_are_two_references(notes: Vault) -> None:
    assert [r.heading for r in named("[[Filters#Dates]] and [[Filters]] and [[Filters#Dates]]", notes)] == ["Dates", None]


def test_references_stand_in_the_order_of_the_text(notes: Vault) -> None:
    assert [r.relative_path for r in named("[[Limiting]] before [[Combining]]", notes)] == ["Queries/Limiting.md", "Queries/Combining.md"]


def test_a_broken_link_is_a_reference_with_the_nearest_names(notes: Vault) -> None:
    (reference,) = named("see [[Filtrs]]", notes)
    assert (reference.status, reference.relative_path, reference.summary) == ("broken", None, None)
    assert "Filters" in reference.candidates


def test_an_ambiguous_link_takes_one_note_and_names_the_others(notes: Vault) -> None:
    (reference,) = named("[[Twin]]", notes)
    assert (reference.status, reference.relative_path, reference.candidates) == ("ambiguous", "A/Twin.md", ("B/Twin.md",))


def test_links_in_code_and_markdown_links_name_nothing(notes: Vault) -> None:
    assert named("`[[Filters]]` and [Filters](Filters.md) and\n```\n[[Filters]]\n```", notes) == ()


@pytest.mark.parametrize(
    "text", ["", "no links", "[[]]", "[[", "]]", "[[ ]]", "[[" * 5000, "[[\ud800]]", "[[" + "x" * 10_000 + "]]", "[[a\0b]]"]
)
def test_any_text_may_be_searched_for_links(notes: Vault, text: str) -> None:
    assert all(r.status == "broken" for r in named(text, notes))


def test_a_found_link_warns_of_nothing(notes: Vault) -> None:
    assert [link_warning(r) for r in named("[[Filters]]", notes)] == [None]


def test_a_broken_link_is_warned_of_with_the_nearest_names(notes: Vault) -> None:
    (told,) = [link_warning(r) for r in named("[[Filtrs]]", notes)]
    assert told is not None
    assert told[0] == "[[Filtrs]] not found"
    assert told[1].startswith("nearest: [[Filters]]")


def test_a_broken_link_like_no_note_says_so() -> None:
    broken = DocumentReference(wikilink="[[Zzz]]", reference_type="direct", status="broken")
    assert link_warning(broken) == ("[[Zzz]] not found", "no note has a similar name")


def test_an_ambiguous_link_is_warned_of_with_the_choice_made(notes: Vault) -> None:
    assert [link_warning(r) for r in named("[[Twin]]", notes)] == [("[[Twin]] matches several notes; using A/Twin.md", "others: B/Twin.md")]


def test_the_model_is_told_of_documents_with_path_section_and_summary(notes: Vault) -> None:
    told = describe_documents(named("[[Filters#Dates]] [[Queries/Limiting]] [[Nowhere]]", notes)).split("\n")
    assert told[0] == "The message below refers to these documents:"
    assert told[1] == "- [[Filters#Dates]] (Filters.md, section 'Dates'): How to say which tasks you want to see."
    assert told[2].startswith("- [[Queries/Limiting]] (Queries/Limiting.md): Limiting shows")
    assert told[3] == "- [[Nowhere]]: no such note"
    assert "read_zk_document" in told[4]


def test_the_model_is_told_nothing_without_documents() -> None:
    assert describe_documents(()) == ""


def test_a_document_without_a_summary_is_told_by_its_path() -> None:
    bare = DocumentReference(wikilink="[[A]]", relative_path="A.md", reference_type="direct")
    assert "- [[A]] (A.md)\n" in describe_documents((bare,))


# one numbering


def unnumbered(*ids: str) -> list[ContentChunk]:
    return [chunk(None, f"text of {id_}", id=id_) for id_ in ids]


def numbers(chunks: tuple[ContentChunk, ...]) -> list[int | None]:
    return [c.number for c in chunks]


def test_numbers_go_on_from_call_to_call() -> None:
    manager = ReferenceManager()
    assert numbers(manager.extract_referenceable_chunks("1", unnumbered("a", "b"))) == [1, 2]
    assert numbers(manager.extract_referenceable_chunks("2", unnumbered("c"))) == [3]


def test_the_same_chunk_keeps_its_number() -> None:
    manager = ReferenceManager()
    manager.extract_referenceable_chunks("1", unnumbered("a", "b"))
    assert numbers(manager.extract_referenceable_chunks("2", unnumbered("c", "b", "b"))) == [3, 2, 2]


def test_a_chunk_is_found_by_its_number() -> None:
    manager = ReferenceManager()
    (first,) = manager.extract_referenceable_chunks("1", unnumbered("a"))
    assert manager.chunk(1) == first
    assert manager.chunk(2) is None
    assert manager.chunks == (first,)


def test_the_chunks_of_a_call_are_those_it_brought_in() -> None:
    manager = ReferenceManager()
    manager.extract_referenceable_chunks("1", unnumbered("a", "b"))
    manager.extract_referenceable_chunks("2", unnumbered("b", "c"))
    manager.extract_referenceable_chunks("3", [])
    assert [c.id for c in manager.chunks_of_call("2")] == ["b", "c"]
    assert manager.chunks_of_call("3") == manager.chunks_of_call("never") == ()


def log(*calls: tuple[str, list[ContentChunk]]) -> list[ZkChatMessage]:
    return [said("tool", "", f"r{i}", tool_call_id=id_, chunks=tuple(chunks)) for i, (id_, chunks) in enumerate(calls)]


def test_a_manager_goes_on_where_the_log_stopped() -> None:
    before = ReferenceManager()
    first = before.extract_referenceable_chunks("1", unnumbered("a", "b"))
    again = ReferenceManager.from_log([said("user", "Why?", "u"), *log(("1", list(first)), ("2", []))])
    assert again.chunks == before.chunks
    assert numbers(again.extract_referenceable_chunks("3", unnumbered("b", "c"))) == [2, 3]


def test_of_calls_that_share_an_id_the_newest_is_meant() -> None:
    manager = ReferenceManager.from_log(log(("call-1-1", [chunk(1)]), ("call-1-1", [chunk(2)])))
    assert numbers(manager.chunks_of_call("call-1-1")) == [2]
    assert numbers(manager.chunks) == [1, 2]


def test_a_number_that_an_import_gives_twice_keeps_its_first_meaning() -> None:
    manager = ReferenceManager.from_log(log(("1", [chunk(1, id="a")]), ("2", [chunk(1, id="b")])))
    assert [c.id for c in manager.chunks] == ["a"]
    assert numbers(manager.extract_referenceable_chunks("3", unnumbered("b"))) == [2]


@pytest.mark.parametrize("number", [0, -7, None])
def test_a_number_that_is_none_is_not_taken_from_an_import(number: int | None) -> None:
    manager = ReferenceManager.from_log(log(("1", [chunk(number, id="a")])))
    assert manager.chunks == ()
    assert numbers(manager.extract_referenceable_chunks("2", unnumbered("a"))) == [1]


def test_numbers_go_on_from_the_highest_however_high() -> None:
    manager = ReferenceManager.from_log(log(("1", [chunk(5000, id="a")])))
    assert numbers(manager.extract_referenceable_chunks("2", unnumbered("b"))) == [5001]


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=5), max_size=8))
def test_a_number_means_one_chunk_and_a_chunk_has_one_number(calls: list[list[str]]) -> None:
    manager = ReferenceManager()
    given_ = [c for i, ids in enumerate(calls) for c in manager.extract_referenceable_chunks(str(i), unnumbered(*ids))]
    assert len({(c.id, c.number) for c in given_}) == len({c.id for c in given_}) == len({c.number for c in given_})
    assert {c.number for c in given_} == set(range(1, len(manager.chunks) + 1))


# what the model reads


def test_a_result_is_json_in_which_text_stands_as_it_is() -> None:
    shown = format_tool_result([chunk(3, "過濾 “é” 😀", heading="H")], {}, "more")
    assert "過濾 “é” 😀" in shown
    assert json.loads(shown) == {
        "excerpts": [{"source": 3, "path": "Filters.md", "title": "Filters", "heading": "H", "lines": "5-5", "text": "過濾 “é” 😀"}],
        "note": "more",
    }


def test_a_result_without_chunks_is_its_data() -> None:
    assert json.loads(format_tool_result([], {"path": None})) == {"path": None}


def test_a_title_without_end_is_cut() -> None:
    assert len(format_tool_result([chunk(1, "text", title="x" * 10_000, heading="y" * 10_000)], {})) < 1000


# the documents of an answer


def test_documents_that_tools_brought_in_are_references_once_with_their_first_number() -> None:
    chunks = [chunk(4, "first " * 50), chunk(5, "second"), chunk(6, "third", relative_path="B.md", title="B")]
    first, second = aggregate_documents(chunks, lambda path: f"about {path}")
    assert (first.relative_path, first.number, first.reference_type, first.summary) == ("Filters.md", 4, "search", "about Filters.md")
    assert first.context_snippet is not None
    assert len(first.context_snippet) <= 160
    assert (second.wikilink, second.number) == ("[[B]]", 6)


def test_named_documents_come_first_and_get_the_number_they_were_read_under() -> None:
    direct = DocumentReference(wikilink="[[B]]", relative_path="B.md", reference_type="direct")
    broken = DocumentReference(wikilink="[[C]]", reference_type="direct", status="broken")
    found = aggregate_documents([chunk(1), chunk(2, relative_path="B.md")], lambda _: None)
    assert [(r.relative_path, r.number, r.reference_type) for r in merge_references((direct, broken), found)] == [
        ("B.md", 2, "direct"),
        (None, None, "direct"),
        ("Filters.md", 1, "search"),
    ]
