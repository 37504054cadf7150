"""The store as a session uses it: an append-only log, a tree with a head, compactions that can be
undone.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from factories import NOON, make_compaction, message

from zkchat_cli.errors import StoreError
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

ONE = "2025-05-08T13:00:00+00:00"


def conversation(name: str = "c1", vault: str = "/notes", **more: str) -> Conversation:
    return Conversation(
        **{"id": name, "vault": vault, "created_at": NOON, "updated_at": NOON, **more}
    )


def make_message(
    name: str, parent: str | None = None, role: str = "user", content: str = "", **more: object
) -> ZkChatMessage:
    return message(role, content or f"text of {name}", name, parent_id=parent, **more)


def summary(name: str, last: str) -> Compaction:
    return make_compaction("So far", last, id=name)


def ids(messages: tuple[ZkChatMessage, ...]) -> list[str]:
    return [message.id for message in messages]


def two_turns(store: ChatSessionStore) -> None:
    store.start(conversation())
    for number, parent in (("1", None), ("2", "a1")):
        question = make_message(f"q{number}", parent, status="pending")
        store.add("c1", question)
        store.commit(
            "c1",
            question.model_copy(update={"status": "complete"}),
            [make_message(f"a{number}", f"q{number}", "assistant")],
            updated_at=ONE,
        )


def test_a_stored_message_does_not_change_when_its_turn_ends(store: ChatSessionStore) -> None:
    store.start(conversation())
    store.add("c1", make_message("q1", status="pending"))
    store.commit("c1", make_message("q1", content="other words"), [], updated_at=ONE)
    assert store.history("c1")[0].content == "text of q1"


def nested(levels: int) -> dict[str, object]:
    return {"a": nested(levels - 1)} if levels else {}


def test_deeply_nested_arguments_are_stored_or_refused(store: ChatSessionStore) -> None:
    deep = make_message(
        "a1", role="assistant", tool_calls=[{"id": "t", "name": "find", "arguments": nested(240)}]
    )
    store.start(conversation())
    store.add("c1", deep)
    assert store.history("c1") == (deep,)
    with pytest.raises(StoreError, match="A value cannot be stored"):
        store.add(
            "c1",
            make_message("a2", tool_calls=[{"id": "t", "name": "find", "arguments": nested(300)}]),
        )
    assert store.history("c1") == (deep,)


def test_another_thread_waits_until_a_change_is_stored(store: ChatSessionStore) -> None:
    """Two statements at once on one connection can stop both threads for ever: see
    ChatSessionStore.
    """
    two_turns(store)
    with ThreadPoolExecutor(1) as pool:
        reading: list[Future[tuple[ZkChatMessage, ...]]] = []

        def read_meanwhile() -> Iterator[ZkChatMessage]:
            reading.append(pool.submit(store.log, "c1"))
            with pytest.raises(TimeoutError):
                reading[0].result(0.05)
            yield make_message("q1")

        store.mark("c1", read_meanwhile())
        assert ids(reading[0].result(10)) == ["q1", "a1", "q2", "a2"]


def test_a_unique_beginning_of_an_id_finds_its_conversation_in_any_vault(
    store: ChatSessionStore,
) -> None:
    store.start(conversation("abc1"))
    store.start(conversation("abd2", vault="/elsewhere"))
    assert store.find("abd", "/notes").id == "abd2"
    assert store.find("abc1", None).id == "abc1"


def test_an_ambiguous_beginning_names_the_candidates(store: ChatSessionStore) -> None:
    for number in range(7):
        store.start(conversation(f"abc{number}", title=f"Talk {number}"))
    with pytest.raises(
        StoreError,
        match=(
            r"'abc' is the beginning of 7 conversations: abc6 \(Talk 6, 2025-05-08\), .* and 2 "
            r"more"
        ),
    ):
        store.find("abc", None)


@pytest.mark.parametrize("wrong", ["xyz", "", "a%", "a_c", "\ud800"])
def test_an_unknown_beginning_is_an_error_that_names_the_recent_ones(
    store: ChatSessionStore, wrong: str
) -> None:
    store.start(conversation("abc", title="Filters " * 1000))
    with pytest.raises(StoreError) as e:
        store.find(wrong, None)
    assert e.value.hint.startswith(
        "The most recent ones: abc (Filters Filters "
    ) and e.value.hint.endswith("…, 2025-05-08)")


def test_without_an_id_the_vaults_most_recently_updated_one_is_found(
    store: ChatSessionStore,
) -> None:
    store.start(conversation("old", updated_at="2025-05-08T12:00:00+00:00"))
    store.start(conversation("new", updated_at="2025-05-08T11:30:00-01:00"))
    store.start(conversation("other", vault="/elsewhere", updated_at="2026-01-01T00:00:00Z"))
    assert store.find(None, "/notes").id == "new"
    assert store.find(None, None).id == "other"
    assert [c.id for c in store.conversations("/notes")] == ["new", "old"]
    assert [c.id for c in store.conversations(limit=2)] == ["other", "new"]


def test_an_empty_store_says_how_to_start(store: ChatSessionStore) -> None:
    with pytest.raises(StoreError, match="there is no conversation with /notes yet") as e:
        store.find(None, "/notes")
    assert "zkchat ask" in e.value.hint


def test_the_latest_messages_are_those_of_the_branch_in_use(store: ChatSessionStore) -> None:
    two_turns(store)
    assert ids(store.history("c1", last=3)) == ["a1", "q2", "a2"]
    assert ids(store.history("c1", last=9)) == ["q1", "a1", "q2", "a2"]
    store.move_head("c1", "a1")
    assert ids(store.history("c1", last=2)) == ["q1", "a1"]


def test_a_branch_never_leaves_its_conversation(store: ChatSessionStore) -> None:
    two_turns(store)
    store.start(conversation("c2"))
    for act in (
        lambda: store.add("c2", make_message("x", "a1")),
        lambda: store.move_head("c2", "a1"),
        lambda: store.compact("c2", summary("s", "a1")),
        lambda: store.add("c1", make_message("q1")),
        lambda: store.commit("c1", make_message("not asked"), [], updated_at=NOON),
        lambda: store.start(conversation("c2")),
    ):
        with pytest.raises(StoreError):
            act()
    assert store.log("c2") == () and len(store.log("c1")) == 4


def test_a_turn_is_stored_whole_or_not_at_all(store: ChatSessionStore) -> None:
    two_turns(store)
    question = make_message("q3", "a2", status="pending")
    store.add("c1", question)
    before = store.archive("c1")
    with pytest.raises(StoreError):
        store.commit(
            "c1",
            make_message("q3", "a2"),
            [make_message("a3", "q3", "assistant"), make_message("a4", "nowhere", "assistant")],
            updated_at=ONE,
        )
    assert store.archive("c1") == before


@pytest.mark.parametrize(
    ("messages", "head", "compactions"),
    [
        ((make_message("b", "a"), make_message("a")), None, ()),
        ((make_message("a"), make_message("a")), None, ()),
        ((make_message("a"),), "z", ()),
        ((make_message("a"),), "a", (summary("s", "z"),)),
        ((make_message("a"),), "a", (summary("s", "a"), summary("s", "a"))),
    ],
)
def test_an_inconsistent_archive_is_refused(
    store: ChatSessionStore,
    messages: tuple[ZkChatMessage, ...],
    head: str | None,
    compactions: tuple[Compaction, ...],
) -> None:
    talk = conversation().model_copy(update={"head_id": head})
    archive = ConversationArchive(conversation=talk, messages=messages, compactions=compactions)
    # The second time there is a conversation with the same id
    for _ in range(2):
        with pytest.raises(StoreError, match="it contradicts what is stored"):
            store.restore([archive])
        store.start(conversation()) if not store.conversations() else None
    assert store.log("c1") == ()


def test_a_field_of_version_0_1_that_is_gone_is_read_and_not_written(
    store: ChatSessionStore,
) -> None:
    older = make_message(
        "q1", references=({"wikilink": "[[A]]", "reference_type": "direct", "above": True},)
    )
    store.start(conversation())
    store.add("c1", older)
    [read] = store.log("c1")
    assert (read.references[0].wikilink, read.status) == ("[[A]]", "complete")
    assert "above" not in str(read.model_dump())
