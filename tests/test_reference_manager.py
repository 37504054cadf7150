"""The ReferenceManager: one numbering for a whole conversation, chunks by tool, what answers cited."""

from collections.abc import Sequence

import pytest
from factories import AppFixture, DeltaModel, chunk, find_call, message, reply, report_of, tool_reply
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat_cli.models import Citation, ContentChunk, DocumentReference, ToolCall, ZkChatMessage
from zkchat_cli.references.chunk_format import MAX_NUMBER
from zkchat_cli.references.manager import ReferenceManager
from zkchat_cli.references.provenance import aggregate_documents, merge_references


def unnumbered(*ids: str, **more: object) -> list[ContentChunk]:
    return [chunk(None, f"text of {id_}", id=id_, **more) for id_ in ids]


def names(chunks: Sequence[ContentChunk]) -> list[str]:
    """Chunks as `1a`: number and id."""
    return [f"{c.number}{c.id}" for c in chunks]


def make_manager() -> ReferenceManager:
    """Two searches and a reading, which share unnumbered chunks."""
    manager = ReferenceManager()
    manager.extract_referenceable_chunks(unnumbered("a", "b"), "find_excerpts")
    manager.extract_referenceable_chunks(unnumbered("c", "a"), "read_zk_document")
    manager.extract_referenceable_chunks(unnumbered("b", "d"), "find_excerpts")
    return manager


def citations_of(*numbers: int) -> list[Citation]:
    return [Citation(number=n) for n in numbers]


# chunks


def test_an_edited_text_gets_a_new_number_even_under_the_same_id() -> None:
    manager = ReferenceManager()
    manager.extract_referenceable_chunks([chunk(None, "before", id="a")])
    (edited,) = manager.extract_referenceable_chunks([chunk(None, "after", id="a")])
    assert edited.number == 2
    assert [c.text for c in manager.chunks] == ["before", "after"]


# references


def test_the_latest_references_are_the_citations_of_the_last_answer_that_has_any() -> None:
    manager = make_manager()
    assert manager.latest_references == ()
    manager.add_references(citations_of(1))
    manager.add_references(citations_of(4, 2, 4))
    manager.add_references(())
    assert manager.latest_references == tuple(citations_of(4, 2, 4))


# from the log


def tool_message(call_id: str, *chunks: ContentChunk, tool: str = "find_excerpts") -> ZkChatMessage:
    return message("tool", "", f"r-{call_id}", tool_call_id=call_id, tool_name=tool, chunks=chunks)


def test_numbers_come_from_all_branches_and_references_from_one() -> None:
    first = message("assistant", "So [1].", "a1", citations=tuple(citations_of(1)))
    undone = message("assistant", "No [2].", "a2", citations=tuple(citations_of(2)))
    manager = ReferenceManager.from_log([tool_message("1", chunk(1, id="a")), first, tool_message("2", chunk(2, id="b")), undone], [first])
    assert names(manager.chunks) == ["1a", "2b"]
    assert manager.latest_references == tuple(citations_of(1))


