"""The ReferenceManager: one numbering for a whole conversation."""

from collections.abc import Sequence
from contextlib import closing

import pytest
from conftest import Program
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

from zkchat_cli.app.stores import open_store_to_read
from zkchat_cli.models.messages import ToolCall, ZkChatMessage
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.references.documents import aggregate_documents, merge_references
from zkchat_cli.references.manager import (
    MAX_NUMBER,
    QUESTION,
    ReferenceManager,
    ToolCallResponse,
    ToolChunks,
)


def unnumbered(*ids: str, **more: object) -> list[ContentChunk]:
    return [chunk(None, f"text of {id_}", id=id_, **more) for id_ in ids]


def chunks_of(manager: ReferenceManager) -> list[ContentChunk]:
    return [found for number in manager.numbers if (found := manager.chunk(number))]


def extract(
    manager: ReferenceManager, *chunks: ContentChunk, call: str = "new"
) -> tuple[ContentChunk, ...]:
    """Number the chunks of one call."""
    (extracted,) = manager.extract_referenceable_chunks(
        [ToolCallResponse(call, "find_excerpts", chunks)]
    )
    return extracted.chunks


def names(chunks: Sequence[ContentChunk]) -> list[str]:
    """Chunks as `1a`: number and id."""
    return [f"{c.number}{c.id}" for c in chunks]


# chunks


def test_an_edited_text_gets_a_new_number_even_under_the_same_id() -> None:
    manager = ReferenceManager()
    extract(manager, chunk(None, "before", id="a"))
    (edited,) = extract(manager, chunk(None, "after", id="a"))
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
    assert names(extract(manager, *unnumbered("c", "d"))) == ["3c", "4d"]


def test_an_import_cannot_change_the_text_of_a_number() -> None:
    manager = ReferenceManager.from_log(
        [tool_message("1", chunk(1, "forged", id="a")), tool_message("2", chunk(1, "true", id="a"))]
    )
    assert [c.text for c in chunks_of(manager)] == ["forged"]
    (found,) = extract(manager, chunk(None, "true", id="a"))
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
    fresh = extract(manager, *new)
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


# by call, and the latest references


def test_chunks_are_found_by_the_call_that_found_them() -> None:
    manager = ReferenceManager()
    extract(manager, *unnumbered("a", "b"), call="one")
    extract(manager, *unnumbered("b", "c"), call="two")
    assert names(manager.get_chunks_of_tool("one")) == ["1a", "2b"]
    assert list(map(names, manager.get_chunks_of_all_tools())) == [["1a", "2b"], ["2b", "3c"]]
    assert names(manager.get_chunks()) == ["1a", "2b", "2b", "3c"]
    assert {name for name, _ in manager.get_tool_chunks().values()} == {"find_excerpts"}
    assert manager.get_chunks_of_tool("none") == []


def test_a_second_response_of_a_call_adds_to_its_chunks() -> None:
    manager = ReferenceManager()
    extract(manager, *unnumbered("a", "b"), call="one")
    extract(manager, *unnumbered("b", "c"), call="one")
    assert names(manager.get_chunks_of_tool("one")) == ["1a", "2b", "3c"]


def test_a_replaced_chunk_is_gone_and_its_number_means_nothing_else() -> None:
    manager = ReferenceManager()
    extract(manager, *unnumbered("a", "b"), call="one")
    assert names(manager.replace_chunks_of_tool("one", unnumbered("b", "c"))) == ["2b", "3c"]
    assert manager.chunk(1) is None
    assert names(manager.get_chunks()) == ["2b", "3c"]
    assert names(extract(manager, *unnumbered("a"), call="two")) == ["1a"]


def test_a_chunk_that_another_call_has_stays() -> None:
    manager = ReferenceManager()
    extract(manager, *unnumbered("a"), call="one")
    extract(manager, *unnumbered("a"), call="two")
    manager.replace_chunks_of_tool("one", ())
    assert names(chunks_of(manager)) == ["1a"]
    assert manager.get_tool_chunks().keys() == {"two"}


def test_replacing_all_chunks_keeps_their_calls() -> None:
    manager = ReferenceManager()
    extract(manager, *unnumbered("a", "b"), call="one")
    extract(manager, *unnumbered("b", "c"), call="two")
    manager.replace([chunk(None, "shorter", id="b"), chunk(None, id="x")])
    assert {call: names(found.chunks) for call, found in manager.get_tool_chunks().items()} == {
        "one": ["4b"],
        "two": ["4b"],
        "": ["5x"],
    }


