"""What the store on PostgreSQL does beyond the contract of all stores, test_store_port.py."""

import random
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from factories import make_compaction, message, store_conversation
from postgres_server import PostgresServer
from store_contents import contents
from test_store_port import conversation, fill, said, store_turns

from zkchat_cli.errors import StoreError, StoreUnreachable, StoreUnwritable
from zkchat_cli.store.postgres import migrations as postgres_migrations
from zkchat_cli.store.postgres.postgres_connection import MOST_CONNECTIONS, PostgresConnection
from zkchat_cli.store.postgres.postgres_store import PostgresStore
from zkchat_cli.store.sqlite import migrations as sqlite_migrations
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore


@pytest.fixture
def store(postgres: PostgresServer) -> Iterator[PostgresStore]:
    with closing(PostgresStore.open(postgres.address(user=postgres.new_user()))) as opened:
        yield opened


def test_both_stores_have_the_same_layouts() -> None:
    names = [each.__name__ for each in sqlite_migrations.MIGRATIONS]
    assert [each.__name__ for each in postgres_migrations.MIGRATIONS] == names


def test_an_empty_an_older_and_a_newer_store_are_refused_and_only_init_upgrades(
    postgres: PostgresServer,
) -> None:
    with postgres.admin("postgres") as db:
        db.execute("CREATE DATABASE layouts")
    connection = PostgresConnection(postgres.address("postgres", database="layouts"))

    def add_table(db: object) -> None:
        db.execute("CREATE TABLE added (number integer)")  # type: ignore[attr-defined]

    first = postgres_migrations.MIGRATIONS
    with closing(connection):
        with pytest.raises(StoreUnwritable, match="is empty") as e:
            postgres_migrations.require_layout(connection)
        assert "zkchat store init" in e.value.hint
        assert postgres_migrations.upgrade(connection) == 0
        assert postgres_migrations.upgrade(connection) == len(first)
        with pytest.raises(StoreError, match=r"has layout \d+, and this zkchat needs layout \d+"):
            postgres_migrations.require_layout(connection, (*first, add_table))
        assert postgres_migrations.upgrade(connection, (*first, add_table)) == len(first)
        for refuse in (postgres_migrations.require_layout, postgres_migrations.upgrade):
            with pytest.raises(StoreError, match="A newer zkchat upgraded the store"):
                refuse(connection)


def test_a_schema_of_another_program_is_not_touched(postgres: PostgresServer) -> None:
    with postgres.admin("postgres") as db:
        db.execute("CREATE DATABASE foreigner")
    with postgres.admin("foreigner") as db:
        db.execute("CREATE SCHEMA zkchat CREATE TABLE zkchat.tent (pole text)")
    address = postgres.address("postgres", database="foreigner")
    with closing(PostgresConnection(address)) as connection:
        for refuse in (postgres_migrations.require_layout, postgres_migrations.upgrade):
            with pytest.raises(StoreError, match="a schema zkchat of another program"):
                refuse(connection)


def test_any_text_is_stored_as_in_sqlite(store: PostgresStore) -> None:
    texts = ("a\0b \ud800 c", "%s %(x)s '\"\\ ' E'", "\ue000\uffff \x01", "x" * 3000, "日本 été")
    turns = [said(f"q{n}", f"q{n - 1}" if n else None, text=text) for n, text in enumerate(texts)]
    with closing(ChatSessionStore.open(None)) as other:
        for each in (store, other):
            store_conversation(each, "c1", *turns)  # type: ignore[arg-type]
            each.update("c1", title="%s '\"\\")
            assert each.search(None, "日本 été x")
        [here, there] = [contents(each)["conversations"][0] for each in (store, other)]
        # SQLite's text functions end at a NUL
        assert here["overview"].pop("first_line") == "a\ufffdb \ufffd c"
        there["overview"].pop("first_line")
        assert here == there


def test_a_copy_through_archives_is_the_same_both_ways(store: PostgresStore) -> None:
    fill(store)
    with closing(ChatSessionStore.open(None)) as other:
        other.restore([store.archive("c1", prompts=True)])
        assert other.archive("c1", prompts=True) == store.archive("c1", prompts=True)


WORDS = (
    "roof roofs roofing rain water study studies studied Dach Dächer C++ v1.2 图书 图书馆 a".split()
)


