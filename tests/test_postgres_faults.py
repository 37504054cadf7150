"""What a user is told when the server, the network or another client fails, and that nothing waits
for long.
"""

import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest
from conftest import Program
from postgres_server import PostgresServer, unprivileged_user
from test_outbox import store_turn
from test_store_port import conversation, ids, said, store_turns

from zkchat_cli.errors import StoreUnreachable, StoreUnwritable
from zkchat_cli.store.outbox import Outbox
from zkchat_cli.store.outbox_store import OutboxStore
from zkchat_cli.store.postgres.postgres_store import PostgresStore
from zkchat_cli.store.postgres.server_address import ServerAddress, read_address
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore


class Proxy:
    """A network between a client and the server that can be cut, or swallow everything."""

    def __init__(self, server: PostgresServer) -> None:
        self._target = str(server.folder / f".s.PGSQL.{server.port}")
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.is_silent = False
        # Bytes from the client after which it is cut; None: never
        self.cut_after: int | None = None
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listening.getsockname()[1])

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                self._open += [client, server]
                for source, target in ((client, server), (server, client)):
                    arguments = (source, target, source is client)
                    threading.Thread(target=self._copy, args=arguments, daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket, is_client: bool) -> None:
        with suppress(OSError):
            while data := source.recv(4096):
                # Another connection may be cut meanwhile
                cut_after = self.cut_after
                if is_client and cut_after is not None:
                    target.sendall(data[:cut_after])
                    self.cut_after = cut_after - len(data)
                    if cut_after < len(data):
                        self.cut()
                elif not self.is_silent:
                    target.sendall(data)
        source.close()
        target.close()

    def cut(self) -> None:
        """Cut the connections; new ones are possible."""
        self.cut_after = None
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def close(self) -> None:
        self._listening.close()
        self.cut()


@pytest.fixture
def proxy(postgres: PostgresServer) -> Iterator[Proxy]:
    with closing(Proxy(postgres)) as opened:
        yield opened


def through(proxy: Proxy, postgres: PostgresServer, more: str = "") -> ServerAddress:
    url = f"postgresql://tester@127.0.0.1:{proxy.port}/zkchat{more}"
    address = read_address(url, postgres.new_user(), allow_insecure=False)
    return address._replace(retry_after=0.0)


def test_a_connection_that_is_cut_anywhere_in_a_turn_loses_and_doubles_nothing(
    postgres: PostgresServer, proxy: Proxy, tmp_path: Path
) -> None:
    address = through(proxy, postgres)
    outbox = Outbox(tmp_path / "outbox", ChatSessionStore.open)
    store = OutboxStore(lambda: PostgresStore.open(address), outbox, retry_after=0.0)
    with closing(store):
        store.start(conversation())
        last: str | None = None
        for number, sent in enumerate((0, 300, 900, 1500, 2500, 4000, 6000, 9000)):
            proxy.cut_after = sent
            last = store_turn(store, number, last)
        assert store.conversations() and store.waiting_turns == 0
    with closing(PostgresStore.open(address)) as fresh:
        expected = [f"{kind}{number}" for number in range(8) for kind in "qa"]
        assert ids(fresh.log("c1")) == ids(fresh.history("c1")) == expected


def test_a_silent_server_is_given_up_with_a_message(postgres: PostgresServer, proxy: Proxy) -> None:
    address = through(proxy, postgres, "?connect_timeout=2")._replace(answer_timeout=0.5)
    with closing(PostgresStore.open(address)) as store:
        store.start(conversation())
        proxy.is_silent = True
        begin = time.monotonic()
        with pytest.raises(StoreUnreachable, match=r"cannot be reached \(no answer\)"):
            store.update("c1", title="Another title")
        # And one that accepts, and says nothing at all
        with pytest.raises(StoreUnreachable, match="cannot be reached"):
            store.update("c1", title="Another title")
        assert time.monotonic() < begin + 20
        proxy.is_silent = False
        store.update("c1", title="Another title")


