"""A chat whose server goes away: nothing is lost, and everything gets there in order."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic

import pytest
from factories import make_compaction
from store_contents import contents
from test_store_port import ONE, conversation, fact, ids, said, sent_prompt

from zkchat_cli.errors import StoreError, StoreUnreachable
from zkchat_cli.store.outbox import Outbox
from zkchat_cli.store.outbox_store import OutboxStore
from zkchat_cli.store.port import ConversationLog, SessionStore
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

AWAY = StoreUnreachable("the server is away", "Wait.")


class Server(ChatSessionStore):
    """A store that goes away, in the middle of a call if that is wanted."""

    is_away = False
    # Names of methods that do their work and never answer
    silent: frozenset[str] = frozenset()

    def __getattribute__(self, name: str) -> object:
        found = object.__getattribute__(self, name)
        if name.startswith("_") or name not in CALLS:
            return found
        if self.is_away:
            raise AWAY
        if name in self.silent:

            def act(*arguments: object, **more: object) -> None:
                found(*arguments, **more)
                self.is_away = True
                raise AWAY

            return act
        return found


CALLS = {*vars(SessionStore), *vars(ConversationLog), "facts", "prompts", "vectors"}
CALLS -= {"close", "reopen"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with closing(Server.open(tmp_path / "server.db")) as opened:
        assert isinstance(opened, Server)
        yield opened


@pytest.fixture
def connect(server: Server) -> Callable[[], SessionStore]:
    def open_again() -> SessionStore:
        if server.is_away:
            raise AWAY
        return server

    return open_again


def open_store(connect: Callable[[], SessionStore], folder: Path) -> OutboxStore:
    outbox = Outbox(folder / "outbox", ChatSessionStore.open)
    return OutboxStore(connect, outbox, retry_after=0.0)


def store_turn(store: SessionStore, number: int, after: str | None, id_: str = "c1") -> str:
    """A whole turn; returns its answer."""
    question = said(f"q{number}", after)
    store.add(id_, question.model_copy(update={"status": "pending"}))
    answer = said(f"a{number}", question.id)
    sent = [sent_prompt(question.id, question)]
    store.commit(id_, question, [answer], updated_at=ONE, title="Talk", sent=sent)
    return answer.id


@pytest.mark.parametrize("silent", ["", "start", "add", "commit"])
def test_turns_without_a_server_are_kept_counted_and_delivered_once(
    server: Server, connect: Callable[[], SessionStore], tmp_path: Path, silent: str
) -> None:
    store = open_store(connect, tmp_path)
    store.start(conversation())
    first = store_turn(store, 1, None)
    assert store.log("c1") == server.log("c1")
    # The server goes away before a call, or when it has done its work
    server.is_away = not silent
    server.silent = frozenset({silent})
    second = store_turn(store, 2, first)
    if silent != "start":
        server.is_away = True
        assert store.waiting_turns == 1
        third = store_turn(store, 3, second)
        assert store.waiting_turns == 2 and store.away is not None
        store.compact("c1", make_compaction("So far", third, id="s1"))
        assert [each.id for each in store.conversations("/notes")] == ["c1"]
        assert [each.message.id for each in store.search(None, "q3")] == ["q3"]
        store.facts.remember("/notes", fact("roofer", "Miller"))
        with pytest.raises(StoreUnreachable):
            store.delete("c1")
    server.is_away = False
    server.silent = frozenset()
    assert store.conversation("c1").title == "Talk"
    assert store.waiting_turns == 0 and store.away is None
    if silent != "start":
        assert ids(server.history("c1")) == ["q1", "a1", "q2", "a2", "q3", "a3"]
        assert {each.status for each in server.log("c1")} == {"complete"}
        assert len(server.prompts.sent_for("q3")) == 1
        assert [each.id for each in server.compactions("c1")] == ["s1"]
        assert [each.content for each in server.facts.current("/notes")] == ["Miller"]
        # And away again: what came in between is known
        server.is_away = True
        store_turn(store, 4, "a3")
        server.is_away = False
        assert ids(store.history("c1"))[-2:] == ["q4", "a4"]
    assert not [*(tmp_path / "outbox").glob("*.db*")]
    store.close()


def test_a_chat_that_began_without_a_server_is_delivered_by_another_program(
    server: Server, connect: Callable[[], SessionStore], tmp_path: Path
) -> None:
    server.is_away = True
    store = open_store(connect, tmp_path)
    store.start(conversation())
    store_turn(store, 1, None)
    expected = contents(store)
    with pytest.raises(StoreError) as e:
        store.find("gone", None)
    assert e.value is AWAY
    # The program is killed: nothing is closed but its lock
    store._outbox._lock.release()  # type: ignore[union-attr]
    server.is_away = False
    with closing(open_store(connect, tmp_path)) as other:
        assert contents(other) == expected == contents(server)


def test_programs_at_the_same_time_have_outboxes_of_their_own(
    server: Server, connect: Callable[[], SessionStore], tmp_path: Path
) -> None:
    server.is_away = True
    stores = [open_store(connect, tmp_path) for _ in range(2)]
    for number, store in enumerate(stores):
        store.start(conversation(f"c{number}"))
        store_turn(store, number, None, f"c{number}")
    assert [store.waiting_turns for store in stores] == [1, 1]
    server.is_away = False
    for store in stores:
        store.conversations()
    assert {each.id for each in server.conversations()} == {"c0", "c1"}


def test_a_kill_between_delivery_and_deletion_delivers_nothing_twice(
    server: Server, connect: Callable[[], SessionStore], tmp_path: Path
) -> None:
    store = open_store(connect, tmp_path)
    store.start(conversation())
    first = store_turn(store, 1, None)
    store.log("c1")
    server.is_away = True
    store_turn(store, 2, first)
    server.is_away = False
    server.silent = frozenset({"restore"})
    assert store.waiting_turns == 1
    assert ids(store.history("c1")) == ["q1", "a1", "q2", "a2"], "read here"
    server.silent = frozenset()
    server.is_away = False
    assert store.conversations() and store.waiting_turns == 0
    assert ids(server.log("c1")) == ["q1", "a1", "q2", "a2"]
    store.close()


def test_a_conversation_that_was_continued_elsewhere_gets_a_branch(
    server: Server, connect: Callable[[], SessionStore], tmp_path: Path
) -> None:
    store = open_store(connect, tmp_path)
    store.start(conversation())
    first = store_turn(store, 1, None)
    server.is_away = True
    store_turn(store, 2, first)
    server.is_away = False
    store_turn(server, 3, first)
    assert store.conversation("c1").head_id == "a3", "the other one goes on"
    parents = {each.id: each.parent_id for each in server.log("c1")}
    assert (parents["q2"], parents["q3"]) == (first, first)
    store.close()


def test_what_the_server_refuses_stays_and_is_named(
    server: Server, connect: Callable[[], SessionStore], tmp_path: Path
) -> None:
    server.is_away = True
    store = open_store(connect, tmp_path)
    store.start(conversation())
    store_turn(store, 1, None)
    server.is_away = False
    server.start(conversation(vault="/elsewhere"))
    store.conversations()
    assert store.waiting_turns == 1
    assert store.refusal is not None and "other notes" in store.refusal.message
    assert "zkchat sessions delete c1" in store.refusal.hint
    store.delete("c1")
    assert (store.waiting_turns, store.refusal) == (0, None)
    assert server.conversation("c1").vault == "/elsewhere", "that of the server stays"
    store.close()


def test_changes_without_a_server_are_kept_in_order_also_after_a_kill(
    server: Server, connect: Callable[[], SessionStore], tmp_path: Path
) -> None:
    store = open_store(connect, tmp_path)
    store.start(conversation())
    first = store_turn(store, 1, None)
    second = store_turn(store, 2, first)
    store.compact("c1", make_compaction("So far", second, id="s1"))
    [q1, *_] = store.log("c1")
    store.compactions("c1")
    server.is_away = True
    store.update("c1", title="Another title")
    store.update("c1", title="The last title")
    store.mark("c1", [q1.model_copy(update={"pinned": True})])
    undone = store.undo_compaction("c1")
    assert undone is not None and undone.id == "s1"
    store.move_head("c1", first)
    assert store.log("c1")[0].pinned and store.compactions("c1") == ()
    title = store.conversation("c1").title
    store._outbox._lock.release()  # type: ignore[union-attr]
    server.is_away = False
    other = open_store(connect, tmp_path)
    assert [each.title for each in other.conversations()] == ["The last title"]
    [pinned, *_] = server.log("c1")
    assert pinned.pinned and server.compactions("c1") == ()
    assert server.conversation("c1").title == title == "The last title"
    assert server.conversation("c1").head_id == first
    other.close()


@pytest.mark.parametrize(
    "act",
    [
        lambda store: store.delete("c1"),
        lambda store: store.restore([]),
        lambda store: store.sharing,
    ],
)
def test_what_needs_the_server_is_refused_at_once(
    server: Server,
    connect: Callable[[], SessionStore],
    tmp_path: Path,
    act: Callable[[SessionStore], object],
) -> None:
    store = open_store(connect, tmp_path)
    store.start(conversation())
    server.is_away = True
    with pytest.raises(StoreUnreachable, match="needs the server: the server is away") as e:
        act(store)
    assert "Nothing was changed" in e.value.hint
    store.close()


def test_a_server_is_tried_again_also_by_who_asks_often(
    server: Server, connect: Callable[[], SessionStore], tmp_path: Path
) -> None:
    tries = 0

    def count_and_connect() -> SessionStore:
        nonlocal tries
        tries += 1
        return connect()

    outbox = Outbox(tmp_path / "outbox", ChatSessionStore.open)
    server.is_away = True
    store = OutboxStore(count_and_connect, outbox, retry_after=0.05)
    deadline = monotonic() + 20
    while tries < 3 and monotonic() < deadline:
        store.conversations()
    assert tries == 3
    store.close()
