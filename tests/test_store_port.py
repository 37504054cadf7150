"""The contract of a store: what every implementation of the ports in `store/port.py` has to do.

It runs against the ones in SQLite, on PostgreSQL and in `memory_store.py`. A new implementation is
one more entry of `STORES`.
"""

import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from factories import NOON, make_compaction, make_usage, message, store_conversation
from memory_store import MemoryFacts, MemoryPrompts, MemoryStore, MemoryVectors
from store_contents import contents

from zkchat_cli.errors import ConversationExists, StoreError
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.facts import Fact
from zkchat_cli.models.messages import TokenUsage, ZkChatMessage
from zkchat_cli.models.notes import NoteUsage
from zkchat_cli.models.prompts import Calibration, Prompt, PromptMessage, PromptTool, SentPrompt
from zkchat_cli.store import port
from zkchat_cli.store.outbox import Outbox
from zkchat_cli.store.outbox_parts import OutboxFacts, OutboxPrompts, OutboxVectors
from zkchat_cli.store.outbox_store import OutboxStore
from zkchat_cli.store.postgres.facts import PostgresFactStore
from zkchat_cli.store.postgres.passage_vectors import PostgresPassageVectors
from zkchat_cli.store.postgres.postgres_store import PostgresStore
from zkchat_cli.store.postgres.sent_prompts import PostgresPromptArchive
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.store.sqlite.facts import SqliteFactStore
from zkchat_cli.store.sqlite.passage_vectors import SqlitePassageVectors
from zkchat_cli.store.sqlite.sent_prompts import SqlitePromptArchive

ONE = "2025-05-02T13:00:00Z"
TWO = "2025-05-02T14:00:00Z"
PRINT_CONTENTS = Path(__file__).with_name("store_contents.py")


def open_postgres(request: pytest.FixtureRequest) -> PostgresStore:
    server = request.getfixturevalue("postgres")
    return PostgresStore.open(server.address(user=server.new_user()))


def open_outbox(request: pytest.FixtureRequest) -> OutboxStore:
    server = request.getfixturevalue("postgres")
    address = server.address(user=server.new_user())
    outbox = Outbox(request.getfixturevalue("tmp_path") / "outbox", ChatSessionStore.open)
    return OutboxStore(lambda: PostgresStore.open(address), outbox)