def named(path: str, *numbers: int) -> DocumentReference:
    return DocumentReference(
        wikilink="[[X]]", relative_path=path, reference_type="search", numbers=numbers
    )


def test_the_latest_references_are_those_of_the_last_answer_with_their_chunks() -> None:
    manager = ReferenceManager()
    assert manager.get_latest_references() == []
    assert manager.get_latest_referenced_chunks() == []
    extract(manager, *unnumbered("a", "b", "c"))
    manager.add_references([named("A.md", 1)])
    manager.add_references([named("B.md", 3, 2), named("C.md", 2, 77)])
    assert [len(each) for each in manager.get_references()] == [1, 2]
    assert [each.relative_path for each in manager.get_latest_references()] == ["B.md", "C.md"]
    assert names(manager.get_latest_referenced_chunks()) == ["3c", "2b"]


free_chunks = st.lists(
    st.builds(
        lambda id_, text: chunk(None, text, id=id_),
        st.sampled_from("abcd"),
        st.sampled_from(["one", "two"]),
    ),
    max_size=4,
)
operations = st.lists(
    st.tuples(
        st.sampled_from(["extract", "replace_call", "replace"]), st.sampled_from("12")
    ).flatmap(lambda chosen: st.tuples(st.just(chosen), free_chunks)),
    max_size=12,
)


@given(operations)
def test_both_views_stay_equal_in_any_order_of_changes(
    changes: list[tuple[tuple[str, str], list[ContentChunk]]],
) -> None:
    manager = ReferenceManager()
    meanings: dict[int, tuple[str, str]] = {}
    for (operation, call), chunks in changes:
        if operation == "extract":
            extract(manager, *chunks, call=call)
        elif operation == "replace_call":
            manager.replace_chunks_of_tool(call, chunks)
            wanted = {(c.id, c.text) for c in chunks}
            assert {(c.id, c.text) for c in manager.get_chunks_of_tool(call)} == wanted
        else:
            manager.replace(chunks)
            wanted = {(c.id, c.text) for c in chunks}
            assert {(c.id, c.text) for c in manager.get_chunks()} == wanted
        flat = [c for own in manager.get_chunks_of_all_tools() for c in own]
        assert manager.get_chunks() == flat
        by_call = [
            c for call in manager.get_tool_chunks() for c in manager.get_chunks_of_tool(call)
        ]
        assert by_call == flat
        assert {c.number for c in flat} == set(manager.numbers)
        for one in flat:
            # No number ever means another text
            assert meanings.setdefault(one.number or 0, (one.id, one.text)) == (one.id, one.text)
        assert_a_number_means_one_text(manager)
    stored = [
        tool_message(call, *found.chunks, tool=found.name)
        for call, found in manager.get_tool_chunks().items()
    ]
    read = ReferenceManager.from_log(stored)
    assert read.get_chunks() == manager.get_chunks()


# in a conversation


def test_another_process_reads_the_same_calls_and_references(zkchat: Program) -> None:
    asked = zkchat("ask", "What of [[Filters]]?", "--json").json
    file = next(zkchat.home.rglob("conversations.db"))
    id_ = asked["conversation_id"]
    with closing(open_store_to_read(file)) as store:
        manager = ReferenceManager.from_log(store.log(id_), store.history(id_))
    read = {call: [c.number for c in own.chunks] for call, own in manager.get_tool_chunks().items()}
    assert read
    assert [each.relative_path for each in manager.get_latest_references()] == [
        each["relative_path"] for each in asked["references"]
    ]
    assert manager.get_latest_referenced_chunks()


def test_a_session_and_its_reload_have_the_same_calls_and_references(app: AppFixture) -> None:
    calls = tool_reply(find_call("filters tasks", "f"), find_call("compost heap", "c"))
    session = app.session(DeltaModel([calls, reply("So [1].")]))
    report_of(session.send("What of [[Filters]]?"))
    live = session.state.references
    names_of_calls = {own.name for own in live.get_tool_chunks().values()}
    assert names_of_calls == {QUESTION, "find_excerpts"}
    again = ReferenceManager.from_log(session.state.log(), session.history)
    assert again.get_tool_chunks() == live.get_tool_chunks()
    assert isinstance(next(iter(again.get_tool_chunks().values())), ToolChunks)
    assert again.get_latest_references() == live.get_latest_references()
    assert live.get_latest_referenced_chunks()


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
