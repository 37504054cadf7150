"""`zkchat store`, and the other commands with conversations on a PostgreSQL server."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from conftest import Program
from postgres_kills import kill_in_turns
from postgres_server import MISSING, PostgresServer, programs
from store_contents import contents
from test_store_port import fill, said

from zkchat_cli.config.loader import load_config
from zkchat_cli.config.store_url import hide_password
from zkchat_cli.errors import ConfigError
from zkchat_cli.fileio import FileLock
from zkchat_cli.paths import app_paths
from zkchat_cli.store.postgres.migrations import MIGRATIONS
from zkchat_cli.store.postgres.postgres_store import PostgresStore
from zkchat_cli.store.postgres.server_address import read_address
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.store.store_copy import copy_conversations, copy_facts


def test_a_conversation_on_the_server_is_asked_continued_listed_and_searched(
    on_server: Program,
) -> None:
    first = on_server("ask", "What is a filter?", "--json").json
    second = on_server("ask", "-c", "And how are filters joined?", "--json").json
    assert second["conversation_id"] == first["conversation_id"]
    [listed] = on_server("sessions", "list", "--json").json
    assert (listed["id"], listed["messages"]) == (first["conversation_id"], 4)
    [found, *_] = on_server("sessions", "search", "joined", "--json").json
    assert found["conversation_id"] == first["conversation_id"]
    shown = on_server("context", "show", "--next", "Thanks", "--json").json
    assert any("What is a filter?" in each["content"] for each in shown["messages"])
    assert not (on_server.home / "data" / "conversations.db").exists()
    status = on_server("store", "status", "--json").json
    assert (status["kind"], status["conversations"], status["server"]["layout"]) == (
        "postgresql",
        1,
        len(MIGRATIONS),
    )
    user = on_server.env["ZKCHAT_STORE__USER"]
    assert (status["server"]["user"], status["server"]["sees_all"]) == (f"tester/{user}", False)


def test_a_conversation_is_shared_and_no_longer_shared(
    zkchat: Program, on_server: Program, postgres: PostgresServer
) -> None:
    id_ = on_server("ask", "What is a filter?", "--json").json["conversation_id"]
    on_server("memory", "add", "the rent is 950 euros", "--key", "rent", "--shared")
    shared = on_server("sessions", "share", id_, "--with", "alice", "--write", "--json").json
    assert shared["shared_with"] == [{"user": "tester/alice", "write": True}]
    [own] = on_server("sessions", "list", "--json").json
    assert own["owner"] is None
    owner = f"tester/{on_server.env['ZKCHAT_STORE__USER']}"
    on_server.env["ZKCHAT_STORE__USER"] = "alice"
    [listed] = on_server("sessions", "list", "--json").json
    assert (listed["id"], listed["owner"]) == (id_, owner)
    assert f"2 messages, shared by {owner}" in on_server("sessions", "list").out
    assert [each["key"] for each in on_server("memory", "list", "--json").json] == ["rent"]
    assert on_server("sessions", "unshare", id_).exit_status == 3
    assert on_server("sessions", "share", id_, "--write").exit_status == 2
    del on_server.env["ZKCHAT_STORE__URL"]
    on_server("ask", "What is a filter?")
    refused = on_server("sessions", "share", id_, "--all")
    assert refused.exit_status == 2 and "store.url" in refused.err


def test_a_store_is_set_up_once_and_says_how_before(
    zkchat: Program, postgres: PostgresServer
) -> None:
    with postgres.admin("postgres") as db:
        db.execute("CREATE DATABASE fresh")
    zkchat.env["ZKCHAT_STORE__URL"] = postgres.url("postgres", "fresh")
    refused = zkchat("sessions", "list")
    assert refused.exit_status == 3 and "zkchat store init" in refused.err
    assert zkchat("store", "init", "--json").json["created"] is True
    assert zkchat("store", "init", "--json").json["created"] is False
    assert zkchat("sessions", "list").exit_status == 0
    assert "sees the rows of all users" in zkchat("store", "status").out


def test_a_whole_store_is_copied_both_ways_and_a_second_time(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    address = postgres.address(user=postgres.new_user())
    with (
        closing(ChatSessionStore.open(None)) as file,
        closing(PostgresStore.open(address)) as server,
        closing(ChatSessionStore.open(tmp_path / "back.db")) as back,
    ):
        fill(file)
        # Stopped after the first conversation, then run again
        next(copy_conversations(file, server))
        for source, target in ((file, server), (server, back)):
            assert not [each for each in copy_conversations(source, target) if each.differences]
            copy_facts(source, target)
        wanted = contents(file, "none")
        assert contents(back, "none") == wanted
        # What changes without a new message
        file.mark("c1", [said("q1", pinned=True)])
        file.update("c1", title="Renamed")
        file.undo_compaction("c1")
        assert [(each.added, each.differences) for each in copy_conversations(file, server)] == [
            (0, ())
        ]
        assert server.conversation("c1").title == "Renamed"
        assert copy_facts(file, server) == 0


def test_copy_and_verify_report_what_is_different(on_server: Program, tmp_path: Path) -> None:
    with closing(ChatSessionStore.open(tmp_path / "old.db")) as file:
        fill(file)
    old = str(tmp_path / "old.db")
    url = on_server.env["ZKCHAT_STORE__URL"]
    missing = on_server("store", "verify", "--from", old, "--json")
    assert (missing.exit_status, missing.json["equal"]) == (1, False)
    done = on_server("store", "copy", "--from", old, "--to", url, "--json").json
    assert (done["conversations"], done["added"], done["facts_added"], done["equal"]) == (
        1,
        4,
        1,
        True,
    )
    assert on_server("store", "copy", "--from", old, "--to", url, "--json").json["added"] == 0
    for more in ((), ("--from", old)):
        assert on_server("store", "verify", *more).exit_status == 0


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:se?cr@et@host/db", "postgresql://me:***@host/db"),
        ("postgres://me:secret@h1:1,h2:2/db?x=1", "postgres://me:***@h1:1,h2:2/db?x=1"),
        ("postgresql://me:sec/ret@host/db", "postgresql://me:***@host/db"),
        (
            "postgresql://host/db?password=secret&sslpassword=secret",
            "postgresql://host/db?password=***&sslpassword=***",
        ),
        ("postgresql://me@host:5432/db", "postgresql://me@host:5432/db"),
    ],
)
def test_a_password_is_hidden_in_any_address(url: str, shown: str) -> None:
    assert hide_password(f"at {url} ") == f"at {shown} "


def test_a_password_is_shown_nowhere(zkchat: Program, postgres: PostgresServer) -> None:
    secret = "S3cr;tword"
    host = postgres.url().partition("?")[2]
    file = zkchat.home / "config" / "config.toml"
    file.parent.mkdir(parents=True)
    for url in (
        f"postgresql://nobody:{secret}@/zkchat?{host}",
        f"postgresql://nobody:{secret}@/zkchat?{host}&nonsense=1",
        f"postgresql://nobody:{secret}@127.0.0.1:1/zkchat",
        f"postgresql://nobody:{secret}@example.org/zkchat?sslmode=disable",
        f"mysql://nobody:{secret}@/zkchat",
    ):
        file.write_text(f"[store]\nurl = {json.dumps(url)}\n")
        for words in (
            ("config", "show"),
            ("config", "get", "store.url", "--json"),
            ("store", "status", "--verbose"),
        ):
            done = zkchat(*words)
            assert secret not in done.out + done.err, (url, words)
    texts = [each.read_text("utf-8", "replace") for each in zkchat.home.rglob("*.log")]
    assert not any(secret in text for text in texts)


@pytest.mark.parametrize(
    ("url", "mode"),
    [
        ("postgresql://db.example.org/zkchat", "require"),
        ("postgresql:///zkchat?hostaddr=10.0.0.7", "require"),
        ("postgresql://localhost,db.example.org/zkchat", "require"),
        ("postgresql:///zkchat?service=team", "require"),
        ("postgresql://db.example.org/zkchat?sslmode=verify-full", "verify-full"),
        ("postgresql://db.example.org/zkchat?sslmode=prefer", None),
        ("postgresql://db.example.org/zkchat?sslmode=disable", None),
        ("postgresql://localhost/zkchat", ""),
        ("postgresql://127.0.0.3,[::1]/zkchat", ""),
        ("postgresql:///zkchat?host=/run/postgresql", ""),
    ],
)
def test_another_machine_is_reached_with_tls_only(url: str, mode: str | None) -> None:
    if mode is None:
        with pytest.raises(ConfigError, match="unencrypted"):
            read_address(url, "", allow_insecure=False)
        assert read_address(url, "", allow_insecure=True).parameters["sslmode"]
    else:
        address = read_address(url, "", allow_insecure=False)
        assert address.parameters.get("sslmode", "") == mode


def test_a_vault_names_no_server(zkchat: Program) -> None:
    (zkchat.vault / ".zkchat.toml").write_text('[store]\nurl = "postgresql://elsewhere/x"\n')
    refused = zkchat("sessions", "list")
    assert refused.exit_status == 2 and "cannot set store.url" in refused.err


def test_without_the_package_the_setting_says_how_to_install_it(zkchat: Program) -> None:
    without = "import sys; sys.modules['psycopg'] = None; from zkchat_cli.cli.app import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", without, "sessions", "list"],
        env=zkchat.environment | {"ZKCHAT_STORE__URL": "postgresql://localhost/x"},
        cwd=zkchat.vault,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "pip install 'zkchat[postgres]'" in done.stderr


def test_the_settings_of_a_server_are_read_from_the_environment(tmp_path: Path) -> None:
    env = {"ZKCHAT_HOME": str(tmp_path), "ZKCHAT_STORE__URL": "postgresql:///x"}
    assert load_config({}, env, app_paths(env)).values.store.url == "postgresql:///x"


def test_a_vault_with_a_name_is_the_same_in_another_folder(
    on_server: Program, tmp_path: Path
) -> None:
    id_ = on_server("ask", "What is a filter?", "--json").json["conversation_id"]
    on_server("memory", "add", "the rent is 950 euros", "--key", "rent")
    copy = shutil.copytree(on_server.vault, tmp_path / "elsewhere")
    assert on_server("sessions", "list", "--vault", copy, "--json").json == []
    for folder in (on_server.vault, copy):
        (folder / ".zkchat.toml").write_text('[vault]\nid = "team-notes"\n')
    # Here what was stored under the path gets the name
    assert [each["id"] for each in on_server("sessions", "list", "--json").json] == [id_]
    [there] = on_server("sessions", "list", "--vault", copy, "--json").json
    assert (there["id"], there["vault"]) == (id_, str(copy))
    [fact] = on_server("memory", "list", "--vault", copy, "--json").json
    assert fact["key"] == "rent"
    assert on_server("ask", "-c", "And joined?", "--vault", copy, "--json").exit_status == 0
    assert on_server("store", "verify").exit_status == 0
    mapped = tmp_path / "mapped"
    mapped.mkdir()
    (mapped / "Note.md").write_text("A note")
    on_server.env["ZKCHAT_VAULT__IDS"] = f"team-notes={mapped}"
    [listed] = on_server("sessions", "list", "--vault", mapped, "--json").json
    assert listed["messages"] == 4


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """A server that may be killed."""
    if programs() is None:
        pytest.skip(MISSING)
    server = PostgresServer(settings=())
    yield server
    server.remove()


def test_asking_goes_on_while_the_server_is_killed_and_is_delivered_later(
    zkchat: Program, own_server: PostgresServer
) -> None:
    zkchat.env["ZKCHAT_STORE__URL"] = own_server.url()
    first = zkchat("ask", "What is a filter?", "--json").json["conversation_id"]
    own_server.stop()
    asked = zkchat("ask", "How are filters joined?", "--json")
    second = asked.json["conversation_id"]
    assert asked.exit_status == 0 and "1 turn not on the server yet" in asked.err
    assert zkchat("ask", "-c", "And brackets?", "--json").json["conversation_id"] == second
    listed = zkchat("sessions", "list", "--json")
    assert "cannot be reached" in listed.err and [each["id"] for each in listed.json] == [second]
    assert "2 turns not on the server yet" in zkchat("store", "status").out
    [kept] = zkchat.home.rglob("outbox-1.db")
    lock = FileLock.take(kept.with_suffix(".lock"))
    assert lock is not None, "as a chat that goes on has it"
    assert "No conversations are kept here." in zkchat("sessions", "list").err
    assert "No conversations are kept here." in zkchat("chat", stdin="/sessions\n").out
    assert "no conversations kept on this machine" in zkchat("store", "status").out
    lock.release()
    refused = zkchat("ask", "--cid", first, "And here?")
    assert refused.exit_status == 3 and "cannot be reached" in refused.err
    own_server.start()
    listed = zkchat("sessions", "list", "--json")
    assert {each["id"]: each["messages"] for each in listed.json} == {first: 2, second: 4}
    assert not listed.err
    assert zkchat("store", "status", "--json").json["waiting_turns"] == 0


def test_a_server_that_is_killed_in_turns_loses_none_and_stores_none_twice(
    own_server: PostgresServer, tmp_path: Path
) -> None:
    # tests/postgres_kills.py tries more of them
    assert kill_in_turns(own_server, tmp_path, kills=2, seed=2) == []