STORES: dict[str, Callable[[pytest.FixtureRequest], port.SessionStore]] = {
    "SQLite": lambda request: ChatSessionStore.open(
        request.getfixturevalue("tmp_path") / "store.db"
    ),
    "PostgreSQL": open_postgres,
    "PostgreSQL with an outbox": open_outbox,
    "memory": lambda _: MemoryStore(),
}
IMPLEMENTATIONS = {
    port.SessionStore: (ChatSessionStore, PostgresStore, OutboxStore, MemoryStore),
    port.FactStore: (SqliteFactStore, PostgresFactStore, OutboxFacts, MemoryFacts),
    port.PromptArchive: (SqlitePromptArchive, PostgresPromptArchive, OutboxPrompts, MemoryPrompts),
    port.PassageVectors: (
        SqlitePassageVectors,
        PostgresPassageVectors,
        OutboxVectors,
        MemoryVectors,
    ),
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> Iterator[port.SessionStore]:
    opened = STORES[request.param](request)
    yield opened
    opened.close()


def conversation(id_: str = "c1", vault: str = "/notes", **more: object) -> Conversation:
    times = {"created_at": NOON, "updated_at": NOON}
    return Conversation.model_validate({"id": id_, "vault": vault, **times, **more})


def said(id_: str, parent: str | None = None, text: str = "", **more: Any) -> ZkChatMessage:
    """A question, or an answer if its id begins with `a`."""
    role = "assistant" if id_.startswith("a") else "user"
    return message(role, text or f"text of {id_}", id_, parent_id=parent, **more)


def store_turns(store: port.SessionStore, id_: str = "c1", prefix: str = "") -> None:
    """Two questions with their answers."""
    q1, a1, q2, a2 = (f"{name}{prefix}" for name in ("q1", "a1", "q2", "a2"))
    turns = (said(q1), said(a1, q1), said(q2, a1), said(a2, q2))
    store_conversation(store, id_, *turns)  # type: ignore[arg-type]


def ids(messages: tuple[ZkChatMessage, ...]) -> list[str]:
    return [each.id for each in messages]


def fact(key: str, content: str, **more: Any) -> Fact:
    return Fact(**{"key": key, "content": content, "source": "user", "created_at": NOON, **more})


def sent_prompt(question_id: str, *sources: ZkChatMessage, call: int = 1) -> SentPrompt:
    system = PromptMessage(role="system", content="Answer.", tokens=3, kind="system")
    quoted = [
        PromptMessage(
            role=each.role,
            content=each.content,
            tokens=5,
            kind="conversation",
            source_ids=(each.id,),
        )
        for each in sources
    ]
    tool = PromptTool(name="find", descriptor={"function": {"name": "find"}}, tokens=9)
    return SentPrompt(
        question_id=question_id,
        call=call,
        model="m",
        usage=TokenUsage(prompt_tokens=20, completion_tokens=2),
        prompt=Prompt(
            messages=(system, *quoted), tools=(tool,), usage=make_usage(10), strategy="hybrid"
        ),
    )


# conversations


def test_a_started_conversation_is_found_by_its_id_and_its_beginning(
    store: port.SessionStore,
) -> None:
    store.start(conversation("abc", title="The roof"))
    store.start(conversation("abd"))
    assert store.conversation("abc").title == "The roof"
    assert store.find("abd", None).id == store.find("abd", "/other").id == "abd"
    assert store.find("abc", None).id == "abc"
    with pytest.raises(StoreError, match="'ab' is the beginning of 2 conversations"):
        store.find("ab", None)
    for prefix in ("x", ""):
        with pytest.raises(StoreError):
            store.find(prefix, None)


def test_an_id_that_is_a_beginning_of_another_is_that_conversation(
    store: port.SessionStore,
) -> None:
    store.start(conversation("ab"))
    store.start(conversation("abc"))
    assert store.find("ab", None).id == "ab"


def test_an_unknown_id_is_an_error_with_a_next_step(store: port.SessionStore) -> None:
    store.start(conversation("known"))
    acts: list[Callable[[], object]] = [
        lambda: store.conversation("gone"),
        lambda: store.log("gone"),
        lambda: store.history("gone"),
        lambda: store.history("gone", 1),
        lambda: store.archive("gone"),
        lambda: store.update("gone", title="title"),
        lambda: store.move_head("gone", None),
        lambda: store.add("gone", said("q1")),
        lambda: store.mark("gone", [said("q1")]),
        lambda: store.delete("known", "gone"),
    ]
    for act in acts:
        with pytest.raises(StoreError, match="there is no conversation gone") as e:
            act()
        assert "known" in e.value.hint
    assert store.conversation("known").id == "known"


def test_an_id_is_used_once(store: port.SessionStore) -> None:
    store.start(conversation("c1"))
    with pytest.raises(ConversationExists):
        store.start(conversation("c1", vault="/other"))
    assert store.conversation("c1").vault == "/notes"


def test_conversations_are_listed_by_the_instant_of_their_last_change(
    store: port.SessionStore,
) -> None:
    store.start(conversation("early", updated_at="2025-05-02T15:00:00+09:00"))
    store.start(conversation("late", updated_at="2025-05-02T12:00:00Z"))
    store.start(conversation("other", "/other", updated_at="2025-05-02T11:00:00Z"))
    store.start(conversation("same", updated_at="2025-05-02T12:00:00Z"))
    assert [each.id for each in store.conversations()] == ["same", "late", "other", "early"]
    assert [each.id for each in store.conversations("/notes", 2)] == ["same", "late"]
    assert store.conversations("/nowhere") == []
    assert store.find(None, "/other").id == "other"
    assert store.find(None, None).id == "same"
    with pytest.raises(StoreError, match="yet"):
        store.find(None, "/nowhere")


def test_an_overview_has_the_figures_of_the_log(store: port.SessionStore) -> None:
    store.start(conversation())
    store.add("c1", said("q1", text="  \nWhat is one?\nAnd two?", token_count=7))
    call = {"id": "1", "name": "find", "arguments": {}}
    store.add("c1", said("a1", "q1", tool_calls=[call], token_count=2))
    store.add("c1", message("tool", "found", "t1", parent_id="a1", tool_call_id="1"))
    store.add("c1", said("a2", "t1", token_count=4))
    [overview] = store.conversations()
    assert (overview.messages, overview.first_line, overview.tokens) == (2, "What is one?", 13)
    assert store.conversation("c1") == overview


def test_a_title_is_changed(store: port.SessionStore) -> None:
    store.start(conversation())
    store.update("c1", title="The roof")
    assert store.conversation("c1").title == "The roof"


def test_the_documents_of_a_conversation_are_kept_in_their_order(store: port.SessionStore) -> None:
    store.start(conversation(documents=("b.md",)))
    assert store.conversation("c1").documents == ("b.md",)
    documents = ('Sub/a "b".md', "/home/me/plan.txt")
    store.update("c1", documents=documents)
    assert store.find("c", None).documents == documents
    assert store.archive("c1").conversation.documents == documents
    store.update("c1", title="The roof")
    assert store.conversations()[0].documents == documents
    store.update("c1", documents=())
    assert store.conversation("c1").documents == ()


def test_a_deleted_conversation_is_gone_and_its_facts_stay(store: port.SessionStore) -> None:
    store_turns(store)
    store_turns(store, "c2", "x")
    store.facts.remember("/notes", fact("k", "v", conversation_id="c1", message_id="q1"))
    store.compact("c1", make_compaction("So far", "a1"))
    store.delete("c1", "c1")
    assert [each.id for each in store.conversations()] == ["c2"]
    assert store.search(None, "text") == store.search(None, "text", conversation_id="c2")
    [kept] = store.facts.current("/notes")
    assert (kept.content, kept.conversation_id, kept.message_id) == ("v", None, None)
    store_turns(store)
    assert store.compactions("c1") == ()


# the log


def test_a_message_is_appended_and_becomes_the_head(store: port.SessionStore) -> None:
    store.start(conversation())
    assert store.add("c1", said("q1", timestamp=ONE)) is None
    assert store.add("c1", said("a1", "q1")) == "q1"
    assert store.log("c1") == (said("q1", timestamp=ONE), said("a1", "q1"))
    assert store.conversation("c1").head_id == "a1"
    assert store.conversation("c1").updated_at == NOON


def test_a_pending_parent_was_given_up(store: port.SessionStore) -> None:
    store.start(conversation())
    store.add("c1", said("q1", status="pending"))
    store.add("c1", said("q2", "q1", status="pending"))
    assert [each.status for each in store.log("c1")] == ["unfinished", "pending"]


def test_branches_share_a_log(store: port.SessionStore) -> None:
    store_turns(store)
    store.move_head("c1", "a1")
    assert ids(store.history("c1")) == ["q1", "a1"]
    assert store.add("c1", said("q3", "a1")) == "a1"
    assert ids(store.history("c1")) == ["q1", "a1", "q3"]
    assert ids(store.log("c1")) == ["q1", "a1", "q2", "a2", "q3"]
    store.move_head("c1", None)
    assert (store.history("c1"), store.conversation("c1").head_id) == ((), None)


@pytest.mark.parametrize(
    ("head", "count", "expected"),
    [
        ("a2", 3, ["a1", "q2", "a2"]),
        ("a2", 9, ["q1", "a1", "q2", "a2"]),
        ("a1", 2, ["q1", "a1"]),
        ("a1", 1, ["a1"]),
    ],
)
def test_the_latest_messages_are_those_of_the_current_branch(
    store: port.SessionStore, head: str, count: int, expected: list[str]
) -> None:
    store_turns(store)
    store.move_head("c1", head)
    assert ids(store.history("c1", last=count)) == expected


def test_a_question_keeps_its_words_when_its_turn_ends(store: port.SessionStore) -> None:
    store.start(conversation())
    store.add("c1", said("q1", status="pending"))
    store.commit("c1", said("q1", text="other words"), [], updated_at=ONE)
    [question] = store.history("c1")
    assert (question.content, question.status) == ("text of q1", "complete")


def test_nothing_refers_to_another_conversation(store: port.SessionStore) -> None:
    store_turns(store)
    store.start(conversation("c2"))
    acts: list[Callable[[], object]] = [
        lambda: store.add("c2", said("q9", "a1")),
        lambda: store.add("c2", said("q1")),
        lambda: store.add("c1", said("q1")),
        lambda: store.commit("c1", said("q9"), [], updated_at=ONE),
        lambda: store.move_head("c2", "a1"),
        lambda: store.compact("c2", make_compaction("So far", "a1")),
        lambda: store.mark("c2", [said("q1", pinned=True)]),
        lambda: store.commit("c2", said("q1"), [], updated_at=ONE),
    ]
    for act in acts:
        with pytest.raises(StoreError) as e:
            act()
        assert e.value.hint
    assert store.log("c2") == () and len(store.log("c1")) == 4
    assert store.conversation("c2").updated_at == NOON


def test_a_turn_ends_with_its_answer_title_prompts_and_figures(store: port.SessionStore) -> None:
    store.start(conversation())
    store.facts.remember("/notes", fact("k", "v"))
    store.add("c1", said("q1", status="pending"))
    store.commit(
        "c1",
        said("q1", token_count=8, status="complete"),
        [said("a1", "q1"), said("a2", "a1")],
        updated_at=ONE,
        title="First",
        sent=[sent_prompt("q1", said("q1"))],
        calibrations={"m": Calibration(text=1.2, calls=3, tools=0.9)},
        facts_used=["k", "unknown"],
    )
    assert ids(store.history("c1")) == ["q1", "a1", "a2"]
    [question, *_] = store.log("c1")
    assert (question.status, question.token_count) == ("complete", 8)
    overview = store.conversation("c1")
    assert (overview.title, overview.updated_at, overview.tokens) == ("First", ONE, 8)
    assert store.prompts.calibration("m") == Calibration(text=1.2, calls=3, tools=0.9)
    assert len(store.prompts.sent_for("q1")) == 1
    assert [each.last_accessed for each in store.facts.current("/notes")] == [ONE]
    store.commit("c1", said("q1", status="failed"), [], updated_at=TWO, title="Second")
    assert store.conversation("c1").title == "First"
    assert ids(store.history("c1")) == ["q1"]


def test_a_turn_is_stored_whole_or_not_at_all(store: port.SessionStore) -> None:
    store_turns(store)
    store.add("c1", said("q3", "a2", status="pending"))
    before = contents(store)
    for wrong in (said("a4", "nowhere"), said("a3", "q3"), said("q1")):
        with pytest.raises(StoreError):
            store.commit(
                "c1",
                said("q3", "a2", status="complete"),
                [said("a3", "q3"), wrong],
                updated_at=ONE,
                title="New",
                calibrations={"m": Calibration(text=2.0)},
            )
    assert contents(store) == before
    assert store.prompts.calibration("m") == Calibration()


def test_marks_change_no_word(store: port.SessionStore) -> None:
    store_turns(store)
    other = said("q1", text="other words", pinned=True, status="failed", timestamp=TWO)
    store.mark("c1", [other, said("a1", "q1", pinned=True)])
    question, answer, *_ = store.log("c1")
    assert question == said("q1", pinned=True) and answer.pinned
    with pytest.raises(StoreError, match="The message gone is not in conversation c1"):
        store.mark("c1", [said("q2", "a1", pinned=True), said("gone", pinned=True)])
    assert not store.log("c1")[2].pinned


def test_search_finds_words_in_other_forms_where_it_is_asked_to(store: port.SessionStore) -> None:
    store.start(conversation("c1", title="One"))
    store.start(conversation("c2", "/other"))
    store.add("c1", said("q1", text="Who repaired the roof in spring?"))
    store.add("c1", message("tool", "The roofs were repaired.", "t1", parent_id="q1"))
    store.add("c1", said("a1", "t1", text="Nobody knows it."))
    store.add("c2", said("q2", text="A roof garden"))

    def found(text: str, vault: str | None = None, **more: Any) -> set[str]:
        return {each.message.id for each in store.search(vault, text, **more)}

    assert found("roof") == {"q1", "t1", "q2"}
    assert found("repairing") == {"q1", "t1"}
    assert found("roof", "/notes") == {"q1", "t1"}
    assert found("roof", tool_results=False) == {"q1", "q2"}
    assert found("roof", conversation_id="c2") == {"q2"}
    assert found("roof", limit=1) < {"q1", "t1", "q2"} and len(found("roof", limit=1)) == 1
    assert found("roof", limit=0) == found("chimney") == found("") == set()
    [best, *_] = store.search(None, "in spring")
    assert (best.message.id, best.conversation_id, best.title) == ("q1", "c1", "One")
    store.add("c1", said("q3", "a1", text="The roof again"))
    assert "q3" in found("roof")


# archives


def test_an_archive_is_restored_elsewhere_as_it_was(
    store: port.SessionStore, tmp_path: Path
) -> None:
    store_turns(store)
    store.move_head("c1", "a1")
    store.compact("c1", make_compaction("So far", "a1", id="s1"))
    store.compact("c1", make_compaction("So far so good", "a1", id="s2"))
    store.undo_compaction("c1", "s1")
    sent = [sent_prompt("q2", said("q1"), said("a1", "q1"), call=n) for n in (1, 2)]
    store.commit("c1", said("q2", "a1"), [said("a5", "q2")], updated_at=ONE, sent=sent)
    archive = store.archive("c1", prompts=True)
    assert [each.id for each in archive.compactions] == ["s1", "s2"]
    assert archive.prompts is not None and len(archive.prompts.messages) == 3
    assert [each.id for each in store.archive("c1").compactions] == ["s2"]
    assert store.archive("c1").prompts is None
    for other in (ChatSessionStore.open(None), MemoryStore()):
        assert other.restore([archive]) == [5]
        assert contents(other) == contents(store)
        assert other.restore([archive]) == [0]
        assert contents(other) == contents(store)
        other.close()


def test_a_longer_archive_adds_what_is_new(store: port.SessionStore) -> None:
    store_turns(store)
    older = store.archive("c1")
    store.add("c1", said("q3", "a2"))
    newer = store.archive("c1")
    other = MemoryStore() if isinstance(store, MemoryStore) else ChatSessionStore.open(None)
    assert other.restore([older]) == [4]
    assert other.restore([newer]) == [1]
    assert other.conversation("c1").head_id == "q3"
    other.add("c1", said("q4", "a2"))
    store.add("c1", said("a3", "q3"))
    assert other.restore([store.archive("c1")]) == [1]
    assert other.conversation("c1").head_id == "q4", "it was continued there"
    other.close()


def test_archives_are_restored_all_or_none(store: port.SessionStore) -> None:
    good = MemoryStore()
    store_turns(good)
    store_turns(good, "c2", "x")
    foreign = good.archive("c2")
    moved = foreign.conversation.model_copy(update={"vault": "/elsewhere"})
    store.restore([foreign])
    with pytest.raises(StoreError, match="was imported with other notes: /notes"):
        store.restore([good.archive("c1"), foreign.model_copy(update={"conversation": moved})])
    assert [each.id for each in store.conversations()] == ["c2"]
    broken = good.archive("c1").model_copy(update={"messages": (said("q2", "a1"), said("q1"))})
    with pytest.raises(StoreError):
        store.restore([broken])
    assert [each.id for each in store.conversations()] == ["c2"]


@pytest.mark.parametrize(
    ("messages", "head", "compactions"),
    [
        ((said("q2", "q1"), said("q1")), None, ()),
        ((said("q1"), said("q1")), None, ()),
        ((said("q1"),), "gone", ()),
        ((said("q1"),), "q1", (make_compaction("So far", "gone"),)),
        ((said("q1"),), "q1", (make_compaction("So far", "q1"),) * 2),
    ],
)
def test_an_inconsistent_archive_is_refused(
    store: port.SessionStore,
    messages: tuple[ZkChatMessage, ...],
    head: str | None,
    compactions: tuple[Compaction, ...],
) -> None:
    talk = conversation().model_copy(update={"head_id": head})
    archive = ConversationArchive(conversation=talk, messages=messages, compactions=compactions)
    with pytest.raises(StoreError, match="it contradicts what is stored"):
        store.restore([archive])
    assert store.conversations() == []
    store.start(conversation())
    with pytest.raises(StoreError, match="it contradicts what is stored"):
        store.restore([archive])
    assert store.log("c1") == ()


# compactions


def test_compactions_are_taken_back_and_kept(store: port.SessionStore) -> None:
    store_turns(store)
    first = make_compaction("First", "a1", id="s1")
    second = make_compaction("Second", "a2", id="s2")
    store.compact("c1", first)
    store.compact("c1", second)
    assert store.compactions("c1") == (first, second)
    assert store.undo_compaction("c1") == second
    assert store.compactions("c1") == (first,)
    assert store.compactions("c1", undone=True) == (
        first,
        second.model_copy(update={"undone": True}),
    )
    assert store.undo_compaction("c1", "s2") is None
    assert store.undo_compaction("c1", "s1") == first
    assert store.undo_compaction("c1") is None
    with pytest.raises(StoreError):
        store.compact("c1", make_compaction("Third", "gone", id="s3"))


def test_a_preview_replaces_the_one_before_and_is_no_compaction(store: port.SessionStore) -> None:
    store_turns(store)
    assert store.preview("c1") is None
    for id_ in ("p1", "p2"):
        store.compact("c1", make_compaction(id_, "a1", id=id_, preview=True))
    assert store.preview("c1") == make_compaction("p2", "a1", id="p2", preview=True)
    assert store.compactions("c1", undone=True) == ()
    assert store.undo_compaction("c1") is None


# facts and notes


def test_a_fact_replaces_the_one_with_its_key(store: port.SessionStore) -> None:
    assert store.facts.remember("/notes", fact("roofer", "Miller")) is None
    store.facts.remember("/notes", fact("colour", "red", agent="critic"))
    replaced = store.facts.remember("/notes", fact("roofer", "Smith", created_at=ONE))
    assert replaced == fact("roofer", "Miller")
    assert store.facts.current("/notes") == (
        fact("roofer", "Smith", created_at=ONE),
        fact("colour", "red", agent="critic"),
    )
    assert store.facts.current("/other") == ()


def test_a_forgotten_fact_is_gone_with_its_history(store: port.SessionStore) -> None:
    store.facts.remember("/notes", fact("roofer", "Miller"))
    store.facts.remember("/notes", fact("roofer", "Smith"))
    store.facts.remember("/other", fact("roofer", "Jones"))
    forgotten = store.facts.forget("/notes", "roofer")
    assert forgotten is not None and forgotten.content == "Smith"
    assert store.facts.forget("/notes", "roofer") is None
    assert store.facts.current("/notes") == ()
    assert [each.content for each in store.facts.current("/other")] == ["Jones"]


def test_a_fact_has_the_title_of_its_conversation(store: port.SessionStore) -> None:
    store.start(conversation(title="The roof"))
    store.facts.remember("/notes", fact("k", "v", conversation_id="c1"))
    assert [each.title for each in store.facts.current("/notes")] == ["The roof"]


def test_uses_of_notes_are_counted(store: port.SessionStore) -> None:
    cited = [{"number": 1, "relative_path": "Roof.md", "valid": True}] * 2
    named = [{"wikilink": "[[Garden]]", "relative_path": "Garden.md", "reference_type": "direct"}]
    recalled = [{"wikilink": "[[Log]]", "relative_path": "Log.md", "reference_type": "memory"}]
    for number in (1, 2):
        id_ = f"c{number}"
        store.start(conversation(id_))
        store.add(id_, said(f"q{number}", references=[*named, *recalled]))
        store.add(id_, said(f"a{number}", f"q{number}", citations=cited))
    store.start(conversation("c3", "/other"))
    store.add("c3", said("q3", references=named))
    roof = NoteUsage(
        relative_path="Roof.md", conversations=2, answers=2, citations=4, last_used=NOON
    )
    garden = NoteUsage(
        relative_path="Garden.md", conversations=2, answers=0, citations=0, last_used=NOON
    )
    assert store.facts.most_used_notes("/notes", 9) == (roof, garden)
    assert store.facts.most_used_notes("/notes", 1) == (roof,)
    assert store.facts.often_cited("/notes") == (roof,)
    assert store.facts.often_cited("/other") == ()


# prompts and calibrations


def test_prompts_are_kept_word_for_word(store: port.SessionStore) -> None:
    long = said("q1", text="a long question " * 40)
    store.start(conversation())
    store.add("c1", long)
    first = sent_prompt("q1", long)
    second = sent_prompt("q1", long, said("a1", "q1"), call=2)
    store.commit("c1", long, [said("a1", "q1")], updated_at=ONE, sent=[first, second])
    assert store.prompts.sent_for("q1") == (first, second)
    assert store.prompts.sent_for("a1") == store.prompts.sent_for("gone") == ()


def test_a_model_without_reports_has_the_usual_calibration(store: port.SessionStore) -> None:
    assert store.prompts.calibration("new") == Calibration()


# vectors


def test_vectors_of_messages_are_stored_and_found(store: port.SessionStore) -> None:
    store_turns(store)
    missing = store.vectors.messages_without("/notes", "e5", None, 3)
    assert [each.message_id for each in missing] == ["a2", "q2", "a1"]
    assert missing[0].content == "text of a2"
    older = store.vectors.messages_without("/notes", "e5", missing[-1].row, 3)
    assert [each.message_id for each in older] == ["q1"]
    store.vectors.add_for_messages("e5", {"a2": b"\1", "gone": b"\2"})
    store.vectors.add_for_messages("e5", {"q1": b"\3"})
    first, second = store.vectors.of_messages("c1", "e5", 0)
    assert [(v.message_id, v.passages) for v in (first, second)] == [("a2", b"\1"), ("q1", b"\3")]
    assert store.vectors.of_messages("c1", "e5", first.row) == [second]
    assert store.vectors.of_messages("c1", "other", 0) == []
    still = store.vectors.messages_without("/notes", "e5", None, 9)
    assert [each.message_id for each in still] == ["q2", "a1"]
    assert len(store.vectors.messages_without("/notes", "other", None, 9)) == 4
    assert store.vectors.messages_without("/elsewhere", "e5", None, 9) == []
    store.vectors.add_for_messages("other", {"a2": b"\4"})
    assert [each.message_id for each in store.vectors.of_messages("c1", "e5", 0)] == ["q1"]


def test_vectors_of_facts_go_with_their_facts(store: port.SessionStore) -> None:
    store.facts.remember("/notes", fact("one", "first"))
    store.facts.remember("/notes", fact("two", "second"))
    missing = store.vectors.facts_without("/notes", "e5", 9)
    assert [*missing.values()] == ["second", "first"]
    assert [*store.vectors.facts_without("/notes", "e5", 1).values()] == ["second"]
    store.vectors.add_for_facts("e5", dict.fromkeys(missing, b"\1"))
    assert store.vectors.of_facts("/notes", "e5") == {"one": b"\1", "two": b"\1"}
    assert store.vectors.of_facts("/notes", "other") == {}
    store.facts.remember("/notes", fact("two", "another", created_at=ONE))
    assert store.vectors.of_facts("/notes", "e5") == {"one": b"\1"}
    assert [*store.vectors.facts_without("/notes", "e5", 9).values()] == ["another"]
    store.vectors.add_for_facts("e5", dict.fromkeys(missing, b"\2"))
    assert store.vectors.of_facts("/notes", "e5") == {"one": b"\2"}, "the second has ended"


# the store itself


def test_changes_are_noticed(store: port.SessionStore) -> None:
    before = store.changes()
    assert store.changes() == before
    store.start(conversation())
    assert store.changes() != before


def test_a_reopened_store_has_the_same_content(store: port.SessionStore) -> None:
    fill(store)
    again = store.reopen()
    assert contents(again) == contents(store)
    again.close()


def test_threads_share_a_store(store: port.SessionStore) -> None:
    def work(number: int) -> None:
        store.start(conversation(f"c{number}"))
        store.add(f"c{number}", said(f"q{number}"))
        store.facts.remember("/notes", fact(f"k{number}", "v"))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(12)))
    assert len(store.conversations()) == len(store.facts.current("/notes")) == 12