@pytest.mark.parametrize("number", [MAX_NUMBER, MAX_NUMBER // 10 + 1])
def test_numbering_never_continues_from_a_huge_number(number: int) -> None:
    manager = ReferenceManager.from_log([tool_message("1", chunk(number, id="a"), chunk(2, id="b"))])
    assert names(manager.chunks) == ["2b", f"{number}a"]
    assert names(manager.extract_referenceable_chunks(unnumbered("c", "d"))) == ["3c", "4d"]


def test_an_import_cannot_change_the_text_of_a_number() -> None:
    manager = ReferenceManager.from_log([tool_message("1", chunk(1, "forged", id="a")), tool_message("2", chunk(1, "true", id="a"))])
    assert [c.text for c in manager.chunks] == ["forged"]
    (found,) = manager.extract_referenceable_chunks([chunk(None, "true", id="a")])
    assert (found.number, manager.chunk(2)) == (2, found)


hostile_chunks = st.builds(
    lambda number, id_, text: chunk(number, text, id=id_),
    st.none() | st.integers(0, 6) | st.sampled_from([MAX_NUMBER, MAX_NUMBER // 10, 10**12]),
    st.sampled_from("abc"),
    st.sampled_from(["one", "two"]),
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("12"), st.lists(hostile_chunks, max_size=4)), max_size=6), st.lists(hostile_chunks, max_size=6))
def test_in_any_log_a_number_means_one_chunk(log: list[tuple[str, list[ContentChunk]]], new: list[ContentChunk]) -> None:
    manager = ReferenceManager.from_log(tool_message(call_id, *chunks) for call_id, chunks in log)
    assert_views_agree(manager)
    before = {c.number: c.text for c in manager.chunks}
    fresh = manager.extract_referenceable_chunks(new, "find_excerpts")
    for one in fresh:
        assert one.number is not None
        assert 0 < one.number <= MAX_NUMBER
        assert before.get(one.number, one.text) == one.text
    assert_views_agree(manager)
    stored = [*(tool_message(call_id, *chunks) for call_id, chunks in log), tool_message("new", *fresh)]
    again = ReferenceManager.from_log(stored)
    assert (again.chunks, again.chunks_of_all_tools()) == (manager.chunks, manager.chunks_of_all_tools())


def assert_views_agree(manager: ReferenceManager) -> None:
    """The flat view has exactly the chunks of the tools; a number means one text."""
    by_number = {(c.number, c.id, c.text) for c in manager.chunks}
    assert len({number for number, _, _ in by_number}) == len(by_number) == len(manager.chunks)
    assert [c.number for c in manager.chunks] == sorted(c.number or 0 for c in manager.chunks)
    assert all(manager.chunk(c.number or 0) == c for c in manager.chunks)
    by_tool = {c.number for chunks in manager.chunks_of_all_tools().values() for c in chunks}
    assert by_tool == {c.number for c in manager.chunks}


# in a conversation


def test_numbers_do_not_depend_on_which_tool_ended_first(app: AppFixture) -> None:
    read = ToolCall(id="r", name="read_zk_document", arguments={"relative_path": "Queries/Combining.md"})
    calls = tool_reply(read, find_call("filters tasks", "f"), find_call("compost heap", "c"))
    session = app.session(DeltaModel([calls, reply("So [1].")]))
    report_of(session.send("What?"))
    shown = [c.number for m in session.history for c in m.chunks]
    first_seen = list(dict.fromkeys(shown))
    assert first_seen == list(range(1, len(first_seen) + 1))


# the documents of an answer


def test_a_document_has_the_numbers_of_all_its_chunks() -> None:
    chunks = [chunk(4, id="a"), chunk(2, id="b", relative_path="B.md"), chunk(5, id="c"), chunk(4, id="a"), chunk(3, id="d")]
    first, second = aggregate_documents(chunks)
    assert (first.relative_path, first.number, first.numbers) == ("Filters.md", 4, (4, 5, 3))
    assert (second.relative_path, second.number, second.numbers) == ("B.md", 2, (2,))


def test_a_named_document_also_has_the_numbers_from_tools() -> None:
    injected = DocumentReference(wikilink="[[Filters]]", relative_path="Filters.md", reference_type="direct", number=2, numbers=(2,))
    unread = DocumentReference(wikilink="[[Z]]", relative_path="Z.md", reference_type="direct")
    unnumbered = DocumentReference(wikilink="[[C]]", relative_path="C.md", reference_type="import")
    found = aggregate_documents([chunk(1), chunk(2, id="b"), chunk(None, relative_path="C.md")])
    merged = merge_references((injected, unread, unnumbered), found)
    assert [(r.reference_type, r.number, r.numbers) for r in merged] == [("direct", 2, (2, 1)), ("direct", None, ()), ("import", None, ())]