@pytest.mark.parametrize("seed", range(2))
def test_a_search_finds_what_sqlite_finds_with_the_same_scores(
    store: PostgresStore, seed: int
) -> None:
    choose = random.Random(seed)
    with closing(ChatSessionStore.open(None)) as other:
        for number in range(3):
            id_ = f"c{number}"
            for each in (store, other):
                each.start(conversation(id_, vault=f"/notes{number % 2}"))
            for turn in range(8):
                text = " ".join(choose.choices(WORDS, k=choose.randint(1, 30)))
                role = choose.choice(("user", "assistant", "tool"))
                for each in (store, other):
                    each.add(id_, message(role, text, f"m{number}-{turn}"))
        for _ in range(15):
            query = " ".join(choose.choices(WORDS, k=choose.randint(1, 4)))
            more = {
                "vault": choose.choice((None, "/notes0", "/notes1")),
                "conversation_id": choose.choice((None, None, "c1")),
                "tool_results": choose.choice((True, False)),
                "languages": choose.choice((("english",), ("german", "english"))),
                "limit": 100,
            }
            found = [
                {each.message.id: round(each.score, 9) for each in one.search(text=query, **more)}
                for one in (store, other)
            ]
            assert found[0] == found[1], (query, more)


def test_a_deleted_conversation_leaves_no_word_in_the_tables(
    postgres: PostgresServer, store: PostgresStore
) -> None:
    store.start(conversation())
    store.add("c1", said("q1", text="Xylophone lessons"))
    store.start(conversation("c2"))
    store.add("c2", said("q2", text="lessons"))
    store.delete("c1")
    with postgres.admin() as db:
        for table in ("message", "message_index", "conversation", "vocabulary"):
            query = f"SELECT count(*) FROM zkchat.{table} AS t WHERE t::text ILIKE '%xylophone%'"
            assert db.execute(query).fetchone() == (0,), table  # type: ignore[arg-type]
    assert [each.message.id for each in store.search(None, "lessons")] == ["q2"]


def test_two_writers_make_two_branches_and_the_later_one_sees_the_other_head(
    store: PostgresStore,
) -> None:
    store_turns(store)
    with closing(store.reopen()) as other:
        assert store.add("c1", said("q3", "a2")) == "a2"
        assert other.add("c1", said("q4", "a2")) == "q3", "this one is told"
        assert store.conversation("c1").head_id == "q4"
        assert [each.id for each in store.log("c1")][-2:] == ["q3", "q4"]


def test_a_change_of_another_client_arrives_without_a_query(store: PostgresStore) -> None:
    store.start(conversation())
    before = store.changes()
    told: list[str] = []
    store.connection.listen(told.append)
    with closing(store.reopen()) as other:
        other.update("c1", title="Another title")
        deadline = 1_000_000
        while store.changes().others == before.others and deadline:
            deadline -= 1
    assert store.changes().others != before.others
    assert told


def test_a_lock_of_another_client_is_an_error_and_not_a_long_wait(
    postgres: PostgresServer,
) -> None:
    address = postgres.address(user=postgres.new_user())
    impatient = {**address.parameters}
    impatient["options"] = str(impatient["options"]).replace("lock_timeout=5s", "lock_timeout=50")
    with closing(PostgresStore.open(address._replace(parameters=impatient))) as store:
        store_turns(store)
        with postgres.admin() as other, other.transaction():
            other.execute("SELECT 1 FROM zkchat.conversation FOR UPDATE")
            with pytest.raises(StoreError, match="another client of the server keeps it locked"):
                store.add("c1", said("q3", "a2"))
        assert store.add("c1", said("q3", "a2")) == "a2"


def test_a_broken_connection_is_made_anew(postgres: PostgresServer, store: PostgresStore) -> None:
    store_turns(store)
    with postgres.admin() as db:
        db.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tester'"
        )
    try:
        store.add("c1", said("q3", "a2"))
    except StoreUnreachable:
        # The server had not closed it yet
        store.add("c1", said("q3", "a2"))
    assert store.conversation("c1").head_id == "q3"


def test_connections_that_are_used_up_are_an_error(postgres: PostgresServer) -> None:
    address = postgres.address(user=postgres.new_user())
    quick = address._replace(parameters={**address.parameters, "application_name": "many"})
    opened = [PostgresStore.open(quick) for _ in range(MOST_CONNECTIONS)]
    pool = opened[0].connection._pool
    with pytest.raises(psycopg.OperationalError):
        pool.getconn(0.01)
    for each in opened:
        each.close()


def test_a_role_without_rights_is_told_so(postgres: PostgresServer) -> None:
    postgres.create("private")
    with postgres.admin("private") as db:
        db.execute("REVOKE USAGE ON SCHEMA zkchat FROM PUBLIC")
    with pytest.raises(StoreUnwritable, match="this role may not do that"):
        PostgresStore.open(postgres.address("alice", database="private"))


def test_a_compaction_is_undone_to_the_byte(store: PostgresStore) -> None:
    store_turns(store)
    before = store.archive("c1")
    store.compact("c1", make_compaction("So far", "a1", id="s1"))
    assert store.archive("c1") != before
    store.undo_compaction("c1")
    assert store.archive("c1") == before