def fill(store: port.SessionStore) -> None:
    """Something of everything."""
    store_turns(store)
    store.compact("c1", make_compaction("So far", "a1", id="s1"))
    store.compact("c1", make_compaction("A preview", "a1", id="p1", preview=True))
    store.commit("c1", said("q2", "a1"), [], updated_at=ONE, sent=[sent_prompt("q2", said("q1"))])
    store.facts.remember("/notes", fact("roofer", "Miller", conversation_id="c1"))
    store.vectors.add_for_messages("e5", {"q1": b"\1\2"})
    numbers = store.vectors.facts_without("/notes", "e5", 9)
    store.vectors.add_for_facts("e5", dict.fromkeys(numbers, b"\3"))


def test_another_process_reads_what_was_stored(tmp_path: Path) -> None:
    store = ChatSessionStore.open(tmp_path / "store.db")
    fill(store)
    changes = store.changes()
    command = [sys.executable, PRINT_CONTENTS, tmp_path / "store.db"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == contents(store)
    assert store.persistent and store.changes().own == changes.own
    other = store.reopen()
    other.update("c1", title="Another title")
    assert store.changes().others != changes.others
    assert store.conversation("c1").title == "Another title"
    other.close()
    store.close()


@pytest.mark.parametrize("protocol", IMPLEMENTATIONS, ids=lambda protocol: protocol.__name__)
def test_implementations_have_the_signatures_of_their_port(protocol: type) -> None:
    names = [name for name in dir(protocol) if not name.startswith("_")]
    for implementation in IMPLEMENTATIONS[protocol]:
        for name in names:
            declared = inspect.getattr_static(protocol, name)
            made = inspect.getattr_static(implementation, name)
            assert made is not declared, f"{implementation.__name__} has no {name}"
            if inspect.isfunction(declared):
                parameters = inspect.signature(declared).parameters
                assert inspect.signature(made).parameters == parameters, name
            assert inspect.getdoc(declared), f"{protocol.__name__}.{name} says nothing"
