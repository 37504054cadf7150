"""What happens to a store in use on a PostgreSQL server: it is upgraded, dumped and restored, and
more programs use it than the server has connections for.
"""

import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest
from conftest import Program
from postgres_server import PostgresServer, programs
from psycopg import sql
from store_contents import contents
from test_store_port import conversation, fill, said

from zkchat_cli.errors import StoreError
from zkchat_cli.store.postgres import messages
from zkchat_cli.store.postgres.migrations import MIGRATIONS, stored_layout, upgrade
from zkchat_cli.store.postgres.postgres_connection import PostgresConnection, PostgresDatabase
from zkchat_cli.store.postgres.postgres_store import PostgresStore

OLDER = MIGRATIONS[:1]
CONVERSATIONS = ("c1", "c2", "c3")


def create_older(server: PostgresServer, database: str) -> None:
    """A store of the first layout, as a program of that time filled it."""
    server.create(database, OLDER)
    query = """
        INSERT INTO conversation (id, vault, created_at, updated_at)
        VALUES (%s, '/notes', '2026-01-05', '2026-01-05')
    """
    with psycopg.connect(server.url(database=database), autocommit=True) as db:
        db.execute("SET search_path = zkchat")
        for id_ in CONVERSATIONS:
            db.execute(query, (id_,))


def upgrade_as_owner(
    server: PostgresServer, database: str, layouts: Sequence[object] = MIGRATIONS
) -> int:
    address = server.address("postgres", database=database)
    options = f"{address.parameters['options']} -c lock_timeout=300ms"
    patient = address._replace(parameters={**address.parameters, "options": options})
    with closing(PostgresConnection(patient)) as connection:
        return upgrade(connection, layouts)  # type: ignore[arg-type]


def test_a_store_is_upgraded_while_others_write_into_it(postgres: PostgresServer) -> None:
    create_older(postgres, "upgraded")
    address = postgres.address(database="upgraded")
    is_upgraded = threading.Event()

    def write(conversation_id: str) -> list[str]:
        written: list[str] = []
        with closing(PostgresConnection(address)) as connection:
            while len(written) < 5 or not is_upgraded.is_set():
                parent = written[-1] if written else None
                message = said(f"{conversation_id}-{len(written)}", parent)
                with connection.writing("store a message") as db:
                    messages.append(db, conversation_id, message)
                written.append(message.id)
        return written

    with ThreadPoolExecutor(len(CONVERSATIONS)) as pool:
        writing = [pool.submit(write, id_) for id_ in CONVERSATIONS]
        assert upgrade_as_owner(postgres, "upgraded") == len(OLDER)
        is_upgraded.set()
        written = [each.result() for each in writing]
    with closing(PostgresStore.open(address)) as store:
        for id_, ids in zip(CONVERSATIONS, written, strict=True):
            assert [each.id for each in store.log(id_)] == ids
            assert [each.id for each in store.history(id_)] == ids
            store.update(id_, documents=["Filters.md"])
            assert store.conversation(id_).documents == ("Filters.md",)


def test_an_upgrade_that_would_wait_for_a_client_says_so_and_changes_nothing(
    postgres: PostgresServer,
) -> None:
    create_older(postgres, "kept_busy")
    with psycopg.connect(postgres.url(database="kept_busy")) as reader:
        reader.execute("SELECT count(*) FROM zkchat.conversation")
        with pytest.raises(StoreError, match="another client of the server keeps it locked") as e:
            upgrade_as_owner(postgres, "kept_busy")
        assert "`zkchat store status` names it" in e.value.hint
    address = postgres.address(database="kept_busy")
    with closing(PostgresConnection(address)) as connection, connection.reading("look") as db:
        assert stored_layout(db) == len(OLDER)
    assert upgrade_as_owner(postgres, "kept_busy") == len(OLDER)


