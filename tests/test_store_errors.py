"""The store and errors: other versions, damage, a full disk, missing permission, killed processes,
two processes at once.
"""

import json
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from factories import NOON, message, store_conversation

from zkchat_cli.errors import StoreError
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.store.sqlite.database import connect
from zkchat_cli.store.sqlite.store_connection import StoreConnection

KILLER = Path(__file__).with_name("writer_killer.py")


def make_store(file: Path, *messages: ZkChatMessage) -> Path:
    with closing(ChatSessionStore.open(file)) as store:
        store_conversation(store, "c1", *messages)
    return file


def refused(file: Path) -> StoreError:
    with pytest.raises(StoreError) as e:
        ChatSessionStore.open(file)
    assert e.value.hint
    return e.value


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def test_a_store_of_a_newer_layout_is_refused_and_untouched(tmp_path: Path) -> None:
    file = make_store(tmp_path / "c.db", message("user", "words", "q1"))
    newer = sqlite3.connect(file)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    before = contents(tmp_path)
    error = refused(file)
    assert (
        "was written by a newer zkchat: it has layout 86, and this zkchat knows layout 2; it was "
        "not changed" in error.message
    )
    assert "Update zkchat" in error.hint
    assert contents(tmp_path) == before


def test_another_programs_file_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "c.db").write_text("# A note, not a database\n" * 100)
    (tmp_path / "other").mkdir()
    with closing(sqlite3.connect(tmp_path / "other" / "c.db")) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    for name, why in (
        ("text", "is damaged or not a zkchat store"),
        ("other", "is a database of another program"),
    ):
        before = contents(tmp_path / name)
        assert why in refused(tmp_path / name / "c.db").message
        assert contents(tmp_path / name) == before
    assert "it may not be written (Is a directory)" in refused(tmp_path).message


def test_a_permanent_lock_is_an_error(tmp_path: Path) -> None:
    file = make_store(tmp_path / "c.db")
    holder = sqlite3.connect(file, isolation_level=None)
    connection = connect(file)
    connection.execute("PRAGMA busy_timeout = 20")
    store = ChatSessionStore(StoreConnection(connection, file))
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="another program keeps it locked"):
        store.add("c1", message("user", "words", "q1"))
    holder.execute("ROLLBACK")
    store.add("c1", message("user", "words", "q1"))
    store.close()
    holder.close()


def test_opening_waits_for_a_locked_store(tmp_path: Path) -> None:
    file = make_store(tmp_path / "c.db")
    holder = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    holder.execute("PRAGMA journal_mode = DELETE")
    holder.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.1, holder.execute, ["ROLLBACK"])
    release.start()
    ChatSessionStore.open(file).close()
    release.join()
    holder.close()


def test_a_killed_process_loses_nothing_it_had_acknowledged(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, KILLER, tmp_path / "c.db", "18"],
        capture_output=True,
        text=True,
        check=True,
    )
    result = json.loads(done.stdout)
    assert result["problems"] == []
    assert result["killed"] == 18
    assert min(result["after a question"], result["after a turn"], result["after a summary"]) > 0, (
        "it was not killed everywhere"
    )


def test_an_unanswered_question_becomes_unfinished_with_the_next_turn(
    store: ChatSessionStore,
) -> None:
    store_conversation(store, "c1", message("user", "words", "q1", status="pending"))
    assert store.history("c1")[0].status == "pending", "another zkchat may be answering it"
    store.add("c1", message("user", "words", "q2", parent_id="q1", status="pending"))
    assert [message.status for message in store.history("c1")] == ["unfinished", "pending"]
    store.commit(
        "c1",
        message("user", "words", "q1", status="complete"),
        [message("user", "words", "a1", parent_id="q1")],
        updated_at=NOON,
    )
    assert [message.status for message in store.log("c1")] == ["complete", "pending", "complete"], (
        "it was only slow"
    )


def test_many_processes_can_create_the_store_at_the_same_moment(tmp_path: Path) -> None:
    script = """if True:
        import sys, time
        from pathlib import Path
        from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

        time.sleep(max(0, float(sys.argv[2]) - time.time()))
        ChatSessionStore.open(Path(sys.argv[1])).close()
    """
    command = [sys.executable, "-c", script, tmp_path / "new" / "c.db", str(time.time() + 0.7)]
    assert [process.wait(60) for process in [subprocess.Popen(command) for _ in range(4)]] == [
        0
    ] * 4
    # Two that close at the same moment leave the log to the next one
    ChatSessionStore.open(tmp_path / "new" / "c.db").close()
    assert list(contents(tmp_path / "new")) == ["c.db"]
