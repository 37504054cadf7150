"""The ReferenceManager: one numbering for a whole conversation, chunks by tool, what answers cited."""

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from conftest import NOTES, write_notes
from factories import AppFixture, DeltaModel, chunk, find_call, make_app, message, reply, report_of, tool_reply
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from zkchat_cli.events import ToolCallFinished
from zkchat_cli.llm.base import Delta
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


def test_chunks_are_found_by_number_and_by_tool() -> None:
    manager = make_manager()
    assert names(manager.chunks) == ["1a", "2b", "3c", "4d"]
    assert {tool: names(chunks) for tool, chunks in manager.chunks_of_all_tools().items()} == {
        "find_excerpts": ["1a", "2b", "4d"],
        "read_zk_document": ["3c", "1a"],
    }


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


def read_call(path: str, id_: str) -> ToolCall:
    return ToolCall(id=id_, name="read_zk_document", arguments={"relative_path": path})


ASKED = {
    "compost": find_call("compost heap", "c"),
    "filters": find_call("filters tasks", "f"),
    "limit": find_call("limit", "l"),
    "combining": read_call("Queries/Combining.md", "rc"),
    "reading": read_call("Filters.md", "rf"),
    "nothing": read_call("Nowhere.md", "rn"),
}


class AConversation(RuleBasedStateMachine):
    """Numbers stand for the same words for as long as a conversation lives: through turns, edits, compaction, undo and other processes."""

    def __init__(self) -> None:
        super().__init__()
        self.closing = ExitStack()
        folder = Path(self.closing.enter_context(tempfile.TemporaryDirectory()))
        self.app = make_app(write_notes(folder / "notes", NOTES), folder / "cache", folder / "conversations.db")
        self.closing.callback(self.app.store.close)
        self.closing.callback(self.app.vault.close)
        self.meanings: dict[int, tuple[str, str]] = {}
        self.edits = 0

    @initialize()
    def begin(self) -> None:
        self.session = self.app.session()

    @rule(
        rounds=st.lists(st.lists(st.sampled_from(sorted(ASKED)), min_size=1, max_size=3), min_size=1, max_size=2), cited=st.integers(1, 9)
    )
    def ask(self, rounds: list[list[str]], cited: int) -> None:
        replies: list[list[Delta]] = [tool_reply(*(ASKED[name] for name in names)) for names in rounds]
        self.use(DeltaModel([*replies, reply(f"It is so [{cited}].")]))
        events = list(self.session.send("How is it?"))
        assert sum(isinstance(event, ToolCallFinished) for event in events) == sum(map(len, rounds))

    @rule(note=st.sampled_from(["Garden/Compost.md", "Filters.md"]))
    def edit_a_note(self, note: str) -> None:
        self.edits += 1
        write_notes(self.app.vault.root, {note: f"{NOTES[note]}\nThis line about filters and the compost heap is new: {self.edits}.\n"})
        self.app.vault.refresh()

    @rule()
    def compact(self) -> None:
        self.session.compact(keep=2)

    @rule()
    def undo_a_turn(self) -> None:
        history = self.session.history
        asked = [i for i, m in enumerate(history) if m.role == "user"]
        if len(asked) > 1:
            self.app.store.move_head(self.session.conversation.id, history[asked[-1] - 1].id)
            self.session = self.app.reopen(self.session)

    @rule()
    def resume(self) -> None:
        if self.session.history:
            before = self.session
            self.session = self.app.reopen(before)
            assert self.session.references.chunks == before.references.chunks
            assert self.session.references.chunks_of_all_tools() == before.references.chunks_of_all_tools()
            assert self.session.references.latest_references == before.references.latest_references

    def use(self, model: DeltaModel) -> None:
        conversation = self.app.store.conversation(self.session.conversation.id) if self.session.history else None
        self.session = self.app.session(model, conversation)

    @invariant()
    def a_number_has_one_meaning_and_a_text_one_number(self) -> None:
        if hasattr(self, "session") and self.session.history:
            for message in self.app.store.log(self.session.conversation.id):
                for one in message.chunks:
                    assert one.number is not None
                    assert self.meanings.setdefault(one.number, (one.id, one.text)) == (one.id, one.text)
            assert len(set(self.meanings.values())) == len(self.meanings)
            assert_views_agree(self.session.references)

    def teardown(self) -> None:
        self.closing.close()


TestAConversation = AConversation.TestCase
TestAConversation.settings = settings(
    max_examples=6, stateful_step_count=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def test_numbers_do_not_depend_on_which_tool_ended_first(app: AppFixture) -> None:
    session = app.session(DeltaModel([tool_reply(ASKED["combining"], ASKED["filters"], ASKED["compost"]), reply("So [1].")]))
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