def test_an_upgrade_that_fails_leaves_the_store_as_it_was(postgres: PostgresServer) -> None:
    postgres.create("unharmed")
    address = postgres.address(database="unharmed")

    def fail_in_the_middle(db: PostgresDatabase) -> None:
        db.execute("ALTER TABLE conversation DROP COLUMN documents")
        db.execute("DELETE FROM message")
        db.execute("SELECT 1 / 0")

    with closing(PostgresStore.open(address)) as store:
        fill(store)
        before = contents(store)
        with pytest.raises(StoreError, match="division by zero"):
            upgrade_as_owner(postgres, "unharmed", (*MIGRATIONS, fail_in_the_middle))
        assert contents(store) == before
    PostgresStore.open(address).close()


def test_a_dump_is_restored_on_another_server_with_every_word(
    zkchat: Program, postgres: PostgresServer
) -> None:
    postgres.create("dumped")
    with closing(PostgresStore.open(postgres.address(database="dumped"))) as store:
        fill(store)
        before = contents(store)
    folder = programs()
    assert folder is not None
    connect = ("-h", str(postgres.folder), "-U", "postgres")
    save = [str(folder / "pg_dump"), *connect, "dumped"]
    dump = subprocess.run(save, check=True, capture_output=True)
    with postgres.admin("postgres") as db:
        db.execute("CREATE DATABASE restored")
    load = [str(folder / "psql"), *connect, "-v", "ON_ERROR_STOP=1", "restored"]
    subprocess.run(load, input=dump.stdout, check=True, capture_output=True)
    with closing(PostgresStore.open(postgres.address(database="restored"))) as store:
        assert contents(store) == before
    zkchat.env["ZKCHAT_STORE__URL"] = postgres.url(database="restored")
    assert zkchat("ask", "What is a filter?").exit_status == 0
    verified = zkchat("store", "verify", "--json")
    assert verified.exit_status == 0, verified.err
    assert (
        len(zkchat("sessions", "list", "--json", "--all").json) == len(before["conversations"]) + 1
    )


def test_programs_that_find_no_free_connection_lose_nothing(
    zkchat: Program, postgres: PostgresServer
) -> None:
    postgres.create("crowded")
    zkchat.env["ZKCHAT_STORE__URL"] = postgres.url("alice", "crowded")
    with postgres.admin() as db:
        db.execute("ALTER ROLE alice CONNECTION LIMIT 1")
    try:
        with psycopg.connect(postgres.url("alice", "crowded")), ThreadPoolExecutor(3) as pool:
            asked = [*pool.map(lambda n: zkchat("ask", f"What is filter {n}?"), range(3))]
    finally:
        with postgres.admin() as db:
            db.execute("ALTER ROLE alice CONNECTION LIMIT -1")
    for each in asked:
        assert each.exit_status == 0, each.err
        assert "on the server yet" in each.err
    listed = zkchat("sessions", "list", "--json")
    assert len(listed.json) == len(asked)


def test_who_watches_rehearses_a_turn_that_nobody_sees_and_no_lock_stops(
    postgres: PostgresServer,
) -> None:
    postgres.create("rehearsed", MIGRATIONS)
    address = postgres.address(database="rehearsed")
    with psycopg.connect(postgres.url("postgres", "rehearsed"), autocommit=True) as db:
        db.execute("SET search_path = zkchat")

        def used_numbers() -> int:
            row = db.execute("SELECT pg_sequence_last_value('message_seq_seq')").fetchone()
            return row[0] or 0 if row is not None else 0

        def is_empty() -> bool:
            tables = ("message", "message_index", "piece", "prompt", "vocabulary")
            counts = [f"(SELECT count(*) FROM {table})" for table in tables]
            row = db.execute(sql.SQL(f"SELECT {' + '.join(counts)}")).fetchone()
            return row == (0,)

        with closing(PostgresStore.open(address)) as store, closing(store.watch("c1")) as watch:
            with db.transaction():
                db.execute("LOCK TABLE message")
                watch.wait(0)
            assert used_numbers() == 0
        with closing(PostgresStore.open(address)) as store, closing(store.watch("c1")) as watch:
            watch.wait(0)
            watch.wait(0)
            assert used_numbers() == 2, "one question and one answer were tried, once"
            assert is_empty()
            assert store.conversations() == []
            store.start(conversation("c1"))
            store.add("c1", said("first"))
            assert [each.id for each in store.log("c1")] == ["first"]
