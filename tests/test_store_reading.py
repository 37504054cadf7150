"""A store that may not be written, as on a disk that is read-only: what only reads works, what writes says why not."""

import itertools
import random
import shutil
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from building import a_room, completed, said
from test_store_faults import python, said_by

from zkchat_cli import slash
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.store.database import connect
from zkchat_cli.store.migrations import SCRIPTS
from zkchat_cli.store.wal_reader import written_back

READING = """
    import os, sys
    from pathlib import Path
    from zkchat_cli.errors import StoreUnwritable
    from zkchat_cli.store.chat_session_store import ChatSessionStore

    folders = [*map(Path, sys.argv[1:])]
    for folder in folders:
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)
    if os.geteuid() == 0:
        os.setuid(65534)
    for folder in folders:
        store = ChatSessionStore.open_to_read(folder / "c.db")
        [talk] = store.conversations()
        [said] = store.history(talk.id)
        [found] = store.search(None, "roof")
        print(said.content, found.message.id, store.lasting, store.beside().conversation(talk.id).id, sep=", ")
        for write in (lambda: store.rename(talk.id, "x"), lambda: store.delete(talk.id), lambda: store.forget("/v", "k")):
            try:
                write()
            except StoreUnwritable as e:
                print(e.message.rpartition("/")[2].partition(" (")[0])
"""
VERSIONS = (len(SCRIPTS), 5)
FILES = {"written back": [""], "a log that waits": ["", "-wal"], "in use": ["", "-wal", "-shm"]}


def left_by(file: Path, version: int, suffixes: list[str], place: Path) -> Path:
    """The files of a store in which one thing was said, as its process has them while it runs."""
    connection = connect(file, SCRIPTS[:version])
    columns = "(id, conversation_id, role, content, status, timestamp, rest)"
    connection.execute("INSERT INTO conversation (id, vault, created_at, updated_at) VALUES ('c1', '/v', '', '')")
    connection.execute(f"INSERT INTO message {columns} VALUES ('m1', 'c1', 'user', 'the roof leaks', 'complete', '', '{{}}')")
    connection.execute("UPDATE conversation SET head_id = 'm1'")
    if suffixes == [""]:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    place.mkdir(mode=0o755)
    for suffix in suffixes:
        shutil.copyfile(f"{file}{suffix}", place / f"c.db{suffix}")
    connection.close()
    return place


def test_a_store_that_may_not_be_written_can_be_read() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        kinds = enumerate(itertools.product(VERSIONS, FILES.values()))
        places = [left_by(Path(folder, f"made{n}", "c.db"), *kind, Path(folder, str(n))) for n, kind in kinds]
        before = [{file.name for file in place.iterdir()} for place in places]

        told = said_by(python(READING, *places)).splitlines()

        refused = [f"c.db cannot {what}: it may not be written" for what in ("rename a conversation", "delete a conversation", "forget")]
        assert told == ["the roof leaks, m1, False, c1", *refused] * 6
        assert [{file.name for file in place.iterdir()} for place in places] == before


def told_by(connection: sqlite3.Connection) -> object:
    try:
        return connection.execute("SELECT * FROM t").fetchall()
    except sqlite3.DatabaseError as e:  # a log that is torn may have been written back in part
        return str(e)


def test_a_log_is_read_as_sqlite_reads_it(tmp_path: Path) -> None:
    chance = random.Random(3)
    file, log = tmp_path / "c.db", tmp_path / "c.db-wal"
    writer = sqlite3.connect(file, isolation_level=None)
    writer.executescript("PRAGMA page_size = 512; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 20; CREATE TABLE t (x);")
    writer.execute("PRAGMA wal_checkpoint")
    seen = []
    for _ in range(60):
        if chance.random() < 0.2:
            writer.execute("DELETE FROM t WHERE rowid % 2")
            writer.execute("VACUUM")
        writer.executemany("INSERT INTO t VALUES (?)", [(chance.randbytes(300),) for _ in range(chance.randrange(1, 8))])
        whole = log.read_bytes()
        for read in (whole, whole[: len(whole) - 9], whole[:-300] + bytes(300), whole[:20]):
            (tmp_path / "d.db").write_bytes(file.read_bytes())
            (tmp_path / "d.db-wal").write_bytes(read)
            with closing(sqlite3.connect(tmp_path / "d.db")) as reader:
                expected = told_by(reader)
            with closing(sqlite3.connect(":memory:")) as copy:
                image = written_back(file.read_bytes(), read)
                image[18:20] = b"\1\1"
                copy.deserialize(image)
                seen.append(told_by(copy) == expected)
    assert all(seen) and len(seen) == 240
    writer.close()


def test_a_new_conversation_says_whether_the_last_one_is_stored(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "Roof.md").write_text("The roof leaks.")
    for name, told in ((None, "until you leave: this chat is not stored."), ("s.db", "is stored as")):
        room = a_room(tmp_path / "notes", tmp_path / "cache")
        session = replace(room, store=ChatSessionStore.open(name and tmp_path / name)).session()
        completed(session.send("What are filters?"))
        assert told in slash.run("/new", session).text


def test_what_was_said_before_the_disk_was_full_is_found_while_it_is(tmp_path: Path) -> None:
    left_by(tmp_path / "made" / "c.db", len(SCRIPTS), [""], tmp_path / "read")
    connection = connect(tmp_path / "read" / "c.db")
    store = ChatSessionStore(connection, tmp_path / "read" / "c.db")
    store.add("c1", said("user", " ".join(map(str, range(20_000))), "m2"))
    connection.execute("PRAGMA max_page_count = 1")  # it grows no more

    assert [*store.indexing()] == []
    assert [found.message.id for found in store.search(None, "roof")] == ["m1"]