def test_a_full_disk_of_the_server_is_named_and_what_was_stored_stays(
    postgres: PostgresServer,
) -> None:
    disk = Path(tempfile.mkdtemp(prefix="zkdisk"))
    disk.chmod(0o755)
    owner = unprivileged_user() or "nobody"
    mounting = ["mount", "-t", "tmpfs", "-o", f"size=24m,uid={owner}", "tmpfs", str(disk)]
    if subprocess.run(mounting, check=False, capture_output=True).returncode:
        pytest.skip("a small disk needs root")
    try:
        place = disk / "data"
        subprocess.run(["mkdir", str(place)], check=True, user=unprivileged_user())
        with postgres.admin("postgres") as db:
            db.execute(f"CREATE TABLESPACE small LOCATION '{place}'")  # type: ignore[arg-type]
        postgres.create("full_disk", tablespace="small")
        with closing(PostgresStore.open(postgres.address(database="full_disk"))) as store:
            store_turns(store)
            with pytest.raises(StoreUnwritable, match="the disk of the server is full") as e:
                for number in range(1000):
                    text = f"{number} " + "incompressible ".join(map(str, range(9000)))
                    store.add("c1", said(f"q{number + 10}", "a2", text=text))
            assert "what was stored before is safe" in e.value.hint
            assert ids(store.log("c1"))[:4] == ["q1", "a1", "q2", "a2"]
        with postgres.admin("postgres") as db:
            db.execute("DROP DATABASE full_disk")
            db.execute("DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
        disk.rmdir()


def test_a_role_without_rights_and_another_layout_are_named_in_the_shell(
    zkchat: Program, postgres: PostgresServer
) -> None:
    postgres.create("guarded")
    zkchat.env["ZKCHAT_STORE__URL"] = postgres.url("alice", "guarded")
    with postgres.admin("guarded") as db:
        db.execute("REVOKE INSERT ON zkchat.message FROM PUBLIC")
    asked = zkchat("ask", "What is a filter?")
    assert asked.exit_status == 0 and "this role may not do that" in asked.err
    assert "Ask the owner of the store for the right" in asked.err
    with postgres.admin("guarded") as db:
        db.execute("INSERT INTO zkchat.layout VALUES (99)")
    refused = zkchat("sessions", "list")
    assert refused.exit_status == 3
    assert "A newer zkchat upgraded the store" in refused.err and "Update zkchat" in refused.err


def test_two_programs_that_set_up_a_store_at_once_create_it_once(
    zkchat: Program, postgres: PostgresServer
) -> None:
    with postgres.admin("postgres") as db:
        db.execute("CREATE DATABASE twice")
    zkchat.env["ZKCHAT_STORE__URL"] = postgres.url("postgres", "twice")
    with ThreadPoolExecutor(2) as pool:
        done = [*pool.map(lambda _: zkchat("store", "init", "--json"), range(2))]
    assert sorted(each.json["created"] for each in done) == [False, True]


def test_a_server_without_a_free_connection_is_named_and_the_turn_is_kept(
    zkchat: Program, postgres: PostgresServer
) -> None:
    with postgres.admin() as db:
        db.execute("ALTER ROLE bob CONNECTION LIMIT 0")
    zkchat.env["ZKCHAT_STORE__URL"] = postgres.url("bob")
    try:
        refused = zkchat("sessions", "list")
        assert refused.exit_status == 3 and "the server has no connection left" in refused.err
        asked = zkchat("ask", "What is a filter?")
        assert asked.exit_status == 0 and "1 turn not on the server yet" in asked.err
    finally:
        with postgres.admin() as db:
            db.execute("ALTER ROLE bob CONNECTION LIMIT -1")
    assert len(zkchat("sessions", "list", "--json").json) == 1


def test_a_lock_of_another_client_is_named_in_the_shell_and_in_the_status(
    zkchat: Program, postgres: PostgresServer
) -> None:
    zkchat.env["ZKCHAT_STORE__URL"] = f"{postgres.url('bob')}&options=-c%20lock_timeout%3D300"
    id_ = zkchat("ask", "What is a filter?", "--json").json["conversation_id"]
    with postgres.admin() as other, other.transaction():
        other.execute("SELECT 1 FROM zkchat.conversation FOR UPDATE")
        refused = zkchat("sessions", "rename", id_, "Filters")
        assert refused.exit_status == 3
        assert "another client of the server keeps it locked" in refused.err
        assert "`zkchat store status` names it" in refused.err
    zkchat.env["ZKCHAT_STORE__URL"] = postgres.url("bob")
    # The lock is given back before the pool waits for the one that waits for it
    with ThreadPoolExecutor(1) as pool, postgres.admin() as other, other.transaction():
        other.execute("SELECT 1 FROM zkchat.conversation FOR UPDATE")
        waiting = pool.submit(zkchat, "sessions", "rename", id_, "Filters")
        text = ""
        while not waiting.done() and "waits for postgres" not in text:
            text = zkchat("store", "status").out
    assert "bob (zkchat) waits for postgres" in text
