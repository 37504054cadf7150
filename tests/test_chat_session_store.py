"""What the store in SQLite says and does beyond the contract in test_store_port.py."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from factories import NOON, message

from zkchat_cli.errors import StoreError
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


def test_an_empty_store_says_how_to_start(store: ChatSessionStore) -> None:
    with pytest.raises(StoreError, match="there is no conversation with /notes yet") as e:
        store.find(None, "/notes")
    assert "zkchat ask" in e.value.hint


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
