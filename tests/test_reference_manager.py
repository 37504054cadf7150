"""The ReferenceManager: one numbering for a whole conversation."""

from collections.abc import Sequence

import pytest
from factories import (
    AppFixture,
    DeltaModel,
    chunk,
    find_call,
    message,
    reply,
    report_of,
    tool_reply,
)
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.models.messages import ToolCall, ZkChatMessage
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.references.documents import aggregate_documents, merge_references
from zkchat_cli.references.manager import MAX_NUMBER, ReferenceManager


def unnumbered(*ids: str, **more: object) -> list[ContentChunk]:
    return [chunk(None, f"text of {id_}", id=id_, **more) for id_ in ids]


def chunks_of(manager: ReferenceManager) -> list[ContentChunk]:
    return [found for number in manager.numbers if (found := manager.chunk(number))]


def names(chunks: Sequence[ContentChunk]) -> list[str]:
    """Chunks as `1a`: number and id."""
    return [f"{c.number}{c.id}" for c in chunks]


# chunks


def test_an_edited_text_gets_a_new_number_even_under_the_same_id() -> None:
    manager = ReferenceManager()
    manager.extract_referenceable_chunks([chunk(None, "before", id="a")])
    (edited,) = manager.extract_referenceable_chunks([chunk(None, "after", id="a")])
    assert edited.number == 2
    assert [c.text for c in chunks_of(manager)] == ["before", "after"]


# from the log


def tool_message(call_id: str, *chunks: ContentChunk, tool: str = "find_excerpts") -> ZkChatMessage:
    return message("tool", "", f"r-{call_id}", tool_call_id=call_id, tool_name=tool, chunks=chunks)


@pytest.mark.parametrize("number", [MAX_NUMBER, MAX_NUMBER // 10 + 1])
def test_numbering_never_continues_from_a_huge_number(number: int) -> None:
    manager = ReferenceManager.from_log(
        [tool_message("1", chunk(number, id="a"), chunk(2, id="b"))]
    )
    assert names(chunks_of(manager)) == ["2b", f"{number}a"]
    assert names(manager.extract_referenceable_chunks(unnumbered("c", "d"))) == ["3c", "4d"]


def test_an_import_cannot_change_the_text_of_a_number() -> None:
    manager = ReferenceManager.from_log(
        [tool_message("1", chunk(1, "forged", id="a")), tool_message("2", chunk(1, "true", id="a"))]
    )
    assert [c.text for c in chunks_of(manager)] == ["forged"]
    (found,) = manager.extract_referenceable_chunks([chunk(None, "true", id="a")])
    assert (found.number, manager.chunk(2)) == (2, found)


hostile_chunks = st.builds(
    lambda number, id_, text: chunk(number, text, id=id_),
    st.none() | st.integers(0, 6) | st.sampled_from([MAX_NUMBER, MAX_NUMBER // 10, 10**12]),
    st.sampled_from("abc"),
    st.sampled_from(["one", "two"]),
)


@given(
    st.lists(st.tuples(st.sampled_from("12"), st.lists(hostile_chunks, max_size=4)), max_size=6),
    st.lists(hostile_chunks, max_size=6),
)
def test_in_any_log_a_number_means_one_chunk(
    log: list[tuple[str, list[ContentChunk]]], new: list[ContentChunk]
) -> None:
    manager = ReferenceManager.from_log(tool_message(call_id, *chunks) for call_id, chunks in log)
    assert_a_number_means_one_text(manager)
    before = {c.number: c.text for c in chunks_of(manager)}
    fresh = manager.extract_referenceable_chunks(new)
    for one in fresh:
        assert one.number is not None
        assert 0 < one.number <= MAX_NUMBER
        assert before.get(one.number, one.text) == one.text
    assert_a_number_means_one_text(manager)
    stored = [
        *(tool_message(call_id, *chunks) for call_id, chunks in log),
        tool_message("new", *fresh),
    ]
    assert chunks_of(ReferenceManager.from_log(stored)) == chunks_of(manager)


def assert_a_number_means_one_text(manager: ReferenceManager) -> None:
    known = chunks_of(manager)
    assert [c.number for c in known] == sorted({c.number or 0 for c in known})
    assert len({(c.number, c.id, c.text) for c in known}) == len(known)


# in a conversation


def test_numbers_do_not_depend_on_which_tool_ended_first(app: AppFixture) -> None:
    read = ToolCall(
        id="r", name="read_zk_document", arguments={"relative_path": "Queries/Combining.md"}
    )
    calls = tool_reply(read, find_call("filters tasks", "f"), find_call("compost heap", "c"))
    session = app.session(DeltaModel([calls, reply("So [1].")]))
    report_of(session.send("What?"))
    shown = [c.number for m in session.history for c in m.chunks]
    first_seen = list(dict.fromkeys(shown))
    assert first_seen == list(range(1, len(first_seen) + 1))


# the documents of an answer


def test_a_document_has_the_numbers_of_all_its_chunks() -> None:
    chunks = [
        chunk(4, id="a"),
        chunk(2, id="b", relative_path="B.md"),
        chunk(5, id="c"),
        chunk(4, id="a"),
        chunk(3, id="d"),
    ]
    first, second = aggregate_documents(chunks)
    assert (first.relative_path, first.number, first.numbers) == ("Filters.md", 4, (4, 5, 3))
    assert (second.relative_path, second.number, second.numbers) == ("B.md", 2, (2,))


def test_a_named_document_also_has_the_numbers_from_tools() -> None:
    injected = DocumentReference(
        wikilink="[[Filters]]",
        relative_path="Filters.md",
        reference_type="direct",
        number=2,
        numbers=(2,),
    )
    unread = DocumentReference(wikilink="[[Z]]", relative_path="Z.md", reference_type="direct")
    unnumbered = DocumentReference(wikilink="[[C]]", relative_path="C.md", reference_type="import")
    found = aggregate_documents([chunk(1), chunk(2, id="b"), chunk(None, relative_path="C.md")])
    merged = merge_references((injected, unread, unnumbered), found)
    assert [(r.reference_type, r.number, r.numbers) for r in merged] == [
        ("direct", 2, (2, 1)),
        ("direct", None, ()),
        ("import", None, ()),
    ]
